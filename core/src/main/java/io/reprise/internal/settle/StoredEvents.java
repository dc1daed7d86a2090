// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.settle;

import io.reprise.insight.JobEvent;
import io.reprise.insight.JobEvent.Kind;
import io.reprise.insight.RetryView;
import io.reprise.job.Attempt;
import io.reprise.job.Job;
import io.reprise.job.JobState;
import io.reprise.retry.Decision;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Makes events again from what is stored, for a process that died before it told them. */
public final class StoredEvents {

    private StoredEvents() {}

    /** Returns the events of a stored run, as JSON. */
    public static List<String> settled(Job job, Attempt attempt) {
        List<String> events = new ArrayList<>();
        if (attempt.ending() == Attempt.Ending.LOST) {
            events.add(text(Kind.LOST, job, attempt, null));
        }
        Decision decision = attempt.decision();
        Duration delay = null;
        if (decision instanceof Decision.Retry retry) {
            delay = retry.delay();
        } else if (decision instanceof Decision.Snooze snooze) {
            delay = snooze.delay();
        } else if (decision instanceof Decision.Release release) {
            delay = release.delay();
        }
        events.add(text(
                kind(job, attempt),
                job,
                attempt,
                delay == null ? null : attempt.endedAt().plus(delay)));
        return events;
    }

    private static Kind kind(Job job, Attempt attempt) {
        boolean cancelled = job.state() == JobState.CANCELLED
                && attempt.endedAt().equals(job.times().finishedAt());
        if (cancelled || attempt.ending() == Attempt.Ending.CANCELLED) {
            return Kind.CANCELLED;
        }
        if (attempt.ending() == Attempt.Ending.SUCCEEDED) {
            return Kind.SUCCEEDED;
        }
        Decision decision = attempt.decision();
        if (decision instanceof Decision.Retry) {
            return Kind.RETRY_SCHEDULED;
        }
        if (decision instanceof Decision.Snooze) {
            return Kind.SNOOZED;
        }
        return decision instanceof Decision.Release ? Kind.RELEASED : Kind.FAILED;
    }

    private static String text(Kind kind, Job job, Attempt attempt, @Nullable Instant dueAt) {
        return EventText.of(new JobEvent(
                kind,
                job.id(),
                job.type(),
                job.queue(),
                job.spec().resource(),
                attempt.number(),
                attempt.endedAt(),
                job.times().firstDueAt(),
                null,
                Duration.between(attempt.startedAt(), attempt.endedAt()),
                dueAt,
                attempt.failure(),
                attempt.decision(),
                RetryView.of(job),
                null));
    }

    /** Returns the event of a job that was enqueued, as JSON. */
    public static String enqueued(Job job) {
        RetryView retries = RetryView.of(job);
        return EventText.of(new JobEvent(
                Kind.ENQUEUED,
                job.id(),
                job.type(),
                job.queue(),
                job.spec().resource(),
                0,
                job.times().createdAt(),
                job.times().firstDueAt(),
                null,
                null,
                job.times().firstDueAt(),
                null,
                null,
                new RetryView(0, retries.maxRetries(), true, null),
                null));
    }

    /** Returns the event of a job that a person changed, as JSON. */
    public static String changed(Job job) {
        boolean over = job.state() == JobState.CANCELLED;
        Instant at = over ? job.times().finishedAt() : job.times().dueAt();
        return EventText.of(new JobEvent(
                over ? Kind.CANCELLED : Kind.REQUEUED,
                job.id(),
                job.type(),
                job.queue(),
                job.spec().resource(),
                job.attempts(),
                at == null ? job.times().createdAt() : at,
                job.times().firstDueAt(),
                null,
                null,
                job.times().dueAt(),
                null,
                null,
                RetryView.of(job),
                null));
    }

    /** Returns whether an event in JSON says that a job was enqueued, and which; otherwise null. */
    public static @Nullable String enqueuedId(String event) {
        String beginning = "{\"kind\":\"ENQUEUED\",\"id\":\"";
        return event.startsWith(beginning)
                ? event.substring(beginning.length(), event.indexOf('"', beginning.length()))
                : null;
    }
}
