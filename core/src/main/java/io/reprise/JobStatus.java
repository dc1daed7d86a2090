// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.retry.FailReason;
import io.reprise.retry.Prediction;
import org.jspecify.annotations.Nullable;

/**
 * How a job stands.
 *
 * @param waitReason set exactly while PENDING
 * @param failReason set exactly when FAILED
 * @param lastError what ended the latest failed run, if any
 * @param result JSON given by the handler; only ever set when SUCCEEDED
 * @param holder who runs it; set exactly while RUNNING
 * @param prediction what the fleet's experience says of the next attempt; in jobs found through {@link Reprise}, after a
 *     failure, if enough is known
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

    /** As a store knows it: stores predict nothing. */
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

    JobStatus with(@Nullable Prediction next) {
        return new JobStatus(state, waitReason, failReason, lastError, progress, result, holder, next);
    }

    JobStatus withResult(@Nullable String other) {
        return new JobStatus(state, waitReason, failReason, lastError, progress, other, holder, prediction);
    }

    /** The latest failure in brief; the attempts hold the rest. */
    public record LastError(String type, @Nullable String message, String fingerprint) {}

    /** The worker that runs a job, its fencing token, and whether it was asked to stop. */
    public record Holder(String worker, long token, boolean cancelRequested) {}
}
