// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** Shows calls, successes, parked jobs and the breaker's phase over time, as SVG or as comma-separated values. */
public final class RecoveryPicture {

    /**
     * A slice of time.
     *
     * @param from begin and {@code to} end, in seconds since the first call
     * @param calls calls per second
     * @param done successful calls per second
     */
    record Slice(double from, double to, double calls, double done, long parked, String phase) {}

    private static final double SLICE = 0.5;
    private static final Map<String, String> COLOURS =
            Map.of("CLOSED", "#dafbe1", "OPEN", "#ffc1ba", "HALF_OPEN", "#fff8c5", "RAMPING", "#ddf4ff");
    private static final int LEFT = 80;
    private static final int WIDTH = 760;
    private static final int RIGHT = 20;
    private static final int TOP = 64;
    private static final int HEIGHT = 180;
    private static final int BETWEEN = 44;
    private static final int BOTTOM = TOP + 2 * HEIGHT + BETWEEN;

    private final List<Slice> slices;
    private final double end;

    private RecoveryPicture(List<Slice> slices) {
        this.slices = slices;
        this.end = slices.isEmpty() ? 1 : slices.get(slices.size() - 1).to();
    }

    public static void write(Path file, List<Samples.Sample> samples) throws IOException {
        List<Slice> slices = slices(samples);
        Files.writeString(file, file.toString().endsWith(".svg") ? svg(slices) : csv(slices));
    }

    static List<Slice> slices(List<Samples.Sample> samples) {
        List<Slice> slices = new ArrayList<>();
        Samples.Sample last = samples.get(0);
        for (Samples.Sample each : samples) {
            double seconds = (each.nanos() - last.nanos()) / 1e9;
            if (seconds >= SLICE) {
                slices.add(new Slice(
                        last.nanos() / 1e9,
                        each.nanos() / 1e9,
                        (each.calls() - last.calls()) / seconds,
                        (each.done() - last.done()) / seconds,
                        each.parked(),
                        each.phase()));
                last = each;
            }
        }
        return slices;
    }

    static String csv(List<Slice> slices) {
        StringBuilder text = new StringBuilder("seconds,calls,successes,parked,phase\n");
        for (Slice each : slices) {
            text.append(String.format(
                    Locale.ROOT,
                    "%.2f,%.0f,%.0f,%d,%s%n",
                    each.to(),
                    each.calls(),
                    each.done(),
                    each.parked(),
                    each.phase()));
        }
        return text.toString();
    }

    static String svg(List<Slice> slices) {
        return new RecoveryPicture(slices).svg();
    }

    private String svg() {
        int parked = TOP + HEIGHT + BETWEEN;
        double mostCalls = most(Slice::calls);
        double mostParked = most(Slice::parked);
        return head()
                + phases()
                + seconds()
                + panel(TOP, "per second", mostCalls)
                + area(TOP, mostCalls, Slice::done, "#2da44e", "#2da44e")
                + area(TOP, mostCalls, Slice::calls, "none", "#24292f")
                + panel(parked, "parked", mostParked)
                + area(parked, mostParked, Slice::parked, "#8c959f", "#57606a")
                + "</svg>\n";
    }

    private double most(ToDoubleFunction<Slice> value) {
        return Math.max(1, slices.stream().mapToDouble(value).max().orElse(1));
    }

    private static String head() {
        int width = LEFT + WIDTH + RIGHT;
        int height = BOTTOM + 34;
        return String.format(
                        Locale.ROOT,
                        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\""
                                + " font-size=\"12\">%n",
                        width,
                        height)
                + rect(0, 0, width, height, "#ffffff")
                + text(LEFT, 22, "start", "Calls (line), successes (green), parked jobs (grey), phase of the breaker");
    }

    /** Draws one coloured band for each phase, with its name if there is room. */
    private String phases() {
        StringBuilder bands = new StringBuilder();
        for (int i = 0; i < slices.size(); ) {
            int next = i + 1;
            while (next < slices.size() && phase(next).equals(phase(i))) {
                next++;
            }
            double from = x(slices.get(i).from());
            double to = x(slices.get(next - 1).to());
            bands.append(rect(from, TOP - 24, to - from, BOTTOM - TOP + 24, COLOURS.getOrDefault(phase(i), "#ffffff")));
            if (to - from > 8 * phase(i).length()) {
                bands.append(text((from + to) / 2, TOP - 9, "middle", phase(i)));
            }
            i = next;
        }
        return bands.toString();
    }

    private String phase(int slice) {
        String phase = slices.get(slice).phase();
        return phase.isEmpty() ? "CLOSED" : phase;
    }

    private String seconds() {
        StringBuilder marks = new StringBuilder();
        int step = end > 60 ? 20 : end > 20 ? 5 : 1;
        for (int second = 0; second <= end; second += step) {
            marks.append(line(x(second), TOP, x(second), BOTTOM, "#d0d7de"));
            marks.append(text(x(second), BOTTOM + 18, "middle", second + " s"));
        }
        return marks.toString();
    }

    private static String panel(int top, String name, double most) {
        return line(LEFT, top + HEIGHT, LEFT + WIDTH, top + HEIGHT, "#24292f")
                + text(LEFT - 6, top + 12, "end", String.format(Locale.ROOT, "%,.0f", most))
                + text(LEFT - 6, top + 28, "end", name)
                + text(LEFT - 6, top + HEIGHT, "end", "0");
    }

    private String area(int top, double most, ToDoubleFunction<Slice> value, String fill, String stroke) {
        StringBuilder points = new StringBuilder();
        points.append(point(x(0), top + HEIGHT));
        for (Slice each : slices) {
            points.append(
                    point(x((each.from() + each.to()) / 2), top + HEIGHT * (1 - value.applyAsDouble(each) / most)));
        }
        points.append(point(x(end), top + HEIGHT));
        return String.format(
                Locale.ROOT,
                "<polyline points=\"%s\" fill=\"%s\" fill-opacity=\"0.45\" stroke=\"%s\"/>%n",
                points.toString().strip(),
                fill,
                stroke);
    }

    private double x(double second) {
        return LEFT + WIDTH * second / end;
    }

    private static String point(double x, double y) {
        return String.format(Locale.ROOT, "%.1f,%.1f ", x, y);
    }

    private static String rect(double x, double y, double width, double height, String fill) {
        return String.format(
                Locale.ROOT,
                "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>%n",
                x,
                y,
                width,
                height,
                fill);
    }

    private static String line(double x1, double y1, double x2, double y2, String stroke) {
        return String.format(
                Locale.ROOT,
                "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>%n",
                x1,
                y1,
                x2,
                y2,
                stroke);
    }

    private static String text(double x, double y, String anchor, String content) {
        return String.format(
                Locale.ROOT,
                "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"#24292f\">%s</text>%n",
                x,
                y,
                anchor,
                content);
    }
}
