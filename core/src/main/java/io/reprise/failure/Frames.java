// SPDX-License-Identifier: Apache-2.0
package io.reprise.failure;

import io.reprise.text.Memo;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The stack frames of a throwable, as lines of a trace and as far as they count for the fingerprint.
 *
 * <p>Most failures happen many times at one place, and reading the frames is the expensive part of reading an error. So
 * the latest frames are remembered. Callers see an immutable object.
 */
final class Frames {

    private static final int TOP = 6;
    private static final int MAX_REMEMBERED = 128;
    private static final int MAX_DEPTH = 200;

    /** Reflection uses other frames after a number of calls, so its frames say nothing about the error. */
    private static final List<String> PLUMBING =
            List.of("jdk.internal.", "sun.", "java.lang.reflect.", "java.lang.invoke.");

    private static final Memo<List<@Nullable StackTraceElement>, Frames> REMEMBERED =
            new Memo<>(MAX_REMEMBERED, Frames::new);

    private final List<@Nullable StackTraceElement> elements;
    private final @Nullable String[] lines;
    private final List<String> top;

    private Frames(List<@Nullable StackTraceElement> elements) {
        this.elements = elements;
        this.lines = new @Nullable String[elements.size()];
        this.top = top(elements);
    }

    static Frames of(Throwable throwable) {
        // A copy, because an exception can return one array to all callers and change it.
        List<@Nullable StackTraceElement> elements =
                Arrays.asList(Throwables.frames(throwable).clone());
        return elements.size() > MAX_DEPTH ? new Frames(elements) : REMEMBERED.of(elements);
    }

    private static List<String> top(List<@Nullable StackTraceElement> elements) {
        List<String> top = new ArrayList<>(TOP);
        for (StackTraceElement element : elements) {
            if (top.size() == TOP) {
                break;
            }
            if (element != null && PLUMBING.stream().noneMatch(element.getClassName()::startsWith)) {
                top.add(Fingerprint.typeName(element.getClassName()) + "."
                        + Fingerprint.withoutDigits(element.getMethodName()));
            }
        }
        return List.copyOf(top);
    }

    int size() {
        return lines.length;
    }

    /** A frame as a line of a trace. The text is made on first use. */
    String line(int index) {
        String line = lines[index];
        if (line == null) {
            line = "\tat " + elements.get(index) + "\n";
            lines[index] = line;
        }
        return line;
    }

    /** The first frames, without those of reflection. They distinguish errors. */
    List<String> top() {
        return top;
    }

    /** The number of frames at the bottom that are also at the bottom of {@code other}. */
    int common(Frames other) {
        int common = 0;
        while (common < Math.min(size(), other.size())) {
            StackTraceElement mine = elements.get(size() - 1 - common);
            if (mine == null || !mine.equals(other.elements.get(other.size() - 1 - common))) {
                break;
            }
            common++;
        }
        return common;
    }
}
