// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.terminal;

/** Shows progress on one line of a terminal. Prints nothing if the terminal is not interactive. Not thread-safe. */
public final class ProgressLine implements AutoCloseable {

    private static final int WIDTH = 30;

    private final Terminal terminal;
    private final String done;
    private final long total;

    public ProgressLine(Terminal terminal, String done, long total) {
        this.terminal = terminal;
        this.done = done;
        this.total = Math.max(1, total);
    }

    public void at(long count) {
        at(count, "");
    }

    public void at(long count, String more) {
        if (terminal.interactive()) {
            int full = (int) Math.min(WIDTH, WIDTH * count / total);
            String bar = (terminal.unicode() ? "█" : "#").repeat(full)
                    + (terminal.unicode() ? "░" : ".").repeat(WIDTH - full);
            terminal.err().print("\r\033[K" + bar + " " + count + " of " + total + " " + done + more);
            terminal.err().flush();
        }
    }

    /** Clears the line. */
    @Override
    public void close() {
        if (terminal.interactive()) {
            terminal.err().print("\r\033[K");
            terminal.err().flush();
        }
    }
}
