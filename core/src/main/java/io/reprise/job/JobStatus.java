// SPDX-License-Identifier: Apache-2.0
package io.reprise.job;

import io.reprise.Reprise;
import io.reprise.retry.FailReason;
import io.reprise.retry.Prediction;
import org.jspecify.annotations.Nullable;

/**
 * The state of a job with its details. Immutable.
 *
 * @param state the state
 * @param waitReason why the job waits; null unless PENDING
 * @param failReason why the job failed for good; null unless FAILED
 * @param lastError the error of the latest failed run; null if no run failed
 * @param progress the latest progress that the handler reported; null if it reported none
 * @param result JSON text that the handler gave as result; null unless SUCCEEDED
 * @param holder the worker that runs the job; null unless RUNNING
 * @param prediction how the next attempt may end, from the experience of the fleet. Set only in jobs that are found
 *     through {@link Reprise}, after a failure, if enough is known
 * @since 0.1.0
 */
public record JobStatus(
        JobState state,
        @Nullable WaitReason waitReason,
        @Nullable FailReason failReason,
        @Nullable LastError lastError,
        @Nullable Progress progress,
        @Nullable String result,
        @Nullable Holder holder,
        @Nullable Prediction prediction) {

    /**
     * Creates a status without a prediction, for stores.
     *
     * @param state the state
     * @param waitReason why the job waits; null unless PENDING
     * @param failReason why the job failed for good; null unless FAILED
     * @param lastError the error of the latest failed run; null if no run failed
     * @param progress the latest progress that the handler reported; null if it reported none
     * @param result JSON text that the handler gave as result; null unless SUCCEEDED
     * @param holder the worker that runs the job; null unless RUNNING
     */
    public JobStatus(
            JobState state,
            @Nullable WaitReason waitReason,
            @Nullable FailReason failReason,
            @Nullable LastError lastError,
            @Nullable Progress progress,
            @Nullable String result,
            @Nullable Holder holder) {
        this(state, waitReason, failReason, lastError, progress, result, holder, null);
    }

    /** Returns this status with another prediction; null for none. */
    public JobStatus with(@Nullable Prediction next) {
        return new JobStatus(state, waitReason, failReason, lastError, progress, result, holder, next);
    }

    /** Returns this status with another result; null for none. */
    public JobStatus withResult(@Nullable String other) {
        return new JobStatus(state, waitReason, failReason, lastError, progress, other, holder, prediction);
    }

    /**
     * The latest failure in brief. {@link Reprise#attempts} has the whole failure.
     *
     * @param type class name of the exception
     * @param message its message, cut at 2,000 characters; null if there is none
     * @param fingerprint hash that is equal for occurrences of the same error
     */
    public record LastError(String type, @Nullable String message, String fingerprint) {}

    /**
     * The worker that runs a job.
     *
     * @param worker name of the worker
     * @param token fencing token of its lease
     * @param cancelRequested whether a person has cancelled the job
     */
    public record Holder(String worker, long token, boolean cancelRequested) {}
}
