// SPDX-License-Identifier: Apache-2.0
package io.reprise.control;

import java.util.Optional;

/**
 * Names one piece of control state, and so what a parked job waits for.
 *
 * @param subject a resource or a queue; empty for the budget of everything
 */
public record ControlKey(Kind kind, String subject) {

    /** What holds jobs back. */
    public enum Kind {
        BREAKER("breaker/"),
        RESOURCE_BUDGET("budget/resource/"),
        QUEUE_BUDGET("budget/queue/"),
        BUDGET("budget/all");

        private final String prefix;

        Kind(String prefix) {
            this.prefix = prefix;
        }
    }

    public static final ControlKey BUDGET = new ControlKey(Kind.BUDGET, "");

    public static ControlKey breaker(String resource) {
        return new ControlKey(Kind.BREAKER, resource);
    }

    public static ControlKey budgetOfResource(String resource) {
        return new ControlKey(Kind.RESOURCE_BUDGET, resource);
    }

    public static ControlKey budgetOfQueue(String queue) {
        return new ControlKey(Kind.QUEUE_BUDGET, queue);
    }

    /** What {@link #text} says; empty if this version knows no such key. */
    public static Optional<ControlKey> parse(String text) {
        for (Kind kind : Kind.values()) {
            if (text.startsWith(kind.prefix)) {
                return Optional.of(new ControlKey(kind, text.substring(kind.prefix.length())));
            }
        }
        return Optional.empty();
    }

    /** As it is stored. */
    public String text() {
        return kind.prefix + subject;
    }
}
