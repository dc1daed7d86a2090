// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

/** What kind of trouble ended an attempt. It decides whether a retry can help and whose fault the failure is. */
public enum FailureClass {
    /** May go away by itself; retry. */
    TRANSIENT,
    /** The other side asked for fewer calls; retry, no sooner than it said. */
    THROTTLED,
    /** The other side is not reachable or not working; retry, and let a breaker count it. */
    DEPENDENCY_DOWN,
    /** The same attempt would fail the same way; do not retry. */
    PERMANENT,
    /** The attempt ran longer than the job allows; the policy says whether to retry. */
    TIMEOUT,
    /** The worker disappeared and the lease ran out; see {@link LossRule}. */
    LOST,
    /** The worker is shutting down; the attempt is given back unspent. */
    INTERRUPTED,
    /** The payload could not be decoded, so the handler never ran; do not retry. */
    UNREADABLE
}
