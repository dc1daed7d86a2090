// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import java.time.Duration;

/**
 * A delay that a policy drew for one retry.
 *
 * @param raw the delay without jitter: the backoff curve, cut at the cap. For decorrelated jitter, which has no curve,
 *     the longest delay possible
 * @param value the delay to wait, after jitter, cap, rounding and minimum
 */
record Delay(Duration raw, Duration value) {}
