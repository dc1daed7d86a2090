// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Draws lines over one axis, as SVG. Our own line is a broad band below the others, so that lines along it
 * stay visible. The colours suit people with red-green colour blindness; lines of one colour differ by their
 * dashes. Not thread-safe.
 */
public final class Chart {

    private static final int LEFT = 80;
    private static final int TOP = 44;
    private static final int WIDTH = 560;
    private static final int HEIGHT = 320;
    private static final double LETTER = 6.8;
    private static final String OURS = "#4c9aff";
    private static final String[] COLOURS = {"#b35900", "#007a5a", "#a3195b", "#5b4bb7", "#3d3d3d", "#c9a400"};
    private static final String[] DASHES = {"", "7 3", "2 2"};

    private record Point(double x, double y) {}

    private final String title;
    private final String across;
    private final String up;
    private final Map<String, List<Point>> lines = new LinkedHashMap<>();
    private boolean logarithmic;

    public Chart(String title, String across, String up) {
        this.title = title;
        this.across = across;
        this.up = up;
    }

    /** Makes the vertical axis logarithmic. */
    public Chart logarithmic() {
        logarithmic = true;
        return this;
    }

    public void point(String line, double x, double y) {
        lines.computeIfAbsent(line, name -> new ArrayList<>()).add(new Point(x, y));
    }

    public String svg() {
        StringBuilder svg = new StringBuilder();
        int longest = lines.keySet().stream().mapToInt(String::length).max().orElse(0);
        int width = LEFT + WIDTH + 64 + (int) (LETTER * longest);
        int height = Math.max(TOP + HEIGHT + 50, TOP + 18 * lines.size());
        svg.append(String.format(
                Locale.ROOT,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\""
                        + " font-size=\"12\">\n<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n",
                width,
                height,
                width,
                height));
        svg.append(text(LEFT, 22, "start", title));
        svg.append(text(LEFT + WIDTH / 2.0, TOP + HEIGHT + 38, "middle", across));
        svg.append(upright(20, TOP + HEIGHT / 2.0, logarithmic ? up + " (logarithmic)" : up));
        Scale x = new Scale(values(true), false, LEFT, LEFT + WIDTH);
        Scale y = new Scale(values(false), logarithmic, TOP + HEIGHT, TOP);
        grid(svg, x, y);
        List<Point> ours = lines.get(Candidate.REPRISE.name());
        if (ours != null) {
            draw(svg, ours, stroke(-1), x, y);
        }
        int row = 0;
        int others = 0;
        for (Map.Entry<String, List<Point>> line : lines.entrySet()) {
            boolean own = line.getKey().equals(Candidate.REPRISE.name());
            String stroke = stroke(own ? -1 : others++);
            if (!own) {
                draw(svg, line.getValue(), stroke, x, y);
            }
            legend(svg, line.getKey(), stroke, row++);
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

    /** Returns the style of the line of this number; -1 is ours. */
    private static String stroke(int number) {
        if (number < 0) {
            return "stroke=\"" + OURS + "\" stroke-width=\"6\"";
        }
        String dashes = DASHES[number / COLOURS.length % DASHES.length];
        return "stroke=\"" + COLOURS[number % COLOURS.length] + "\" stroke-width=\"1.5\""
                + (dashes.isEmpty() ? "" : " stroke-dasharray=\"" + dashes + "\"");
    }

    private static void draw(StringBuilder svg, List<Point> points, String stroke, Scale x, Scale y) {
        StringBuilder path = new StringBuilder();
        for (Point point : points) {
            path.append(String.format(Locale.ROOT, "%.1f,%.1f ", x.at(point.x), y.at(point.y)));
        }
        svg.append(String.format(
                Locale.ROOT,
                "<polyline points=\"%s\" fill=\"none\" stroke-linejoin=\"round\" %s/>\n",
                path.toString().strip(),
                stroke));
    }

    private static void legend(StringBuilder svg, String name, String stroke, int number) {
        double y = TOP + 8 + 18.0 * number;
        svg.append(String.format(
                Locale.ROOT,
                "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" %s/>\n",
                LEFT + WIDTH + 14,
                y - 4,
                LEFT + WIDTH + 42,
                y - 4,
                stroke));
        svg.append(text(LEFT + WIDTH + 50, y, "start", name));
    }

    private static String upright(double x, double y, String content) {
        String level = text(x, y, "middle", content);
        return level.replace("<text ", String.format(Locale.ROOT, "<text transform=\"rotate(-90 %.1f %.1f)\" ", x, y));
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
                : String.format(Locale.ROOT, "%.2f", value).replaceAll("0$", "");
    }
}
