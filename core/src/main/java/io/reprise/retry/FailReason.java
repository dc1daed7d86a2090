// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

/**
 * Why a job is FAILED: a dead letter with no further attempt. A dead letter stays until a person retries, replays or
 * discards it, or until retention prunes it, if retention is set for dead letters.
 *
 * <p>A manual retry and a replay start a new deadline. See {@code Operations.retry} and {@code Operations.replay}.
 *
 * @since 0.1.0
 */
public enum FailReason {
    /**
     * The job spent every attempt that its policy allows. The policy sets it after the last attempt failed. A person
     * can grant more attempts, reset the counters, force one attempt, or replay the job.
     */
    EXHAUSTED,
    /**
     * The failure is of a class that no retry cures: the policy classified it as PERMANENT, the handler said so, or the
     * run timed out under {@code retryTimeouts(false)}. A person fixes the cause and replays the job. A plain manual
     * retry is refused; a forced one is not.
     */
    PERMANENT,
    /**
     * The deadline of the job passed, or the next attempt would start at the deadline or later. The policy sets it
     * after a failed run; the leader sets it for jobs that wait. A person can retry or replay the job, which starts a
     * new deadline.
     */
    DEADLINE,
    /**
     * The job lost its worker too often ({@link LossRule#max}), the last time as the only suspect of that worker. The
     * leader sets it when it takes over the expired lease. A person looks at the workers' logs, for instance for an
     * OutOfMemoryError, and then retries or replays the job.
     */
    QUARANTINED,
    /**
     * The payload could not be decoded, so the handler did not run. The worker sets it. A person replays the job with
     * another payload, or deploys code that reads the payload and replays it. A plain manual retry is refused; a forced
     * one is not.
     */
    UNREADABLE,
    /**
     * The job would be retried, but retries are switched off for the worker that ran it
     * ({@code retriesEnabled(false)}). That worker sets it. A person can retry the job when retries are on again.
     */
    DISABLED,
    /**
     * Retries of this error almost never succeed, and {@link RetryPolicy#giveUpBelow} says to give up in that case. The
     * policy sets it. A person fixes the cause and retries the job.
     */
    HOPELESS,
    /**
     * The job would be retried, but a retry budget could not pay for it and its overflow is FAIL. The worker that ran the
     * job sets it. A person can retry the job, which costs no credit.
     */
    BUDGET,
    /**
     * A step that runs at most once has started, and nobody knows how it ended. The worker sets it. A person finds out
     * and says so by {@code Operations.resolveStep}: done, run again, or failed. A plain manual retry is refused.
     */
    UNKNOWN_OUTCOME;

    /**
     * Returns whether a plain manual retry of a job that failed for this reason can be accepted: false for EXHAUSTED,
     * PERMANENT, UNREADABLE and UNKNOWN_OUTCOME.
     */
    public boolean isRetryable() {
        return this != EXHAUSTED && this != PERMANENT && this != UNREADABLE && this != UNKNOWN_OUTCOME;
    }
}
