// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.chaos;

/** What can go wrong, or be done while things go on. */
public enum Fault {
    /** A worker dies, in the midst of whatever it does. */
    CRASH,
    /** A worker dies while its next outcomes are being written: before, or just after. */
    CRASH_IN_SETTLE,
    /** A worker stands still, and finds afterwards that time has passed: a garbage collection. */
    FREEZE,
    /** A worker stands still, and its clock with it: a suspended machine. */
    SUSPEND,
    /** A worker cannot reach the store. */
    PARTITION,
    /** Nobody can reach the store. */
    OUTAGE,
    /** A worker's clock leaps ahead. */
    CLOCK_LEAP,
    /** Workers are woken for nothing, several times. */
    WAKE,
    /** A worker is stopped in good order and started again, maybe with other settings. */
    ROLLOUT,
    /** A queue is paused for a while. */
    QUEUE_PAUSE,
    /** A queue is limited for a while. */
    QUEUE_LIMIT,
    /** A breaker is forced open for a while. */
    BREAKER_FORCED,
    /** A job is cancelled. */
    CANCEL,
    /** A dead letter or waiting job is retried by hand. */
    RETRY,
    /** A dead letter is replayed, maybe under a new id. */
    REPLAY,
    /** A job that has ended is discarded. */
    DISCARD,
    /** A call takes a moment, in which others act. */
    CALL_DELAYED,
    /** A call takes longer than it should, maybe longer than a lease. */
    CALL_SLOW,
    /** A call fails and has done nothing. */
    CALL_FAILED_BEFORE,
    /** A call fails although it has done what it should. */
    CALL_FAILED_AFTER,
    /** A job kills its worker. */
    POISON;

    /** Whether it happens to single calls, by chance. */
    boolean isOfCalls() {
        return this == CALL_DELAYED || this == CALL_SLOW || this == CALL_FAILED_BEFORE || this == CALL_FAILED_AFTER;
    }
}
