// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.step.StepEdit;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How a dead letter or a waiting job is put back to PENDING with wait reason MANUAL. A parked job is unparked by it.
 *
 * @param action name for the audit log: retry or replay
 * @param delay the job is due this long after the store's now, unless {@code dueAt} says when
 * @param dueAt the job is due at this time, or at the store's now if that is later; null for {@code delay}
 * @param window if set, the job starts a new life: it is first due at its new due time, and its deadline is this much
 *     later. If null, the job has no deadline any more
 * @param resetCounts whether attempts, losses, interruptions, snoozes and grants go back to 0 and the job stops being a
 *     suspect
 * @param grant attempts added to the limit of the policy; 0 for none
 * @param edit changes to the job itself
 * @since 0.1.0
 */
public record Requeue(
        String action,
        Duration delay,
        @Nullable Instant dueAt,
        @Nullable Duration window,
        boolean resetCounts,
        int grant,
        Edit edit) {

    /** Makes the job due after a delay. */
    public Requeue(
            String action, Duration delay, @Nullable Duration window, boolean resetCounts, int grant, Edit edit) {
        this(action, delay, null, window, resetCounts, grant, edit);
    }

    /** Returns this requeue with changes to the job. */
    public Requeue with(Edit other) {
        return new Requeue(action, delay, dueAt, window, resetCounts, grant, other);
    }

    /** Returns when the job is due if it is put back now. */
    public Instant due(Instant now) {
        Instant due = dueAt == null ? now.plus(delay) : dueAt.isBefore(now) ? now : dueAt;
        return due.truncatedTo(ChronoUnit.MICROS);
    }

    /**
     * Returns the detail for the audit log.
     *
     * @param before id of the job that is put back
     * @param now id of the job that is pending now
     */
    public String detail(JobId before, JobId now) {
        List<String> parts = new ArrayList<>();
        parts.add(now.equals(before) ? "same id" : "as job " + now);
        parts.add(dueAt != null ? "at " + dueAt : delay.isZero() ? "now" : "after " + delay);
        if (resetCounts) {
            parts.add("counters reset");
        }
        if (grant > 0) {
            parts.add("granted " + grant);
        }
        if (edit.queue() != null) {
            parts.add("to queue " + edit.queue());
        }
        if (edit.payload() != null) {
            parts.add("payload edited");
        }
        return String.join(", ", parts);
    }

    /**
     * Changes to the job itself.
     *
     * @param newId whether to store it as a new job and discard the old one with its history; the audit log keeps the
     *     link
     * @param queue another queue; null to keep the queue
     * @param payload another payload as JSON; null to keep the payload
     * @param steps change of the steps of the job, in the same atomic step; null to forget those that failed in a run. A
     *     job with a new id has no steps
     */
    public record Edit(
            boolean newId,
            @Nullable String queue,
            @Nullable String payload,
            @Nullable StepEdit steps) {
        /** No change. */
        public static final Edit NONE = new Edit(false, null, null);

        /** Changes queue and payload. */
        public Edit(boolean newId, @Nullable String queue, @Nullable String payload) {
            this(newId, queue, payload, null);
        }

        /** Changes the steps. */
        public Edit(StepEdit steps) {
            this(false, null, null, steps);
        }

        /**
         * Checks the texts like those of a new job.
         *
         * @throws IllegalArgumentException if a job cannot have this queue or payload, or if a job with a new id must
         *     have steps
         */
        public Edit {
            if (newId && steps != null) {
                throw new IllegalArgumentException("A job with a new id has no steps that could be changed");
            }
            if (queue != null) {
                JobSpec.requireName("queue", queue);
            }
            if (payload != null) {
                // The builder checks size and NUL.
                JobSpec.builder("edit", payload);
            }
        }

        /** Returns the spec with the other queue and payload. Whether the job gets a new id is left to the store. */
        public JobSpec applyTo(JobSpec spec) {
            JobSpec.Builder builder = spec.toBuilder();
            if (queue != null) {
                builder.queue(queue);
            }
            if (payload != null) {
                builder.payload(payload);
            }
            return builder.build();
        }
    }
}
