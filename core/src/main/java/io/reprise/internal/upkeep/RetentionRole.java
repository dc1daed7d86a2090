// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.upkeep;

import io.reprise.internal.control.LiveSettings;
import io.reprise.internal.engine.Driver;
import io.reprise.internal.engine.EngineParts;
import io.reprise.internal.engine.WorkerSettings;
import io.reprise.job.JobState;
import io.reprise.settings.DefaultSettings;
import io.reprise.store.JobStore;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
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
    private record Kind(Supplier<@Nullable Duration> age, Deletion delete, BatchSize size) {}

    /** Deletes rows that are older than the age, and returns how many. */
    private interface Deletion {
        int upTo(Duration age, int rows);
    }

    public RetentionRole(EngineParts parts) {
        this.driver = parts.driver();
        JobStore store = parts.store();
        WorkerSettings settings = parts.settings();
        LiveSettings live = parts.live();
        Set<JobState> ended = Set.of(JobState.SUCCEEDED, JobState.CANCELLED);
        this.kinds = List.of(
                kind(() -> keep(settings, live).finished(), (age, rows) -> store.prune(ended, age, rows)),
                kind(
                        () -> keep(settings, live).failed(),
                        (age, rows) -> store.prune(Set.of(JobState.FAILED), age, rows)),
                kind(() -> keep(settings, live).audit(), store::pruneAudit));
    }

    private static Kind kind(Supplier<@Nullable Duration> age, Deletion delete) {
        return new Kind(age, delete, new BatchSize(1_000, 10_000));
    }

    /** Returns how long things are kept: as the fleet's settings say, otherwise as the worker was started. */
    public static WorkerSettings.Keep keep(WorkerSettings settings, LiveSettings live) {
        DefaultSettings.Keep told = live.now().defaults().keep();
        WorkerSettings.Keep own = settings.keep();
        return new WorkerSettings.Keep(
                told.finished() == null ? own.finished() : told.finished(),
                told.failed() == null ? own.failed() : told.failed(),
                told.audit() == null ? own.audit() : told.audit());
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
            Duration age = kind.age.get();
            more |= age != null && delete(kind, age);
        }
        return more ? Duration.ofNanos((driver.nanos() - began) / REST) : INTERVAL;
    }

    /**
     * Returns whether there may be more. Another worker may delete rows of the same batch, so only an
     * empty batch is the last.
     */
    private boolean delete(Kind kind, Duration age) {
        int rows = kind.size.rows();
        long began = driver.nanos();
        int deleted = kind.delete.upTo(age, rows);
        if (deleted == rows) {
            kind.size.took(driver.nanos() - began);
        }
        return deleted > 0;
    }
}
