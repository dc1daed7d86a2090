// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import io.reprise.store.StoreException;
import java.time.Duration;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How long a role rests after the database failed it: longer each time, with full jitter, until it is well again. Says
 * so in the log once when trouble begins and once when it is over.
 */
final class OutageRest {

    private static final Logger log = LoggerFactory.getLogger("io.reprise.engine");
    private static final long BASE_MILLIS = 100;
    private static final long CAP_MILLIS = 5_000;

    private final String role;
    private final RandomGenerator random;
    private int failures;

    OutageRest(String role, RandomGenerator random) {
        this.role = role;
        this.random = random;
    }

    Duration failed(StoreException e) {
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

    void worked() {
        if (failures > 0) {
            log.info("The {} reaches the store again after {} failures", role, failures);
            failures = 0;
        }
    }
}
