// SPDX-License-Identifier: Apache-2.0
package io.reprise.insight;

import io.reprise.JobContext;
import java.time.Instant;
import java.util.Objects;

/**
 * A line that a handler wrote in a run, see {@link JobContext#log}. Immutable.
 *
 * @param token fencing token of the run; runs later in time have greater tokens
 * @param at when the line was written, by the worker's view of the store's clock
 * @param text one line, cut at {@value #MAX_LENGTH} characters
 * @since 0.1.0
 */
public record LogLine(long token, Instant at, String text) {

    /** The greatest number of lines of a run. */
    public static final int MAX_LINES = 1_000;

    /** The greatest size of all lines of a run, in characters: 64 kB of plain text. */
    public static final int MAX_CHARS = 64 * 1024;

    /** The greatest length of a line, in characters. */
    public static final int MAX_LENGTH = 4_000;

    private static final char NUL = 0;

    /** Makes one line of the text: a line break or another control character becomes a blank, and it is cut. */
    public LogLine {
        Objects.requireNonNull(at, "at");
        text = plain(text);
    }

    private static String plain(String text) {
        String cut = text.length() <= MAX_LENGTH ? text : text.substring(0, MAX_LENGTH - 1) + "…";
        for (int i = 0; i < cut.length(); i++) {
            if (isUnfit(cut, i)) {
                StringBuilder plain = new StringBuilder(cut);
                for (int at = i; at < cut.length(); at++) {
                    if (isUnfit(cut, at)) {
                        plain.setCharAt(at, ' ');
                    }
                }
                return plain.toString();
            }
        }
        return cut;
    }

    /** Control characters, and halves of a pair, which no database stores. */
    private static boolean isUnfit(String text, int at) {
        char c = text.charAt(at);
        if (Character.isHighSurrogate(c)) {
            return at + 1 == text.length() || !Character.isLowSurrogate(text.charAt(at + 1));
        }
        if (Character.isLowSurrogate(c)) {
            return at == 0 || !Character.isHighSurrogate(text.charAt(at - 1));
        }
        return c == NUL || (Character.isISOControl(c) && c != '\t');
    }
}
