// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.sqlite;

import io.reprise.jdbc.jobs.JobInserts;
import io.reprise.jdbc.jobs.SpecColumns;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.jdbc.sql.SqlTime;
import io.reprise.job.Enqueued;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.KeyRule;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Stores jobs with keys in SQLite, as many per statement as {@link SqliteBulk} does without keys. A statement
 * has a fixed number of rows. If there are fewer jobs, the last job is repeated; its row conflicts with
 * itself and does nothing.
 */
final class SqliteKeyed {

    private static final int ROWS = SqliteBulk.ROWS;

    // There is one writer, so no other transaction adds keys during this one.
    private static final String REMEMBER = """
            insert into reprise_idempotency (key, job_id)
            values {rows}
            on conflict do nothing
            returning job_id
            """.replace("{rows}", repeated("(?, ?)"));

    static final String INSERT =
            """
            insert into reprise_job (
              created_at, due_at, first_due_at, deadline, wait_reason, queue, type, priority, policy,
              id, payload, unique_key, key_rule, idempotency_key)
            values {rows}
            on conflict do nothing
            returning id
            """.replace("{rows}", repeated("(?1, ?1, ?1, ?2, 'NEW', ?3, ?4, ?5, ?6, ?, ?, ?, ?, ?)"));

    // The unique index reprise_job_unique serves it.
    private static final String HOLDERS = """
            select unique_key, id, due_at
              from reprise_job
             where unique_key in ({keys}) and due_at is not null
            """.replace("{keys}", repeated("?"));

    private record Keyed(int index, JobSpec spec, long id) {}

    private final JobInserts inserts;
    private final Session session;
    private final long now;
    private final JobInserts.Tried tried;
    private long nextId;

    SqliteKeyed(JobInserts inserts, Session session, int jobs) throws SQLException {
        this.inserts = inserts;
        this.session = session;
        this.now = session.now();
        this.nextId = session.dialect().nextId(session);
        this.tried = new JobInserts.Tried(jobs);
    }

    private static String repeated(String row) {
        return String.join(", ", Collections.nCopies(ROWS, row));
    }

    JobInserts.Tried tried() {
        return tried;
    }

    /**
     * Tries to store jobs that differ only in payload and keys, as many as a statement has rows.
     *
     * @param from index of the first job in the batch
     */
    void insert(List<JobSpec> alike, int from) throws SQLException {
        List<Keyed> all = new ArrayList<>();
        for (int n = 0; n < ROWS; n++) {
            all.add(new Keyed(from + n, alike.get(n), nextId++));
        }
        Set<Long> remembered = remember(all, JobSpec::idempotencyKey);
        List<Keyed> free = all.stream()
                .filter(job -> job.spec.idempotencyKey() == null || remembered.contains(job.id))
                .toList();
        Set<Long> stored = free.isEmpty() ? Set.of() : store(free);
        List<Keyed> held = new ArrayList<>();
        for (Keyed job : free) {
            if (stored.contains(job.id)) {
                tried.answers[job.index] = new Enqueued(new JobId(job.id), true, SqlTime.instant(now));
            } else {
                tried.remembered[job.index] = job.spec.idempotencyKey() == null ? null : job.id;
                held.add(job);
            }
        }
        remember(free.stream().filter(job -> stored.contains(job.id)).toList(), JobSpec::idempotencyProof);
        findHolders(held);
    }

    /** Stores the keys. Returns the ids of the jobs whose key was free. */
    private Set<Long> remember(List<Keyed> jobs, Function<JobSpec, @Nullable String> key) throws SQLException {
        List<Keyed> keyed =
                jobs.stream().filter(job -> key.apply(job.spec) != null).toList();
        if (keyed.isEmpty()) {
            return Set.of();
        }
        @Nullable Object[] values = new @Nullable Object[2 * ROWS];
        for (int row = 0; row < ROWS; row++) {
            Keyed job = keyed.get(Math.min(row, keyed.size() - 1));
            values[2 * row] = key.apply(job.spec);
            values[2 * row + 1] = job.id;
        }
        return new HashSet<>(session.list(REMEMBER, SqlRow::number, values));
    }

    private Set<Long> store(List<Keyed> jobs) throws SQLException {
        List<@Nullable Object> values = new ArrayList<>();
        JobSpec first = jobs.get(0).spec;
        Long deadline = SpecColumns.deadline(first);
        values.add(now);
        values.add(deadline == null ? null : now + deadline);
        values.add(first.queue());
        values.add(first.type());
        values.add(first.priority());
        values.add(inserts.specs().values(first)[SpecColumns.POLICY]);
        for (int row = 0; row < ROWS; row++) {
            Keyed job = jobs.get(Math.min(row, jobs.size() - 1));
            values.add(job.id);
            values.add(job.spec.payload());
            values.add(job.spec.key());
            values.add(job.spec.key() == null ? null : job.spec.keyRule());
            values.add(job.spec.idempotencyKey());
        }
        return new HashSet<>(session.list(INSERT, SqlRow::number, values.toArray()));
    }

    /** Answers jobs with rule KEEP and without an idempotency key with the holder of their unique key. */
    private void findHolders(List<Keyed> jobs) throws SQLException {
        Map<String, Integer> kept = new HashMap<>();
        for (Keyed job : jobs) {
            String key = job.spec.key();
            if (key != null && job.spec.idempotencyKey() == null && job.spec.keyRule() == KeyRule.KEEP) {
                kept.put(Session.storable(key), job.index);
            }
        }
        if (kept.isEmpty()) {
            return;
        }
        List<String> keys = new ArrayList<>(kept.keySet());
        while (keys.size() < ROWS) {
            keys.add(keys.get(0));
        }
        session.list(
                HOLDERS,
                row -> {
                    int index = Objects.requireNonNull(kept.get(row.text()));
                    tried.answers[index] = JobInserts.inserted(row, false);
                    return index;
                },
                keys.toArray());
    }
}
