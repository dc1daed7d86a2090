// SPDX-License-Identifier: Apache-2.0
package io.reprise.job;

import io.reprise.Reprise;
import io.reprise.RepriseBuilder;
import io.reprise.retry.FailReason;
import io.reprise.retry.RetryPolicy;
import java.time.Instant;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * One stored unit of work, as it was when it was read. A change of the stored job does not change this object.
 * Immutable.
 *
 * @param id identity of the job
 * @param spec the values that were fixed when the job was enqueued
 * @param status state of the job, with reason, last error, progress and result
 * @param counts number of runs, by how they ended
 * @param times due time, deadline and other times, by the store's clock
 * @since 0.1.0
 */
public record Job(JobId id, JobSpec spec, JobStatus status, JobCounts counts, JobTimes times) {

    private static final int MAX_ATTEMPTS = 1_000_000;

    /**
     * Returns a copy without payload, chain and result, which may be long. The payload of the copy is the JSON text
     * {@code null}, its chain and its result are null.
     */
    public Job brief() {
        return new Job(
                id, spec.toBuilder().payload("null").chain(null).build(), status.withResult(null), counts, times);
    }

    /** Returns the name of the job type. */
    public String type() {
        return spec.type();
    }

    /** Returns the name of the queue. */
    public String queue() {
        return spec.queue();
    }

    /** Returns the state. */
    public JobState state() {
        return status.state();
    }

    /** Returns whether this job waits for the end or the success of a batch. It is due when that comes, and not before. */
    public boolean isHeldByBatch() {
        return isHeldByBatch(status.waitReason(), times.dueAt());
    }

    /**
     * Returns whether a job waits for the end or the success of a batch.
     *
     * @param reason why the job waits; null if it does not
     * @param dueAt when it is due. The parent of a join, which waits for a batch too, is due earlier
     */
    public static boolean isHeldByBatch(@Nullable WaitReason reason, @Nullable Instant dueAt) {
        return reason == WaitReason.BATCH && JobSpec.MAX_DUE.equals(dueAt);
    }

    /**
     * Returns the policy that is stored with the job. Fields may be unset under {@link RepriseBuilder#livePolicies}.
     */
    public RetryPolicy policy() {
        return spec.policy();
    }

    /** Returns why the job failed for good; null unless the job is FAILED. */
    public @Nullable FailReason failReason() {
        return status.failReason();
    }

    /**
     * Returns the number of counted attempts so far. Interruptions and snoozes do not count; losses count if the stored
     * policy says so. See {@link JobCounts#spent}.
     */
    public int attempts() {
        return counts.spent(policy());
    }

    /**
     * Returns the number of attempts that the stored policy allows, with those that manual retries granted, 1,000,000
     * at most. Empty if unlimited. Under {@link RepriseBuilder#livePolicies} the worker's configuration may allow
     * another number; {@link Reprise#explain} knows it.
     */
    public OptionalInt maxAttempts() {
        Integer limit = policy().complete().maxAttempts().toOptional().orElse(null);
        return limit == null
                ? OptionalInt.empty()
                : OptionalInt.of((int) Math.min((long) limit + counts.granted(), MAX_ATTEMPTS));
    }

    /** Returns the number of retries so far, including a retry that the job waits for or that runs now. */
    public int retryCount() {
        return state().isTerminal() ? Math.max(0, attempts() - 1) : attempts();
    }

    /** Returns {@link #maxAttempts} less the first attempt. Empty if unlimited. */
    public OptionalInt maxRetries() {
        OptionalInt limit = maxAttempts();
        return limit.isPresent() ? OptionalInt.of(limit.getAsInt() - 1) : limit;
    }

    /**
     * Returns whether the job may have another counted attempt. False if it succeeded or was cancelled, if it failed
     * for a reason that {@linkplain FailReason#isRetryable bars a retry}, or if its attempts are spent. A plain manual
     * retry of a job for which this is false is refused.
     */
    public boolean isRetryable() {
        FailReason reason = failReason();
        boolean barred = reason != null && !reason.isRetryable();
        boolean over = state() == JobState.SUCCEEDED || state() == JobState.CANCELLED;
        if (barred || over) {
            return false;
        }
        OptionalInt most = maxAttempts();
        return most.isEmpty() || attempts() < most.getAsInt();
    }

    /** Returns when the next retry is due; null unless the job waits with reason {@link WaitReason#RETRY}. */
    public @Nullable Instant nextRetryAt() {
        return status.waitReason() == WaitReason.RETRY ? times.dueAt() : null;
    }

    /** Returns a short text for people, such as {@code Job 17 bill in queue default: FAILED (EXHAUSTED), 4 attempts}. */
    @Override
    public String toString() {
        Object why = state() == JobState.PENDING ? status.waitReason() : failReason();
        String due = state() == JobState.PENDING ? ", due " + times.dueAt() : "";
        JobStatus.LastError error = status.lastError();
        return "Job " + id + " " + type() + " in queue " + queue() + ": " + state()
                + (why == null ? "" : " (" + why + ")") + ", " + attempts()
                + (attempts() == 1 ? " attempt" : " attempts") + due
                + (error == null ? "" : ", last error " + error.type() + ": " + error.message());
    }
}
