// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.demo;

import java.io.PrintWriter;
import java.util.Locale;

/** Prints one line per event, for pipes and logs. */
final class PlainView implements DemoView {

    private final PrintWriter out;

    PlainView(PrintWriter out) {
        this.out = out;
    }

    @Override
    public void show(Moment moment) {
        moment.rows().forEach(row -> out.println(line(row)));
        out.flush();
    }

    @Override
    public void close() {
        out.flush();
    }

    private static String line(DemoRow row) {
        DemoRow.Wait wait = row.pause();
        return String.format(
                        Locale.ROOT,
                        "%7.2fs  %-8s  %-18s  %-15s  %s%s",
                        row.at().toNanos() / 1e9,
                        word(row.mark()),
                        row.job(),
                        row.attempt(),
                        row.text(),
                        wait == null ? "" : "; again " + wait.text())
                .stripTrailing();
    }

    private static String word(DemoRow.Mark mark) {
        return switch (mark) {
            case QUEUED -> "queued";
            case SUCCEEDED -> "ok";
            case RETRY -> "retry";
            case DEAD -> "DEAD";
            case SNOOZED -> "snooze";
            case OTHER -> "note";
        };
    }
}
