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
    REPLACE,

    /**
     * Runs once more after the holder. If the holder has begun, which includes a wait for a retry, for an event or in a
     * sleep, the new job is stored behind it, and becomes due when the holder has ended, however it ended. There is at
     * most one such job: later requests replace it, as under {@link #REPLACE}. If the holder has not begun, it is
     * replaced itself.
     *
     * <p>A delay of the job that follows counts from the end of the holder. The leading worker lets it go, within about
     * a second.
     */
    FOLLOW
}
