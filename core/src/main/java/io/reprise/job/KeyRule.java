// SPDX-License-Identifier: Apache-2.0
package io.reprise.job;

/**
 * The rule for enqueueing when a live job, pending or running, holds the unique key already. A key is free again when
 * its job ends.
 *
 * @since 0.1.0
 */
public enum KeyRule {
    /** Returns the id of the job that holds the key, and stores nothing. The default. */
    KEEP,
    /** Refuses with {@link DuplicateKeyException}. No job of the call is stored. */
    REJECT,

    /**
     * Replaces the waiting job: it keeps its id and counters, and gets the new payload, priority, policy, due time and
     * options. A parked job is unparked. If the holder is running, the call is refused with
     * {@link DuplicateKeyException}.
     */
    REPLACE
}
