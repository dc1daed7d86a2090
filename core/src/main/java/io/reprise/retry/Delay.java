// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import java.time.Duration;

/**
 * A delay as drawn.
 *
 * @param raw what it would be without jitter: the backoff curve, held at the cap
 * @param value the delay to wait, after jitter, cap, rounding and minimum
 */
public record Delay(Duration raw, Duration value) {}
