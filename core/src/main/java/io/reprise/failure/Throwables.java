// SPDX-License-Identifier: Apache-2.0
package io.reprise.failure;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Reads throwables that may misbehave. Any overridable method of an exception can throw or return null, and a bad
 * exception must not stop the worker that reports it.
 */
final class Throwables {

    static final int MAX_LINKS = 16;
    private static final int MAX_TYPES = 64;
    private static final StackTraceElement[] NO_FRAMES = {};

    private static final ClassValue<List<String>> TYPES = new ClassValue<>() {
        @Override
        protected List<String> computeValue(Class<?> type) {
            return typesOf(type);
        }
    };

    private Throwables() {}

    /** The throwable and its causes: outermost first, without cycles, at most {@link #MAX_LINKS}. */
    static List<Throwable> chain(Throwable outermost) {
        List<Throwable> chain = new ArrayList<>();
        Throwable current = outermost;
        while (current != null && chain.size() < MAX_LINKS && !has(chain, current)) {
            chain.add(current);
            current = cause(current);
        }
        return chain;
    }

    /** Whether the chain has this very object. An exception can override {@code equals} badly too. */
    private static boolean has(List<Throwable> chain, Throwable throwable) {
        for (Throwable link : chain) {
            if (link == throwable) {
                return true;
            }
        }
        return false;
    }

    static String message(Throwable throwable) {
        String message = guarded(throwable::getMessage);
        return message == null ? "" : message;
    }

    static StackTraceElement[] frames(Throwable throwable) {
        StackTraceElement[] frames = guarded(throwable::getStackTrace);
        return frames == null ? NO_FRAMES : frames;
    }

    /** The class, its superclasses and all interfaces, so that a rule naming any of them matches. */
    static List<String> types(Throwable throwable) {
        return TYPES.get(throwable.getClass());
    }

    private static List<String> typesOf(Class<?> thrown) {
        Set<String> names = new LinkedHashSet<>();
        for (Class<?> type = thrown; type != null && type != Object.class; type = type.getSuperclass()) {
            names.add(type.getName());
            addInterfaces(type, names);
        }
        return names.stream().limit(MAX_TYPES).toList();
    }

    private static void addInterfaces(Class<?> type, Set<String> names) {
        for (Class<?> implemented : type.getInterfaces()) {
            names.add(implemented.getName());
            addInterfaces(implemented, names);
        }
    }

    private static @Nullable Throwable cause(Throwable throwable) {
        return guarded(throwable::getCause);
    }

    /** The supplied value; null if the supplier fails in any way. */
    static <T> @Nullable T guarded(Supplier<? extends @Nullable T> question) {
        try {
            return question.get();
        } catch (Throwable broken) { // Even an Error: see the class comment.
            return null;
        }
    }
}
