// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.fairness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** Shows how long jobs of a quiet group waited beside a noisy one, with groups and without, as SVG. */
final class NeighbourPicture {

    /**
     * A job of the quiet group.
     *
     * @param at when it was sent, in seconds since the first one
     * @param waited seconds until it started
     */
    record Sent(double at, double waited) {}

    private static final int LEFT = 70;
    private static final int WIDTH = 720;
    private static final int TOP = 60;
    private static final int HEIGHT = 260;
    private static final String WITH = "#1a7f37";
    private static final String WITHOUT = "#cf222e";

    private final double end;
    private final double longest;

    private NeighbourPicture(List<Sent> with, List<Sent> without) {
        this.end = Math.max(
                1,
                Stream.of(with, without)
                        .flatMap(List::stream)
                        .mapToDouble(Sent::at)
                        .max()
                        .orElse(1));
        this.longest = Math.max(
                1,
                Stream.of(with, without)
                        .flatMap(List::stream)
                        .mapToDouble(Sent::waited)
                        .max()
                        .orElse(1));
    }

    static void write(Path file, int flood, List<Sent> with, List<Sent> without) throws IOException {
        NeighbourPicture picture = new NeighbourPicture(with, without);
        Files.writeString(
                file,
                picture.head(flood) + picture.axes() + picture.line(without, WITHOUT) + picture.line(with, WITH)
                        + "</svg>\n");
    }

    private String head(int flood) {
        return String.format(
                        Locale.ROOT,
                        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %1$d %2$d\" font-family=\"sans-serif\""
                                + " font-size=\"12\">%n<rect width=\"%1$d\" height=\"%2$d\" fill=\"#ffffff\"/>%n",
                        LEFT + WIDTH + 30,
                        TOP + HEIGHT + 50)
                + text(
                        LEFT,
                        22,
                        "start",
                        "#24292f",
                        String.format(
                                Locale.ROOT,
                                "A floods the queue with %,d jobs; how long each later job of B waits",
                                flood))
                + text(LEFT, 42, "start", WITHOUT, "without groups")
                + text(LEFT + 120, 42, "start", WITH, "with groups");
    }

    private String axes() {
        StringBuilder marks = new StringBuilder();
        double step = Math.max(1, Math.ceil(longest / 6));
        for (double wait = 0; wait <= longest; wait += step) {
            marks.append(rule(LEFT, y(wait), LEFT + WIDTH, y(wait)));
            marks.append(text(LEFT - 8, y(wait) + 4, "end", "#24292f", Math.round(wait) + " s"));
        }
        double each = Math.max(1, Math.ceil(end / 10));
        for (double at = 0; at <= end; at += each) {
            marks.append(text(x(at), TOP + HEIGHT + 20, "middle", "#24292f", Math.round(at) + " s"));
        }
        return marks + text(LEFT + WIDTH / 2.0, TOP + HEIGHT + 40, "middle", "#24292f", "sent at");
    }

    private String line(List<Sent> jobs, String colour) {
        StringBuilder points = new StringBuilder();
        jobs.forEach(job -> points.append(String.format(Locale.ROOT, "%.1f,%.1f ", x(job.at), y(job.waited))));
        return String.format(
                Locale.ROOT,
                "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>%n",
                points.toString().strip(),
                colour);
    }

    private double x(double at) {
        return LEFT + WIDTH * at / end;
    }

    private double y(double wait) {
        return TOP + HEIGHT * (1 - wait / longest);
    }

    private static String rule(double x1, double y1, double x2, double y2) {
        return String.format(
                Locale.ROOT,
                "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#d0d7de\"/>%n",
                x1,
                y1,
                x2,
                y2);
    }

    private static String text(double x, double y, String anchor, String colour, String content) {
        return String.format(
                Locale.ROOT,
                "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"%s\">%s</text>%n",
                x,
                y,
                anchor,
                colour,
                content);
    }
}
