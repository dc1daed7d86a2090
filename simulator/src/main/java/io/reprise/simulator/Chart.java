// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Lines over one axis, as SVG. Our own line is drawn last and strongest. Not thread-safe. */
final class Chart {

    private static final int LEFT = 80;
    private static final int TOP = 44;
    private static final int WIDTH = 560;
    private static final int HEIGHT = 320;
    private static final int LEGEND = 200;
    private static final String OURS = "#1f6feb";
    private static final String[] COLOURS = {
        "#c69026", "#a371f7", "#2da44e", "#cf222e", "#8b949e", "#bf3989", "#0a7e8c", "#57606a", "#953800", "#6e7781",
        "#116329", "#8250df", "#a40e26"
    };

    private record Point(double x, double y) {}

    private final String title;
    private final String across;
    private final String up;
    private final Map<String, List<Point>> lines = new LinkedHashMap<>();
    private boolean logarithmic;

    Chart(String title, String across, String up) {
        this.title = title;
        this.across = across;
        this.up = up;
    }

    /** The vertical axis goes by powers of ten. */
    Chart logarithmic() {
        logarithmic = true;
        return this;
    }

    void point(String line, double x, double y) {
        lines.computeIfAbsent(line, name -> new ArrayList<>()).add(new Point(x, y));
    }

    String svg() {
        StringBuilder svg = new StringBuilder();
        int width = LEFT + WIDTH + LEGEND;
        int height = TOP + HEIGHT + 50;
        svg.append(String.format(
                Locale.ROOT,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\""
                        + " font-size=\"12\">\n<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n",
                width,
                height,
                width,
                height));
        svg.append(text(LEFT, 22, "start", title));
        svg.append(text(LEFT + WIDTH / 2.0, height - 10.0, "middle", across));
        svg.append(text(LEFT, TOP - 6, "end", up));
        Scale x = new Scale(values(true), false, LEFT, LEFT + WIDTH);
        Scale y = new Scale(values(false), logarithmic, TOP + HEIGHT, TOP);
        grid(svg, x, y);
        int number = 0;
        for (Map.Entry<String, List<Point>> line : lines.entrySet()) {
            String colour = line.getKey().equals(Candidate.REPRISE.name()) ? OURS : COLOURS[number % COLOURS.length];
            draw(svg, line.getValue(), colour, x, y);
            legend(svg, line.getKey(), colour, number++);
        }
        List<Point> ours = lines.get(Candidate.REPRISE.name());
        if (ours != null) {
            draw(svg, ours, OURS, x, y);
        }
        return svg.append("</svg>\n").toString();
    }

    private double[] values(boolean across) {
        return lines.values().stream()
                .flatMap(List::stream)
                .mapToDouble(point -> across ? point.x : point.y)
                .toArray();
    }

    private static void grid(StringBuilder svg, Scale x, Scale y) {
        for (double at : x.marks()) {
            svg.append(line(x.at(at), TOP, x.at(at), TOP + HEIGHT));
            svg.append(text(x.at(at), TOP + HEIGHT + 16, "middle", number(at)));
        }
        for (double at : y.marks()) {
            svg.append(line(LEFT, y.at(at), LEFT + WIDTH, y.at(at)));
            svg.append(text(LEFT - 6, y.at(at) + 4, "end", number(at)));
        }
    }

    private static void draw(StringBuilder svg, List<Point> points, String colour, Scale x, Scale y) {
        StringBuilder path = new StringBuilder();
        for (Point point : points) {
            path.append(String.format(Locale.ROOT, "%.1f,%.1f ", x.at(point.x), y.at(point.y)));
        }
        svg.append(String.format(
                Locale.ROOT,
                "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"%s\"/>\n",
                path.toString().strip(),
                colour,
                colour.equals(OURS) ? "3" : "1.5"));
    }

    private static void legend(StringBuilder svg, String name, String colour, int number) {
        double y = TOP + 8 + 18.0 * number;
        svg.append(String.format(
                Locale.ROOT,
                "<rect x=\"%d\" y=\"%.1f\" width=\"14\" height=\"4\" fill=\"%s\"/>\n",
                LEFT + WIDTH + 14,
                y - 6,
                colour));
        svg.append(text(LEFT + WIDTH + 34, y, "start", name));
    }

    private static String line(double x1, double y1, double x2, double y2) {
        return String.format(
                Locale.ROOT,
                "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#d0d7de\"/>\n",
                x1,
                y1,
                x2,
                y2);
    }

    private static String text(double x, double y, String anchor, String content) {
        String escaped = content.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
        return String.format(
                Locale.ROOT,
                "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"#24292f\">%s</text>\n",
                x,
                y,
                anchor,
                escaped);
    }

    private static String number(double value) {
        return Math.abs(value - Math.rint(value)) < 1e-9
                ? String.format(Locale.ROOT, "%,d", Math.round(value))
                : String.format(Locale.ROOT, "%.2f", value);
    }
}
