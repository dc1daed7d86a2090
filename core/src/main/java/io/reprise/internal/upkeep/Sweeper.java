// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.upkeep;

import io.reprise.internal.engine.Driver;
import io.reprise.internal.engine.EngineParts;
import io.reprise.internal.engine.StoreClock;
import io.reprise.store.JobStore;
import java.time.Duration;

/**
 * Does the upkeep that no job waits for: it follows the store's clock, judges alerts and calls
 * {@code JobStore.maintain} every minute. One piece of the leader's upkeep.
 */
public final class Sweeper implements UpkeepRole.Piece {

    private static final Duration INTERVAL = Duration.ofSeconds(1);
    private static final Duration UPKEEP = Duration.ofMinutes(1);

    private final JobStore store;
    private final Driver driver;
    private final StoreClock clock;
    private final AlertWatch alerts;
    private long nextUpkeepNanos;

    public Sweeper(EngineParts parts, AlertWatch alerts) {
        this.store = parts.store();
        this.driver = parts.driver();
        this.clock = parts.clock();
        this.alerts = alerts;
        this.nextUpkeepNanos = parts.driver().nanos();
    }

    @Override
    public String name() {
        return "sweeper";
    }

    @Override
    public Duration work() {
        long asked = driver.nanos();
        clock.heard(store.now(), asked);
        alerts.look();
        upkeep();
        return INTERVAL;
    }

    private void upkeep() {
        if (driver.nanos() - nextUpkeepNanos < 0) {
            return;
        }
        store.maintain();
        nextUpkeepNanos = driver.nanos() + UPKEEP.toNanos();
    }
}
