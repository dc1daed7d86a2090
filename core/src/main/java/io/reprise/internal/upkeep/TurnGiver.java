// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.upkeep;

import io.reprise.internal.engine.Driver;
import io.reprise.internal.engine.EngineParts;
import io.reprise.store.JobStore;
import java.time.Duration;

/**
 * Gives delayed jobs and retries of groups their turn when they form a backlog. One piece of the leader's upkeep: it
 * calls {@code JobStore.giveTurns} in batches. Without a backlog such jobs run in the order of their due times, and
 * nothing is written for them.
 */
public final class TurnGiver implements UpkeepRole.Piece {

    private static final Duration INTERVAL = Duration.ofSeconds(1);
    private static final Duration WAITED = Duration.ofSeconds(1);

    private final JobStore store;
    private final Driver driver;
    private final BatchSize size = new BatchSize(500, 5_000);

    public TurnGiver(EngineParts parts) {
        this.store = parts.store();
        this.driver = parts.driver();
    }

    @Override
    public String name() {
        return "turns";
    }

    @Override
    public Duration work() {
        int rows = size.rows();
        long began = driver.nanos();
        int given = store.giveTurns(WAITED, rows);
        if (given < rows) {
            return INTERVAL;
        }
        size.took(driver.nanos() - began);
        return Duration.ZERO;
    }
}
