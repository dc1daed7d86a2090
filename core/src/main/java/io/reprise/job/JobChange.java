// SPDX-License-Identifier: Apache-2.0
package io.reprise.job;

import io.reprise.retry.RetryPolicy;
import io.reprise.text.Bounds;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A change of a waiting job by a person. What is null stays as it is. Counters and history always stay. Immutable: each
 * method returns a copy; start from {@link #NONE}.
 *
 * @param dueAt when the job may run next, by the store's clock; not in the past, and before the deadline
 * @param priority another priority
 * @param queue another queue
 * @param policy another retry policy. Its deadline counts from the time when the job was first due
 * @param payload another payload as JSON
 * @since 0.1.0
 */
public record JobChange(
        @Nullable Instant dueAt,
        @Nullable Integer priority,
        @Nullable String queue,
        @Nullable RetryPolicy policy,
        @Nullable String payload) {

    /** Changes nothing. */
    public static final JobChange NONE = new JobChange(null, null, null, null, null);

    /** Whether a job was changed, or why not. */
    public enum Answer {
        /** The job is changed. */
        DONE,
        /** There is no such job. */
        MISSING,
        /** The job runs now. It can be changed if it waits again. */
        RUNNING,
        /** The job has ended. A dead letter can be retried or replayed. */
        ENDED,
        /** The asked due time is past. */
        PAST,
        /** The job would be due at its deadline or later, or its new deadline is past. */
        BEYOND_DEADLINE,
        /**
         * The job waits for the end of the one that holds its key, or for the end or the success of a batch. Until then
         * nobody sets when it is due.
         */
        FOLLOWS
    }

    /**
     * The job after a change, or why there is none.
     *
     * @param answer {@link Answer#DONE}, or why the job stays as it is
     * @param spec values of the job, with the change if it is done
     * @param dueAt when the job is due
     * @param deadline from this time on no run starts; null for never
     * @param waitReason why the job waits
     * @param unparks whether a parked job is unparked
     */
    public record Changed(
            Answer answer,
            JobSpec spec,
            @Nullable Instant dueAt,
            @Nullable Instant deadline,
            @Nullable WaitReason waitReason,
            boolean unparks) {}

    /**
     * Checks the values like those of a new job.
     *
     * @throws IllegalArgumentException if a job cannot have one of them
     */
    public JobChange {
        if (dueAt != null) {
            if (dueAt.isAfter(JobSpec.MAX_DUE)) {
                throw Bounds.refused("dueAt", dueAt, "at most " + JobSpec.MAX_DUE);
            }
            dueAt = dueAt.truncatedTo(ChronoUnit.MICROS);
        }
        if (priority != null) {
            Bounds.integer("priority", priority, JobSpec.MIN_PRIORITY, JobSpec.MAX_PRIORITY);
        }
        if (queue != null) {
            JobSpec.requireName("queue", queue);
        }
        if (payload != null) {
            // The builder checks size and NUL.
            JobSpec.builder("change", payload);
        }
    }

    /** Sets when the job may run next. */
    public JobChange at(Instant time) {
        return new JobChange(time, priority, queue, policy, payload);
    }

    /**
     * Sets the priority.
     *
     * @param level {@value JobSpec#MIN_PRIORITY} to {@value JobSpec#MAX_PRIORITY}
     * @throws IllegalArgumentException if {@code level} is outside these bounds
     */
    public JobChange withPriority(int level) {
        return new JobChange(dueAt, level, queue, policy, payload);
    }

    /**
     * Moves the job to another queue. It keeps its policy.
     *
     * @throws IllegalArgumentException if {@code name} does not have the form of {@link JobSpec#requireName}
     */
    public JobChange toQueue(String name) {
        return new JobChange(dueAt, priority, name, policy, payload);
    }

    /** Sets the retry policy. */
    public JobChange withPolicy(RetryPolicy other) {
        return new JobChange(dueAt, priority, queue, other, payload);
    }

    /**
     * Sets the payload.
     *
     * @param json JSON text of at most {@value JobSpec#MAX_PAYLOAD_BYTES} bytes
     * @throws IllegalArgumentException if the text is too long or contains NUL
     */
    public JobChange withPayload(String json) {
        return new JobChange(dueAt, priority, queue, policy, json);
    }

    /** Returns whether nothing changes. */
    public boolean isEmpty() {
        return equals(NONE);
    }

    /**
     * Decides what becomes of a job. Pure. A store calls it where nobody else can change or claim the job.
     *
     * @param now the store's time
     */
    public Changed applyTo(Job job, Instant now) {
        if (job.state() != JobState.PENDING) {
            return refused(job, job.state() == JobState.RUNNING ? Answer.RUNNING : Answer.ENDED);
        }
        if (dueAt != null && (waiting(job) == WaitReason.FOLLOW || job.isHeldByBatch())) {
            return refused(job, Answer.FOLLOWS);
        }
        Instant before = job.times().dueAt() == null ? now : job.times().dueAt();
        Instant due = dueAt == null ? before : dueAt;
        Instant deadline = policy == null ? job.times().deadline() : deadlineOf(job, policy);
        if (dueAt != null && dueAt.isBefore(now.truncatedTo(ChronoUnit.MICROS))) {
            return refused(job, Answer.PAST);
        }
        boolean bounds = dueAt != null || policy != null;
        if (bounds && deadline != null && !(deadline.isAfter(due) && deadline.isAfter(now))) {
            return refused(job, Answer.BEYOND_DEADLINE);
        }
        boolean moves = dueAt != null || queue != null;
        return new Changed(
                Answer.DONE, specOf(job), due, deadline, moves ? reason(job, due, now) : waiting(job), moves);
    }

    private static Changed refused(Job job, Answer why) {
        return new Changed(why, job.spec(), job.times().dueAt(), job.times().deadline(), waiting(job), false);
    }

    private static @Nullable WaitReason waiting(Job job) {
        return job.status().waitReason();
    }

    /** Returns the deadline that a policy gives the job; null if it gives none. */
    public static @Nullable Instant deadlineOf(Job job, RetryPolicy policy) {
        return policy.complete()
                .deadline()
                .toOptional()
                .map(length -> job.times().firstDueAt().plus(length).truncatedTo(ChronoUnit.MICROS))
                .orElse(null);
    }

    private JobSpec specOf(Job job) {
        JobSpec.Builder spec = job.spec().toBuilder();
        if (priority != null) {
            spec.priority(priority);
        }
        if (queue != null) {
            spec.queue(queue);
        }
        if (policy != null) {
            spec.policy(policy);
        }
        if (payload != null) {
            spec.payload(payload);
        }
        return spec.build();
    }

    /** A job that is moved is no longer parked, so the reason of the parking is gone. */
    private static WaitReason reason(Job job, Instant due, Instant now) {
        WaitReason before = Objects.requireNonNullElse(waiting(job), WaitReason.MANUAL);
        return switch (before) {
            case NEW, DELAYED -> due.isAfter(now) ? WaitReason.DELAYED : WaitReason.NEW;
            case RETRY, SNOOZE, SLEEP, EVENT, BATCH, FOLLOW, MANUAL -> before;
            case BREAKER, BUDGET, NO_HANDLER -> WaitReason.MANUAL;
        };
    }

    /** Returns the detail for the audit log. The payload is not part of it. */
    public String detail() {
        List<String> parts = new ArrayList<>();
        if (dueAt != null) {
            parts.add("due at " + dueAt);
        }
        if (priority != null) {
            parts.add("priority " + priority);
        }
        if (queue != null) {
            parts.add("to queue " + queue);
        }
        if (policy != null) {
            parts.add("another policy");
        }
        if (payload != null) {
            parts.add("payload edited");
        }
        return String.join(", ", parts);
    }
}
