// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import io.reprise.JobState;
import io.reprise.store.JobStore;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/** Deletes what is older than it is to be kept, as fast as it comes. */
final class Retention implements UpkeepRole.Piece {

    private static final Duration INTERVAL = Duration.ofSeconds(10);

    /** Of the time that a batch took, so long nothing is deleted. */
    private static final int REST = 4;

    private final Driver driver;
    private final List<Kind> kinds;

    /** One kind of what grows old, with batches of its own size. */
    private record Kind(@Nullable Duration age, IntUnaryOperator delete, BatchSize size) {}

    Retention(EngineParts parts) {
        this.driver = parts.driver();
        JobStore store = parts.store();
        WorkerSettings.Keep keep = parts.settings().keep();
        Set<JobState> ended = Set.of(JobState.SUCCEEDED, JobState.CANCELLED);
        this.kinds = List.of(
                kind(keep.finished(), rows -> store.prune(ended, keep.finished(), rows)),
                kind(keep.failed(), rows -> store.prune(Set.of(JobState.FAILED), keep.requireFailed(), rows)),
                kind(keep.audit(), rows -> store.pruneAudit(keep.audit(), rows)));
    }

    private static Kind kind(@Nullable Duration age, IntUnaryOperator delete) {
        return new Kind(age, delete, new BatchSize(1_000, 10_000));
    }

    @Override
    public String name() {
        return "retention";
    }

    @Override
    public Duration work() {
        long began = driver.nanos();
        boolean more = false;
        for (Kind kind : kinds) {
            more |= kind.age != null && delete(kind);
        }
        return more ? Duration.ofNanos((driver.nanos() - began) / REST) : INTERVAL;
    }

    /** Returns whether there may be more: some of a batch may be gone already, so a small one is not yet the last. */
    private boolean delete(Kind kind) {
        int rows = kind.size.rows();
        long began = driver.nanos();
        int deleted = kind.delete.applyAsInt(rows);
        if (deleted == rows) {
            kind.size.took(driver.nanos() - began);
        }
        return deleted > 0;
    }
}
