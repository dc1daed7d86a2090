// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.terminal;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

/** Text in columns. A heading that starts with {@code >} aligns its column to the right. Not thread-safe. */
public final class TextTable {

    private final List<List<String>> rows = new ArrayList<>();
    private final boolean[] right;

    public TextTable(String... headings) {
        right = new boolean[headings.length];
        List<String> names = new ArrayList<>();
        for (int i = 0; i < headings.length; i++) {
            right[i] = headings[i].startsWith(">");
            names.add(right[i] ? headings[i].substring(1) : headings[i]);
        }
        rows.add(names);
    }

    public void add(Object... cells) {
        List<String> row = new ArrayList<>();
        for (Object cell : cells) {
            row.add(String.valueOf(cell));
        }
        rows.add(row);
    }

    public void print(PrintWriter out) {
        lines().forEach(line -> out.println("  " + line));
    }

    public List<String> lines() {
        int[] widths = new int[right.length];
        rows.forEach(row -> {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], row.get(i).length());
            }
        });
        return rows.stream().map(row -> line(row, widths)).toList();
    }

    private String line(List<String> row, int[] widths) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < widths.length; i++) {
            String cell = row.get(i);
            String gap = " ".repeat(widths[i] - cell.length());
            line.append(i == 0 ? "" : "  ").append(right[i] ? gap + cell : cell + gap);
        }
        return line.toString().stripTrailing();
    }
}
