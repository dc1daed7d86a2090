// SPDX-License-Identifier: Apache-2.0
package io.reprise.job;

/**
 * The answer to a request to cancel a job.
 *
 * @since 0.1.0
 */
public enum Cancellation {
    /** The job was pending and is CANCELLED now. */
    DONE,
    /**
     * The job is running. Its worker learns of the request with its next renewal, within about 2 seconds. The job ends
     * CANCELLED unless it succeeds first.
     */
    REQUESTED,
    /** The job was already in a terminal state. Nothing changed. */
    TOO_LATE,
    /** There is no such job. */
    MISSING
}
