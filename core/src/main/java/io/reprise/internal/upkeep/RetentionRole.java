// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.upkeep;

import io.reprise.internal.engine.Driver;
import io.reprise.internal.engine.EngineParts;
import io.reprise.internal.engine.WorkerSettings;
import io.reprise.job.JobState;
import io.reprise.store.JobStore;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Deletes ended jobs and audit entries that are older than the settings keep them. One piece of the leader's upkeep: it
 * calls {@code JobStore.prune} and {@code pruneAudit} in batches.
 */
public final class RetentionRole implements UpkeepRole.Piece {

    private static final Duration INTERVAL = Duration.ofSeconds(10);

    /** After each batch it rests for the time of the batch divided by this number. */
    private static final int REST = 4;

    private final Driver driver;
    private final List<Kind> kinds;

    /** One kind of row to delete, with its own batch size. */
    private record Kind(@Nullable Duration age, IntUnaryOperator delete, BatchSize size) {}

    public RetentionRole(EngineParts parts) {
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

    /**
     * Returns whether there may be more. Another worker may delete rows of the same batch, so only an
     * empty batch is the last.
     */
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
