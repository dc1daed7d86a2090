// SPDX-License-Identifier: Apache-2.0
package io.reprise.step;

import io.reprise.job.JobId;

/**
 * A step that a run writes while it goes on.
 *
 * @param job the job
 * @param token token of the lease under which the job runs
 * @param step the row
 * @since 0.1.0
 */
public record Checkpoint(JobId job, long token, StepWrite step) {

    /** The answer of the store. */
    public enum Answer {
        /** The row is stored, by this call or by an earlier one of the same run with the same content. */
        WRITTEN,
        /** The token is not live. Nothing was written. */
        STALE,
        /** Another row of this name is there. Nothing was written. */
        OTHER
    }
}
