// SPDX-License-Identifier: Apache-2.0
package io.reprise.failure;

import io.reprise.text.Truncation;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Renders a stack trace. It never builds more text than is kept. */
final class Trace {

    private static final int USUAL = 2_000;

    private final StringBuilder kept = new StringBuilder(USUAL);
    private long length;

    private Trace() {}

    /** The trace of a cause chain, with the message and the frames of each throwable. */
    static String of(List<Throwable> chain, List<String> messages, List<Frames> frames) {
        Trace trace = new Trace();
        @Nullable Frames enclosing = null;
        for (int i = 0; i < chain.size(); i++) {
            trace.append(enclosing == null ? "" : "Caused by: ");
            trace.head(chain.get(i), messages.get(i));
            trace.frames(frames.get(i), enclosing == null ? 0 : frames.get(i).common(enclosing));
            enclosing = frames.get(i);
        }
        return Truncation.cut(trace.kept, trace.length, Truncation.TRACE);
    }

    private void head(Throwable link, String message) {
        append(link.getClass().getName());
        append(message.isEmpty() ? "" : ": ");
        append(message);
        append("\n");
    }

    /** Adds the frames, without those at the bottom that the enclosing throwable has shown already. */
    private void frames(Frames frames, int common) {
        for (int i = 0; i < frames.size() - common; i++) {
            append(frames.line(i));
        }
        if (common > 0) {
            append("\t... " + common + " more\n");
        }
    }

    private void append(String text) {
        int room = Math.max(0, Truncation.TRACE - kept.length());
        kept.append(text, 0, Math.min(room, text.length()));
        length += text.length();
    }
}
