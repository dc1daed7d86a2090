// SPDX-License-Identifier: Apache-2.0
package io.reprise.testing;

import io.reprise.batch.BatchMember;
import io.reprise.batch.BatchState;
import io.reprise.batch.Membership;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.Page;
import io.reprise.job.RefusedException;
import io.reprise.job.WaitReason;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Counts the members of batches, and makes the jobs due that wait for their ends. */
final class MemoryBatches {

    /** The row of one batch. */
    private static final class Row {
        final Instant createdAt;
        final NavigableMap<Integer, BatchMember> members = new TreeMap<>();
        long total;
        long succeeded;
        long dead;
        long cancelled;

        @Nullable
        Instant closedAt;

        @Nullable
        Instant endedAt;

        @Nullable
        Instant succeededAt;

        @Nullable
        JobId onSuccess;

        @Nullable
        JobId onEnd;

        /** The job whose handler joins the members; null if a caller made the batch. */
        @Nullable
        JobId parent;

        Row(Instant createdAt) {
            this.createdAt = createdAt;
        }

        boolean hasOpen() {
            return total > succeeded + dead + cancelled;
        }

        void add(JobState state, int n) {
            switch (state) {
                case SUCCEEDED -> succeeded += n;
                case FAILED -> dead += n;
                case CANCELLED -> cancelled += n;
                default -> {}
            }
        }

        BatchState read(String name) {
            return new BatchState(
                    name,
                    total,
                    succeeded,
                    dead,
                    cancelled,
                    createdAt,
                    closedAt,
                    endedAt,
                    succeededAt,
                    onSuccess,
                    onEnd);
        }
    }

    private final MemoryTables tables;
    private final NavigableMap<String, Row> rows = new TreeMap<>();
    private InstantSource clock = InstantSource.system();

    MemoryBatches(MemoryTables tables) {
        this.tables = tables;
    }

    void use(InstantSource source) {
        clock = source;
    }

    boolean has(String name) {
        return rows.containsKey(name);
    }

    void create(String name, @Nullable JobId onSuccess, @Nullable JobId onEnd, Instant now) {
        Row row = new Row(now);
        row.onSuccess = onSuccess;
        row.onEnd = onEnd;
        rows.put(name, row);
    }

    /** Creates the batch of a join in place of an earlier one of the same step. */
    void join(JobId parent, List<JobSpec> children, Instant now) {
        Membership first = Membership.in(children.get(0));
        if (first != null) {
            String step = step(first.batch());
            rows.entrySet()
                    .removeIf(each -> parent.equals(each.getValue().parent)
                            && step(each.getKey()).equals(step));
            Row row = new Row(now);
            row.parent = parent;
            row.total = children.size();
            row.closedAt = now;
            rows.put(first.batch(), row);
        }
    }

    private static String step(String join) {
        return join.substring(join.indexOf('/', join.indexOf('/') + 1) + 1);
    }

    /** Whether nothing is open any more of the join that this step of the parent waits for. */
    boolean isJoined(JobId parent, String step) {
        return rows.entrySet().stream()
                .noneMatch(each -> parent.equals(each.getValue().parent)
                        && step(each.getKey()).equals(step)
                        && each.getValue().hasOpen());
    }

    /** Deletes the joins of a job whose steps were forgotten. Their children count no more. */
    void forgetUnused(StoredJob parent) {
        rows.entrySet()
                .removeIf(each ->
                        parent.id.equals(each.getValue().parent) && !parent.steps.containsKey(step(each.getKey())));
    }

    void forget(JobId parent) {
        rows.values().removeIf(row -> parent.equals(row.parent));
    }

    /** Refuses members that their batches do not take. */
    void check(List<JobSpec> specs) {
        for (JobSpec spec : specs) {
            Membership member = Membership.in(spec);
            if (member == null || member.isChild()) {
                continue;
            }
            Row row = rows.get(member.batch());
            if (row == null) {
                throw RefusedException.noBatch(member.batch());
            }
            if (spec.isSibling() ? row.endedAt != null : row.closedAt != null) {
                throw RefusedException.closedBatch(member.batch(), spec.isSibling());
            }
        }
    }

    void added(JobSpec spec) {
        Membership member = Membership.in(spec);
        Row row = member == null || member.isChild() ? null : rows.get(member.batch());
        if (row != null) {
            row.total++;
        }
    }

    /** Forgets a member as if it had never been stored. */
    void removed(JobSpec spec) {
        Membership member = Membership.in(spec);
        Row row = member == null || member.isChild() ? null : rows.get(member.batch());
        if (row != null) {
            row.total--;
        }
    }

    /** Counts a job that may have ended, or come back. */
    void moved(StoredJob job, JobState before) {
        Membership member = Membership.in(job.spec);
        if (member == null || before.isTerminal() == job.state.isTerminal()) {
            return;
        }
        Row row = rows.get(member.batch());
        if (row == null || !row.read(member.batch()).takes(job.createdAt)) {
            return;
        }
        if (before.isTerminal()) {
            row.add(before, -1);
            return;
        }
        row.add(job.state, 1);
        if (member.isChild()) {
            row.members.put(member.place(), new BatchMember(member.place(), job.id, job.state, job.result));
        }
        settle(row);
    }

    private void settle(Row row) {
        if (row.closedAt == null || row.hasOpen()) {
            return;
        }
        Instant now = clock.instant().truncatedTo(ChronoUnit.MICROS);
        boolean first = row.endedAt == null;
        row.endedAt = first ? now : row.endedAt;
        if (first) {
            follow(row.onEnd, now);
        }
        if (row.succeeded == row.total && row.succeededAt == null) {
            row.succeededAt = now;
            follow(row.onSuccess, now);
        }
        giveUp(row.cancelled > 0 && row.succeededAt == null ? waiting(row.onSuccess) : null, now);
        StoredJob parent = waiting(row.parent);
        if (parent != null && parent.dueAt.isAfter(now)) {
            tables.update(parent, () -> parent.dueAt = now);
        }
    }

    private @Nullable StoredJob waiting(@Nullable JobId id) {
        StoredJob job = id == null ? null : tables.jobs.get(id);
        return job != null && job.state == JobState.PENDING && job.waitReason == WaitReason.BATCH ? job : null;
    }

    /** Makes a job due that waited for a batch. Its deadline begins now. */
    private void follow(@Nullable JobId id, Instant now) {
        StoredJob job = waiting(id);
        if (job != null) {
            tables.update(job, () -> {
                job.deadline = job.deadline == null ? null : now.plus(Duration.between(job.firstDueAt, job.deadline));
                job.firstDueAt = now;
                job.dueAt = now;
            });
        }
    }

    Optional<BatchState> read(String name) {
        return Optional.ofNullable(rows.get(name)).map(row -> row.read(name));
    }

    Optional<BatchState> close(String name, Instant now) {
        Row row = rows.get(name);
        if (row == null) {
            return Optional.empty();
        }
        BatchState before = row.read(name);
        if (row.closedAt == null) {
            row.closedAt = now;
            settle(row);
        }
        return Optional.of(before);
    }

    Optional<BatchState> finish(String name, Instant now) {
        Row row = rows.get(name);
        if (row == null) {
            return Optional.empty();
        }
        BatchState before = row.read(name);
        if (before.isFinishable()) {
            row.succeededAt = now;
            follow(row.onSuccess, now);
        }
        return Optional.of(before);
    }

    Page<BatchState> page(String prefix, int limit, @Nullable String cursor) {
        List<BatchState> found = rows.entrySet().stream()
                .filter(row -> !Membership.isJoin(row.getKey()) && row.getKey().startsWith(prefix))
                .filter(row -> cursor == null || row.getKey().compareTo(cursor) > 0)
                .limit(limit + 1L)
                .map(row -> row.getValue().read(row.getKey()))
                .toList();
        boolean more = found.size() > limit;
        List<BatchState> items = more ? found.subList(0, limit) : found;
        return new Page<>(items, more ? items.get(limit - 1).name() : null);
    }

    List<BatchMember> members(String batch, int after, int limit) {
        Row row = rows.get(batch);
        return row == null
                ? List.of()
                : row.members.tailMap(after, false).values().stream()
                        .limit(limit)
                        .toList();
    }

    /**
     * Deletes batches that ended long ago, or that nobody closed, with the jobs that still wait for them. One with an open
     * member stays.
     */
    void prune(Instant now) {
        Map<String, Row> old = new HashMap<>();
        rows.forEach((name, row) -> {
            Instant since = row.closedAt == null ? row.createdAt : row.endedAt;
            if (row.parent == null && !row.hasOpen() && since != null && since.isBefore(now.minus(BatchState.KEPT))) {
                old.put(name, row);
            }
        });
        old.forEach((name, row) -> {
            rows.remove(name);
            giveUp(row.succeededAt == null ? waiting(row.onSuccess) : null, now);
            giveUp(row.endedAt == null ? waiting(row.onEnd) : null, now);
        });
    }

    private void giveUp(@Nullable StoredJob hopeless, Instant now) {
        if (hopeless != null) {
            tables.update(hopeless, () -> hopeless.finish(JobState.CANCELLED, now));
        }
    }
}
