// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.report;

import io.reprise.benchmarks.measure.Statistics;
import io.reprise.benchmarks.system.Systems;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Shows results as a table for people. */
public final class FigureTable {

    private static final List<String> HEAD =
            List.of("workload", "system", "median", "min - max", "of raw", "Reprise is", "");

    private FigureTable() {}

    public static String of(Results results) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(HEAD);
        for (Series each : results.all()) {
            rows.add(row(results, each));
        }
        return print(rows);
    }

    private static List<String> row(Results results, Series each) {
        if (each.cannot != null) {
            return List.of(each.workload, each.system, "-", "", "", "", each.cannot);
        }
        Optional<Double> ahead = each.system.equals(Systems.REPRISE)
                ? Optional.empty()
                : results.find(each.workload, Systems.REPRISE).flatMap(reprise -> reprise.ratioTo(each));
        return List.of(
                each.workload,
                each.system,
                each.units().stream()
                        .map(unit -> number(each.median(unit)))
                        .reduce((a, b) -> a + " / " + b)
                        .orElse(""),
                each.units().stream()
                        .map(unit -> number(Statistics.min(each.values(unit))) + " - "
                                + number(Statistics.max(each.values(unit))))
                        .reduce((a, b) -> a + " / " + b)
                        .orElse(""),
                results.ofRaw(each).map(FigureTable::number).orElse(""),
                ahead.map(ratio -> number(ratio) + " x").orElse(""),
                String.join(" / ", each.units()));
    }

    /** Formats a number with enough digits to compare, and no more. */
    public static String number(double value) {
        double size = Math.abs(value);
        String format = size >= 100 ? "%,.0f" : size >= 10 ? "%.1f" : size >= 0.1 || size == 0 ? "%.2f" : "%.4f";
        return String.format(Locale.ROOT, format, value);
    }

    private static String print(List<List<String>> rows) {
        int[] widths = new int[HEAD.size()];
        for (List<String> row : rows) {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], row.get(i).length());
            }
        }
        StringBuilder text = new StringBuilder();
        String before = "";
        for (List<String> row : rows) {
            if (!before.isEmpty() && !before.equals(row.get(0))) {
                text.append('\n');
            }
            before = row.get(0);
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < widths.length; i++) {
                boolean left = i < 2 || i == widths.length - 1;
                line.append(String.format(
                        Locale.ROOT, "%" + (left ? "-" : "") + Math.max(1, widths[i]) + "s  ", row.get(i)));
            }
            text.append(line.toString().stripTrailing()).append('\n');
        }
        return text.toString();
    }
}
