// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.demo;

import io.reprise.cli.policy.PolicyText;
import io.reprise.failure.Failure;
import io.reprise.insight.JobEvent;
import io.reprise.retry.Decision;
import io.reprise.server.config.Durations;
import java.time.Duration;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * One event, ready for layout.
 *
 * @param attempt {@code attempt 2 of 8}, or empty
 * @param pause how long until the job runs again, if it does
 */
record DemoRow(
        Duration at,
        Mark mark,
        String job,
        String attempt,
        String text,
        @Nullable Wait pause) {

    /** The kind of the event. */
    enum Mark {
        QUEUED,
        SUCCEEDED,
        RETRY,
        DEAD,
        SNOOZED,
        OTHER
    }

    /**
     * A delay.
     *
     * @param raw the delay before jitter
     * @param asked whether the service asked for it
     */
    record Wait(Duration raw, Duration delay, boolean asked) {

        String text() {
            if (asked) {
                return "in " + shortly(delay) + ", asked for by Retry-After (policy alone: up to " + shortly(raw) + ")";
            }
            return raw.equals(delay)
                    ? "in " + shortly(delay)
                    : "in " + shortly(delay) + ", jittered from " + shortly(raw);
        }

        /** Returns the delay for one line of a table. */
        String brief() {
            if (asked) {
                return shortly(delay) + " Retry-After";
            }
            return raw.equals(delay) ? shortly(delay) : shortly(delay) + " of " + shortly(raw);
        }

        private static String shortly(Duration duration) {
            return Durations.text(Duration.ofMillis(Math.round(duration.toNanos() / 1e6)));
        }
    }

    static DemoRow note(Duration at, String job, String text) {
        return new DemoRow(at, Mark.OTHER, job, "", text, null);
    }

    static DemoRow of(Duration at, JobEvent event, OptionalInt limit) {
        String job = event.type() + " #" + event.id();
        String attempt = "attempt " + event.attempt() + (limit.isPresent() ? " of " + limit.getAsInt() : "");
        Decision decision = event.decision();
        String cause = cause(event.failure(), decision);
        return switch (event.kind()) {
            case ENQUEUED -> new DemoRow(at, Mark.QUEUED, job, "", "enqueued", null);
            case SUCCEEDED -> new DemoRow(at, Mark.SUCCEEDED, job, attempt, "succeeded", null);
            case RETRY_SCHEDULED -> new DemoRow(at, Mark.RETRY, job, attempt, cause, pause(event));
            case FAILED -> new DemoRow(at, Mark.DEAD, job, attempt, reason(decision) + ": " + cause, null);
            case SNOOZED ->
                new DemoRow(at, Mark.SNOOZED, job, attempt, "asked to be called later, no attempt spent", pause(event));
            default -> new DemoRow(at, Mark.OTHER, job, attempt, PolicyText.kebab(event.kind()), null);
        };
    }

    static String reason(@Nullable Decision decision) {
        return decision instanceof Decision.Fail fail ? fail.reason().name() : "FAILED";
    }

    /** Returns the rule that classified the failure, and the failure's message. */
    static String cause(@Nullable Failure failure, @Nullable Decision decision) {
        String rule = decision == null ? "" : decision.rule();
        if (failure == null) {
            return rule;
        }
        return failure.message().isEmpty() ? rule : rule + ": " + failure.message();
    }

    private static @Nullable Wait pause(JobEvent event) {
        if (event.decision() instanceof Decision.Retry retry) {
            Failure failure = event.failure();
            boolean asked = failure != null
                    && failure.retryAfter() != null
                    && retry.delay().compareTo(failure.retryAfter()) == 0;
            return new Wait(retry.raw(), retry.delay(), asked);
        }
        return event.decision() instanceof Decision.Snooze snooze
                ? new Wait(snooze.delay(), snooze.delay(), false)
                : null;
    }
}
