// SPDX-License-Identifier: Apache-2.0
package io.reprise.failure;

import io.reprise.retry.FailReason;
import io.reprise.retry.LossRule;
import io.reprise.retry.RetryPolicy;

/**
 * The kind of trouble that ended an attempt. It decides whether a retry can help, and whether the job is to blame.
 *
 * <p>A {@link Rule} can assign the first five. Only the engine assigns LOST, INTERRUPTED and UNREADABLE.
 *
 * @since 0.1.0
 */
public enum FailureClass {
    /**
     * The trouble may go away by itself. Rules set it, and it is the class of a failure that no rule matches, unless
     * {@link RetryPolicy#unclassified(FailureClass)} says otherwise. The job is retried and the attempt counts.
     */
    TRANSIENT,
    /**
     * The other side asked for fewer calls, for instance with HTTP status 429. The job is retried, not sooner than
     * {@code Retry-After} asks, up to {@link RetryPolicy#retryAfterCap(Duration)}. The attempt counts.
     */
    THROTTLED,
    /**
     * The other side is unreachable or does not work. The job is retried and the attempt counts. By default the breaker
     * of the resource counts the failure; when it opens, it holds jobs of this resource.
     */
    DEPENDENCY_DOWN,
    /**
     * Another attempt would fail in the same way. Rules, {@link NonRetryable} or the handler set it. The job becomes a
     * dead letter with {@link FailReason#PERMANENT}; a person fixes the cause and replays it.
     */
    PERMANENT,
    /**
     * The attempt ran longer than the timeout of the job. The engine sets it, and a rule may. The job is retried, or
     * fails with {@link FailReason#PERMANENT} under {@code retryTimeouts(false)}. By default the breaker of the
     * resource counts it.
     */
    TIMEOUT,
    /**
     * The worker disappeared and its lease expired. The leader sets it when it takes over the lease. {@link LossRule}
     * decides whether the loss counts and when the job is quarantined.
     */
    LOST,
    /**
     * The worker stopped, or lost its lease, while the handler ran. The engine sets it. The attempt is given back
     * unspent and the job is due again at once.
     */
    INTERRUPTED,
    /**
     * The payload could not be decoded, so the handler did not run. The worker sets it. The job becomes a dead letter
     * with {@link FailReason#UNREADABLE}; a person replays it with another payload.
     */
    UNREADABLE
}
