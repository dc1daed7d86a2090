// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import java.util.List;

/** Renders a stack trace without ever holding more of it than is kept. */
final class Trace {

    private final StringBuilder kept = new StringBuilder();
    private long length;

    private Trace() {}

    static String of(List<Throwable> chain) {
        Trace trace = new Trace();
        StackTraceElement[] enclosing = {};
        String lead = "";
        for (Throwable link : chain) {
            StackTraceElement[] frames = Throwables.frames(link);
            trace.append(lead);
            trace.head(link);
            trace.frames(frames, common(frames, enclosing));
            enclosing = frames;
            lead = "Caused by: ";
        }
        return Truncation.cut(trace.kept, trace.length, Truncation.TRACE);
    }

    private void head(Throwable link) {
        String message = Throwables.message(link);
        append(link.getClass().getName());
        append(message.isEmpty() ? "" : ": ");
        append(message);
        append("\n");
    }

    private void frames(StackTraceElement[] frames, int common) {
        for (int i = 0; i < frames.length - common; i++) {
            append("\tat ");
            append(String.valueOf(frames[i]));
            append("\n");
        }
        if (common > 0) {
            append("\t... " + common + " more\n");
        }
    }

    /** Frames at the bottom that the enclosing throwable has shown already. */
    private static int common(StackTraceElement[] frames, StackTraceElement[] enclosing) {
        int common = 0;
        while (common < Math.min(frames.length, enclosing.length)
                && frames[frames.length - 1 - common].equals(enclosing[enclosing.length - 1 - common])) {
            common++;
        }
        return common;
    }

    private void append(String text) {
        int room = Math.max(0, Truncation.TRACE - kept.length());
        kept.append(text, 0, Math.min(room, text.length()));
        length += text.length();
    }
}
