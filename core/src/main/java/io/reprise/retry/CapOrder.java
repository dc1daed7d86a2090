// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

/**
 * The order of cap and jitter. The default is {@link #CAP_JITTER_CAP}.
 *
 * <p>In the JSON of a policy the names are {@code cap-then-jitter}, {@code jitter-then-cap} and {@code cap-jitter-cap}.
 *
 * @since 0.1.0
 */
public enum CapOrder {
    /**
     * The curve is capped, then jitter is applied. {@link Jitter.Proportional} can exceed the cap; no other jitter can.
     */
    CAP_THEN_JITTER,
    /**
     * The delay is drawn, then cut at the cap. If the whole range is above the cap, every delay is exactly the cap.
     * Then jobs that failed together come back together.
     */
    JITTER_THEN_CAP,
    /**
     * The curve is capped, the range of the jitter is cut at the cap, then the delay is drawn. Delays are spread below
     * the cap and never exceed it.
     */
    CAP_JITTER_CAP
}
