// SPDX-License-Identifier: Apache-2.0
package io.reprise.control;

import java.util.Optional;

/**
 * The name of one breaker or budget, and so of the control state that a parked job waits for. Immutable.
 *
 * @param kind breaker, or one of the four kinds of budgets
 * @param subject name of the resource, queue or type, the last with its owner and a space before it; for the budget of all jobs empty, or a slash and the owner of the jobs
 * @since 0.1.0
 */
public record ControlKey(Kind kind, String subject) {

    /** The kinds of control state that park jobs. */
    public enum Kind {
        /** The breaker of a resource. */
        BREAKER("breaker/"),
        /** The retry budget of a resource. */
        RESOURCE_BUDGET("budget/resource/"),
        /** The retry budget of a queue. */
        QUEUE_BUDGET("budget/queue/"),
        /** The retry budget of a job type, or of the jobs of one owner of that type. */
        TYPE_BUDGET("budget/type/"),
        /** The retry budget of all jobs, or of all jobs of one owner. */
        BUDGET("budget/all");

        private final String prefix;

        Kind(String prefix) {
            this.prefix = prefix;
        }
    }

    /** The key of the budget of all jobs that have no owner. */
    public static final ControlKey BUDGET = new ControlKey(Kind.BUDGET, "");

    /** Returns the key of the breaker of a resource. */
    public static ControlKey breaker(String resource) {
        return new ControlKey(Kind.BREAKER, resource);
    }

    /** Returns the key of the budget of a resource. */
    public static ControlKey budgetOfResource(String resource) {
        return new ControlKey(Kind.RESOURCE_BUDGET, resource);
    }

    /** Returns the key of the budget of a queue. */
    public static ControlKey budgetOfQueue(String queue) {
        return new ControlKey(Kind.QUEUE_BUDGET, queue);
    }

    /**
     * Returns the key of the budget of a job type. The jobs of each owner have a budget of their own; see
     * {@link #budgetOfAll}.
     *
     * @param type name of the type of a job
     * @param queue name of its queue
     */
    public static ControlKey budgetOfType(String type, String queue) {
        int slash = queue.indexOf('/');
        // No name has a space.
        return new ControlKey(Kind.TYPE_BUDGET, slash < 0 ? type : queue.substring(0, slash) + " " + type);
    }

    /** Returns the job type of a {@link Kind#TYPE_BUDGET}, without its owner. */
    public String type() {
        return subject.substring(subject.indexOf(' ') + 1);
    }

    /**
     * Returns the key of the budget of all jobs. A queue such as {@code acme/mail} has an owner. The jobs of each owner
     * have a budget of their own, so that failures of one owner do not park the retries of another.
     *
     * @param queue name of the queue of a job
     */
    public static ControlKey budgetOfAll(String queue) {
        int slash = queue.indexOf('/');
        return slash < 0 ? BUDGET : new ControlKey(Kind.BUDGET, "/" + queue.substring(0, slash));
    }

    /** Reads the text that {@link #text} returns; empty if this version does not know such a key. */
    public static Optional<ControlKey> parse(String text) {
        for (Kind kind : Kind.values()) {
            if (text.startsWith(kind.prefix)) {
                return Optional.of(new ControlKey(kind, text.substring(kind.prefix.length())));
            }
        }
        return Optional.empty();
    }

    /** Returns the text that is stored, for example {@code breaker/provider-a}. */
    public String text() {
        return kind.prefix + subject;
    }
}
