// SPDX-License-Identifier: Apache-2.0
package io.reprise;

/** Where a job stands. The last three are terminal: nothing moves a job on from there but a person's replay. */
public enum JobState {
    /** Waits for its due time or for a free worker; {@link WaitReason} says why. */
    PENDING,
    /** Held by a worker under a lease. */
    RUNNING,
    /** Its handler ended well. */
    SUCCEEDED,
    /** A dead letter: given up, with a {@link io.reprise.retry.FailReason}. Stays until replayed, discarded or pruned. */
    FAILED,
    /** Ended on request. */
    CANCELLED;

    public boolean isTerminal() {
        return this == SUCCEEDED || this == FAILED || this == CANCELLED;
    }
}
