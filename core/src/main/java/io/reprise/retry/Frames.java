// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where a throwable was thrown, as lines of a trace and as far as it takes part in the fingerprint. What fails mostly fails
 * many times at one place, and its frames are the dear part of reading an error, so the last ones are remembered. Immutable
 * to whoever looks.
 */
final class Frames {

    private static final int TOP = 6;
    private static final int MAX_REMEMBERED = 128;
    private static final int MAX_DEPTH = 200;

    /** Reflection goes through different frames after a number of calls, so its frames say nothing about the error. */
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
        // A copy: an exception can return the same array to everybody, and change it.
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

    /** As a line of a trace, made when it is first asked for. */
    String line(int index) {
        String line = lines[index];
        if (line == null) {
            line = "\tat " + elements.get(index) + "\n";
            lines[index] = line;
        }
        return line;
    }

    /** The first few that tell errors apart. */
    List<String> top() {
        return top;
    }

    /** How many frames at the bottom are also those of another. */
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
