// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.chaos;

/** A fault, or an action of a person during the run. */
public enum Fault {
    /** A worker dies at any point. */
    CRASH,
    /** A worker dies while its next outcomes are written: before, or just after. */
    CRASH_IN_SETTLE,
    /** A worker freezes, and its clock goes on: a garbage collection. */
    FREEZE,
    /** A worker freezes with its clock: a suspended machine. */
    SUSPEND,
    /** A worker cannot reach the store. */
    PARTITION,
    /** No worker can reach the store. */
    OUTAGE,
    /** A worker's clock leaps ahead. */
    CLOCK_LEAP,
    /** Workers are woken several times without work. */
    WAKE,
    /** A worker is stopped in an orderly way and started again, perhaps with other settings. */
    ROLLOUT,
    /** A queue is paused for a while. */
    QUEUE_PAUSE,
    /** A queue is limited for a while. */
    QUEUE_LIMIT,
    /** A breaker is forced open for a while. */
    BREAKER_FORCED,
    /** A job is cancelled. */
    CANCEL,
    /** A person retries a dead letter or a waiting job. */
    RETRY,
    /** A dead letter is replayed, perhaps under a new id. */
    REPLAY,
    /** An ended job is discarded. */
    DISCARD,
    /** A call takes a moment, in which others act. */
    CALL_DELAYED,
    /** A call takes longer than it should, perhaps longer than a lease. */
    CALL_SLOW,
    /** A call fails without an effect. */
    CALL_FAILED_BEFORE,
    /** A call fails although it took effect. */
    CALL_FAILED_AFTER,
    /** A job kills its worker. */
    POISON;

    /** Whether it affects single calls, by chance. */
    boolean isOfCalls() {
        return this == CALL_DELAYED || this == CALL_SLOW || this == CALL_FAILED_BEFORE || this == CALL_FAILED_AFTER;
    }
}
