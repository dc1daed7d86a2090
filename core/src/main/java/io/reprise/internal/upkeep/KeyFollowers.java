// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.upkeep;

import io.reprise.internal.engine.Driver;
import io.reprise.internal.engine.EngineParts;
import io.reprise.store.JobStore;
import java.time.Duration;

/**
 * Lets jobs go that waited under {@code KeyRule.FOLLOW} for the end of the job that held their key. One piece of the
 * leader's upkeep. It reads the store, so it misses no end of a job, also of one that another process wrote.
 */
public final class KeyFollowers implements UpkeepRole.Piece {

    private static final Duration INTERVAL = Duration.ofSeconds(1);

    private final JobStore store;
    private final Driver driver;
    private final Runnable wake;
    private final BatchSize size = new BatchSize(500, 5_000);

    public KeyFollowers(EngineParts parts, Runnable wake) {
        this.store = parts.store();
        this.driver = parts.driver();
        this.wake = wake;
    }

    @Override
    public String name() {
        return "followers";
    }

    @Override
    public Duration work() {
        int rows = size.rows();
        long began = driver.nanos();
        int freed = store.letFollow(rows);
        if (freed > 0) {
            wake.run();
        }
        if (freed < rows) {
            return INTERVAL;
        }
        size.took(driver.nanos() - began);
        return Duration.ZERO;
    }
}
