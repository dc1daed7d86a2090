// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.demo;

import io.reprise.JobListener;
import io.reprise.insight.JobEvent;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.retry.Decision;
import io.reprise.retry.FailReason;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The state of the demo's jobs, derived from their events alone. Thread-safe. */
final class Scoreboard implements JobListener {

    /**
     * One job and its progress.
     *
     * @param since when its life began; the time to success counts from there
     * @param runs claims that reached the handler
     * @param last the latest event; null for a job that already waited when the demo began
     */
    record Line(
            JobId id,
            String type,
            String queue,
            JobState state,
            Instant since,
            int runs,
            int retries,
            int snoozes,
            @Nullable JobEvent last) {

        @Nullable
        FailReason failReason() {
            return last != null && last.decision() instanceof Decision.Fail fail ? fail.reason() : null;
        }
    }

    private final Map<JobId, Line> lines = new LinkedHashMap<>();
    private final Map<JobEvent.Kind, Integer> tally = new EnumMap<>(JobEvent.Kind.class);
    private final List<JobEvent> fresh = new ArrayList<>();

    /** Adds a job of an earlier demo that still waits in the same file. */
    synchronized void add(Job waiting) {
        lines.put(
                waiting.id(),
                new Line(
                        waiting.id(),
                        waiting.type(),
                        waiting.queue(),
                        JobState.PENDING,
                        waiting.times().firstDueAt(),
                        0,
                        0,
                        0,
                        null));
    }

    @Override
    public synchronized void onEvent(JobEvent event) {
        fresh.add(event);
        tally.merge(event.kind(), 1, Integer::sum);
        if (event.kind() == JobEvent.Kind.DISCARDED || event.kind() == JobEvent.Kind.STALE) {
            return;
        }
        Line before = lines.get(event.id());
        lines.put(event.id(), next(before == null ? begun(event) : before, event));
    }

    private static Line begun(JobEvent event) {
        Instant since = event.dueAt() == null ? event.at() : event.dueAt();
        return new Line(event.id(), event.type(), event.queue(), JobState.PENDING, since, 0, 0, 0, null);
    }

    private static Line next(Line line, JobEvent event) {
        JobEvent.Kind kind = event.kind();
        // The events of a quick handler can arrive before the event of its insert.
        boolean late = kind == JobEvent.Kind.ENQUEUED && line.last() != null;
        return new Line(
                line.id(),
                line.type(),
                line.queue(),
                late ? line.state() : state(kind),
                late && event.dueAt() != null ? event.dueAt() : line.since(),
                line.runs() + (kind == JobEvent.Kind.STARTED ? 1 : 0),
                line.retries() + (kind == JobEvent.Kind.RETRY_SCHEDULED ? 1 : 0),
                line.snoozes() + (kind == JobEvent.Kind.SNOOZED ? 1 : 0),
                late ? line.last() : event);
    }

    private static JobState state(JobEvent.Kind kind) {
        return switch (kind) {
            case STARTED -> JobState.RUNNING;
            case SUCCEEDED -> JobState.SUCCEEDED;
            case FAILED -> JobState.FAILED;
            case CANCELLED -> JobState.CANCELLED;
            default -> JobState.PENDING;
        };
    }

    /** Returns every job seen so far, oldest first. */
    synchronized Collection<Line> lines() {
        return List.copyOf(lines.values());
    }

    /** Returns how many events of each kind there were. */
    synchronized Map<JobEvent.Kind, Integer> tally() {
        return Map.copyOf(tally);
    }

    /** Returns the events since the last call. */
    synchronized List<JobEvent> takeEvents() {
        List<JobEvent> taken = List.copyOf(fresh);
        fresh.clear();
        return taken;
    }
}
