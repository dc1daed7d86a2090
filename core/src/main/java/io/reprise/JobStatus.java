// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.retry.FailReason;
import org.jspecify.annotations.Nullable;

/**
 * How a job stands.
 *
 * @param waitReason set exactly while PENDING
 * @param failReason set exactly when FAILED
 * @param lastError what ended the latest failed run, if any
 * @param result JSON given by the handler; only ever set when SUCCEEDED
 * @param holder who runs it; set exactly while RUNNING
 */
public record JobStatus(
        JobState state,
        @Nullable WaitReason waitReason,
        @Nullable FailReason failReason,
        @Nullable LastError lastError,
        @Nullable Progress progress,
        @Nullable String result,
        @Nullable Holder holder) {

    JobStatus withResult(@Nullable String other) {
        return new JobStatus(state, waitReason, failReason, lastError, progress, other, holder);
    }

    /** The latest failure in brief; the attempts hold the rest. */
    public record LastError(String type, @Nullable String message, String fingerprint) {}

    /** The worker that runs a job, its fencing token, and whether it was asked to stop. */
    public record Holder(String worker, long token, boolean cancelRequested) {}
}
