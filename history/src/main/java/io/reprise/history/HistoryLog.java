// SPDX-License-Identifier: Apache-2.0
package io.reprise.history;

import io.reprise.history.HistoryEvent.Kind;
import io.reprise.insight.JobEvent;
import java.util.Map;

/** Receives events: a {@link HistoryFile} or a {@link JobHistory}. Thread-safe. */
public interface HistoryLog {

    /**
     * Returns the history's clock in nanoseconds. {@code System.nanoTime} is one clock for all processes of a machine.
     */
    long nanos();

    /** Adds an event. */
    void add(HistoryEvent event);

    /** Notes that a handler begins, just before it does. */
    default void started(String worker, long job, long token, Map<String, String> details) {
        long now = nanos();
        add(new HistoryEvent(Kind.STARTED, now, now, worker, job, token, details));
    }

    /** Notes that a handler ended, just after it did. */
    default void ended(String worker, long job, long token, boolean failed) {
        long now = nanos();
        add(new HistoryEvent(Kind.ENDED, now, now, worker, job, token, failed ? Map.of("error", "true") : Map.of()));
    }

    /** Notes that the work of a step began. {@code once} says that it must not begin again. */
    default void stepped(String worker, long job, long token, String step, boolean once) {
        long now = nanos();
        Map<String, String> details = Map.of("step", step, "once", Boolean.toString(once));
        add(new HistoryEvent(Kind.STEPPED, now, now, worker, job, token, details));
    }

    /** Notes an event that a listener received. */
    default void told(String worker, JobEvent event) {
        long now = nanos();
        Map<String, String> what = event.dueAt() == null
                ? Map.of("what", event.kind().name())
                : Map.of("what", event.kind().name(), "due", event.dueAt().toString());
        add(new HistoryEvent(Kind.TOLD, now, now, worker, event.id().value(), 0, what));
    }

    /**
     * Notes that a worker, started at {@code since}, was closed in an orderly way, and that none of its calls
     * failed during the close.
     */
    default void stopped(String worker, long since) {
        add(new HistoryEvent(Kind.STOPPED, since, nanos(), worker, 0, 0, Map.of()));
    }
}
