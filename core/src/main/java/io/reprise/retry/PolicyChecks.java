// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import io.reprise.text.Bounds;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Refuses fields that contradict each other within one layer.
 *
 * <p>Only policies built in code are checked here. Layers that are correct by themselves can contradict each other when
 * they are combined, at a time when nobody reads an error. A stored combination must stay readable. So the arithmetic
 * gives every combination a meaning (the cap wins), and {@link RetryPlan#warnings} names the odd ones.
 */
final class PolicyChecks {

    private PolicyChecks() {}

    /**
     * Refuses a contradiction that this change made. A contradiction that layers made before is not the fault of this
     * caller.
     */
    static void together(PolicyFields before, PolicyFields after) {
        IllegalArgumentException contradiction = contradiction(after);
        if (contradiction != null && contradiction(before) == null) {
            throw contradiction;
        }
    }

    private static @Nullable IllegalArgumentException contradiction(PolicyFields fields) {
        Duration cap = fields.cap.toOptional().orElse(Bounds.MAX_DURATION);
        if (fields.minDelay != null && fields.minDelay.compareTo(cap) > 0) {
            return Bounds.refused("minDelay", fields.minDelay, "at most the cap, " + cap);
        }
        Jitter jitter = fields.jitter;
        if (fields.kind == BackoffKind.TABLE
                && (jitter instanceof Jitter.Decorrelated || jitter instanceof Jitter.BaseToRaw)) {
            return Bounds.refused("jitter", jitter.text(), "used with a backoff that has a base, not with a table");
        }
        return null;
    }
}
