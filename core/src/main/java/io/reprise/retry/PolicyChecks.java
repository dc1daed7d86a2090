// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Refuses fields that contradict each other within one layer.
 *
 * <p>Only policies built in code are checked here. Layers that are fine by themselves can combine to a contradiction,
 * at a time when nobody is there to read an error, and a stored combination must be readable; so the arithmetic gives
 * every combination a meaning (the cap wins), and {@link RetryPlan#warnings} names the ones that are odd.
 */
final class PolicyChecks {

    private PolicyChecks() {}

    /** Refuses a contradiction that the change brought in; one that layers made before is not this caller's fault. */
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
