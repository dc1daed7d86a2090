// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.engine;

import io.reprise.store.StoreException;
import java.time.Duration;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How long a role rests after a store call failed: up to twice as long each time, with full jitter, at most 5 seconds.
 * It logs the first failure and the recovery. Each role has its own and calls it from its step.
 */
public final class OutageRest {

    private static final Logger log = LoggerFactory.getLogger("io.reprise.engine");
    private static final long BASE_MILLIS = 100;
    private static final long CAP_MILLIS = 5_000;

    private final String role;
    private final RandomGenerator random;
    private int failures;

    public OutageRest(String role, RandomGenerator random) {
        this.role = role;
        this.random = random;
    }

    public Duration failed(StoreException e) {
        if (failures == 0) {
            log.warn("The {} cannot reach the store and tries again until it can: {}", role, e.getMessage(), e);
        } else {
            log.debug("The {} still cannot reach the store ({} failures): {}", role, failures + 1, e.getMessage());
        }
        long limit = Math.min(CAP_MILLIS, BASE_MILLIS << Math.min(failures, 10));
        failures++;
        return Duration.ofMillis(1 + random.nextLong(limit));
    }

    int failures() {
        return failures;
    }

    public void worked() {
        if (failures > 0) {
            log.info("The {} reaches the store again after {} failures", role, failures);
            failures = 0;
        }
    }
}
