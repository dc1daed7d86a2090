// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

/** Whether the cap is applied before jitter, after it, or both. */
public enum CapOrder {
    /** Jitter is added to the capped delay, so a delay may exceed the cap. */
    CAP_THEN_JITTER,
    /** The drawn delay is cut at the cap; once the whole range is above it, every delay is exactly the cap. */
    JITTER_THEN_CAP,
    /** The range is cut at the cap and then drawn from: spread below the cap, and never above it. */
    CAP_JITTER_CAP
}
