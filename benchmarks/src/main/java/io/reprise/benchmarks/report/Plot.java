// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.report;

import io.reprise.benchmarks.system.Systems;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** Draws rates as a share of the raw limit in a bar chart, on a logarithmic scale, as SVG. */
public final class Plot {

    private static final Map<String, String> COLOURS = Map.of(
            "reprise", "#1f6feb",
            "db-scheduler", "#8b949e",
            "jobrunr", "#c69026",
            "quartz", "#a371f7");
    private static final String OTHER = "#57606a";

    private static final int LEFT = 250;
    private static final int WIDTH = 520;
    private static final int RIGHT = 150;
    private static final int TOP = 76;
    private static final int BAR = 16;
    private static final int GAP = 14;
    /** The axis goes from this power of ten to ten, that is 1,000 %. */
    private static final int LOWEST = -4;

    private static final int HIGHEST = 1;

    private Plot() {}

    /** Draws only rates: latencies and sizes are better when small and would point the wrong way. */
    public static String svg(Results results) {
        StringBuilder bars = new StringBuilder();
        int y = TOP;
        for (String workload : results.workloads()) {
            List<Series> shown = shown(results, workload);
            if (shown.isEmpty()) {
                continue;
            }
            bars.append(text(LEFT - 110, y + 12, "end", "bold", workload));
            for (Series each : shown) {
                bars.append(bar(results, each, y));
                y += BAR;
            }
            y += GAP;
        }
        return head(y + 10) + axis(y) + bars + "</svg>\n";
    }

    private static List<Series> shown(Results results, String workload) {
        List<Series> shown = new ArrayList<>();
        results.of(workload)
                .filter(each -> !each.system.equals(Systems.RAW) && !each.isEmpty())
                .filter(each -> each.unit().equals(Figure.RATE))
                .filter(each -> results.ofRaw(each).isPresent())
                .forEach(shown::add);
        return shown;
    }

    private static String bar(Results results, Series each, int y) {
        Optional<Double> ratio = results.ofRaw(each);
        double share = ratio.orElse(0.0);
        double length = Math.max(1, x(share) - LEFT);
        String colour = COLOURS.getOrDefault(each.system, OTHER);
        String label = percent(share) + "  (" + FigureTable.number(each.median(Figure.RATE)) + "/s)";
        return text(LEFT - 8, y + 12, "end", "normal", each.system)
                + String.format(
                        Locale.ROOT,
                        "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>%n",
                        LEFT,
                        y + 1,
                        length,
                        BAR - 2,
                        colour)
                + text(LEFT + length + 6, y + 12, "start", "normal", label);
    }

    private static String head(int height) {
        int width = LEFT + WIDTH + RIGHT;
        return String.format(
                        Locale.ROOT,
                        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\""
                                + " font-size=\"12\">%n<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>%n",
                        width,
                        height,
                        width,
                        height)
                + text(16, 24, "start", "bold", "Jobs per second as a share of what raw JDBC does, same round")
                + text(16, 42, "start", "normal", "Logarithmic scale: each grid line is ten times the one before it.");
    }

    private static String axis(int bottom) {
        StringBuilder lines = new StringBuilder();
        for (int power = LOWEST; power <= HIGHEST; power++) {
            double at = x(Math.pow(10, power));
            String colour = power == 0 ? "#24292f" : "#d0d7de";
            lines.append(String.format(
                    Locale.ROOT,
                    "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"%s\"/>%n",
                    at,
                    TOP - 6,
                    at,
                    bottom - GAP,
                    colour));
            lines.append(text(at, TOP - 12, "middle", "normal", percent(Math.pow(10, power))));
        }
        return lines.toString();
    }

    private static double x(double share) {
        double power = Math.log10(Math.max(share, Math.pow(10, LOWEST)));
        return LEFT + WIDTH * (Math.min(power, HIGHEST) - LOWEST) / (HIGHEST - LOWEST);
    }

    private static String percent(double share) {
        double percent = share * 100;
        String format = percent >= 10 ? "%.0f %%" : percent >= 1 ? "%.1f %%" : percent >= 0.1 ? "%.1f %%" : "%.2f %%";
        return String.format(Locale.ROOT, format, percent);
    }

    private static String text(double x, double y, String anchor, String weight, String content) {
        return String.format(
                Locale.ROOT,
                "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" font-weight=\"%s\" fill=\"#24292f\">%s</text>%n",
                x,
                y,
                anchor,
                weight,
                content);
    }
}
