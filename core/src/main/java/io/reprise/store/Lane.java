// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

/**
 * The group in which a waiting job competes within its queue. A store keeps it with the job, beside whether the job is
 * parked: no claim reads a parked job, and unparked it is in its lane again.
 *
 * @since 0.1.0
 */
public enum Lane {
    /** The job has no counted attempt, or is a retry that {@link JobStore#lineUp} put here. */
    FRESH,
    /**
     * The job has a counted attempt, or was unparked from a backlog. {@link ClaimRequest#retryShare} keeps a part of each
     * batch for this lane.
     */
    RETRY,
    /** The job was lost more than once, so that it may have killed its workers. See {@link Suspects}. */
    SUSPECT;

    /** Returns the lane after the job was unparked from a backlog. Then fresh jobs that arrive keep their share. */
    public Lane fromBacklog() {
        return this == FRESH ? RETRY : this;
    }
}
