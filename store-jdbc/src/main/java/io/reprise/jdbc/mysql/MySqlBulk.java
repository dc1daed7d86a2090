// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.mysql;

import io.reprise.jdbc.jobs.JobInserts;
import io.reprise.jdbc.jobs.SpecColumns;
import io.reprise.jdbc.sql.Dialect;
import io.reprise.jdbc.sql.Params;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.jdbc.sql.SqlTime;
import io.reprise.job.Enqueued;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Stores many jobs per statement. Ids and due times are computed here, because MySQL's inserts return no rows. */
public final class MySqlBulk implements JobInserts.Bulk {

    // Only the unique key can conflict, and its holder is a live job.
    static final String INSERT = """
            insert into reprise_job (id, created_at, due_at, first_due_at, deadline, wait_reason, {spec})
            values (?, ?, ?, ?, ?, ?, {spec_values})
            """;

    private static final String HELD = """
            select unique_key
              from reprise_job
             where unique_key {in ?}
            """;

    private static final String KNOWN = """
            select {key}
              from reprise_idempotency
             where {key} {in ?}
            """;

    private static final String REMEMBER = """
            insert into reprise_idempotency ({key}, job_id)
            values (?, ?)
            """;

    private static final String LIVE = """
            select created_at
              from reprise_job
             where id = ?
            for update
            """;

    // Keeps id, counters, token and lane, but unparks a parked job. The queue's lock keeps claims away.
    private static final String REPLACE = """
            update reprise_job
               set due_at = :due, first_due_at = :due, deadline = :due + :deadline_us, wait_reason = :reason,
                   lane = lane % 3, parked_by = null, {spec_set}
             where id = :id
            """;

    @Override
    public boolean isOneStatement(int jobs) {
        return jobs == 1;
    }

    @Override
    public List<Enqueued> insert(JobInserts inserts, Session session, List<JobSpec> jobs, boolean tells)
            throws SQLException {
        long id = ((MySqlDialect) session.dialect()).nextIds(jobs.size());
        long now = session.now();
        List<@Nullable Object[]> rows = new ArrayList<>(jobs.size());
        List<Enqueued> answers = new ArrayList<>(jobs.size());
        for (JobSpec job : jobs) {
            rows.add(row(inserts, job, id, now));
            answers.add(new Enqueued(new JobId(id), true, SqlTime.instant(SpecColumns.due(job, now))));
            id++;
        }
        session.updateEach(session.dialect().sql(INSERT), rows);
        return answers;
    }

    /**
     * Stores the jobs whose keys look free. If another transaction takes a key in between, everything is rolled back
     * and each job is stored alone. Not in a caller's transaction, which may not see the holder of a key.
     */
    @Override
    public JobInserts.@Nullable Tried insertKeyed(JobInserts inserts, Session session, List<JobSpec> jobs, int[] places)
            throws SQLException {
        if (session.isJoined()) {
            return null;
        }
        Savepoint before = session.connection().setSavepoint();
        try {
            JobInserts.Tried tried = insertFree(inserts, session, jobs, places);
            session.connection().releaseSavepoint(before);
            return tried;
        } catch (SQLException e) {
            if (e.getErrorCode() == MySqlDialect.DUPLICATE) {
                session.connection().rollback(before);
                return null;
            }
            throw e;
        }
    }

    private static JobInserts.Tried insertFree(JobInserts inserts, Session session, List<JobSpec> jobs, int[] places)
            throws SQLException {
        Dialect dialect = session.dialect();
        Set<String> held = taken(session, dialect.sql(HELD), jobs.stream().map(JobSpec::key));
        Set<String> known = taken(
                session,
                dialect.sql(KNOWN),
                jobs.stream().flatMap(job -> Stream.of(job.idempotencyKey(), job.idempotencyProof())));
        JobInserts.Tried tried = new JobInserts.Tried(jobs.size());
        List<Integer> free = IntStream.range(0, jobs.size())
                .filter(i -> isFree(jobs.get(i), held, known))
                .boxed()
                .sorted(Comparator.comparing(i -> jobs.get(i).key(), Comparator.nullsFirst(Comparator.naturalOrder())))
                .toList();
        if (free.isEmpty()) {
            return tried;
        }
        // Some of the ids remain unused if keys are known.
        long firstId = ((MySqlDialect) dialect).nextIds(jobs.size());
        long now = session.now();
        List<@Nullable Object[]> keys = new ArrayList<>();
        List<@Nullable Object[]> rows = new ArrayList<>();
        for (int i : free) {
            JobSpec job = jobs.get(i);
            long id = firstId + places[i];
            for (String key : new @Nullable String[] {job.idempotencyKey(), job.idempotencyProof()}) {
                if (key != null) {
                    keys.add(new @Nullable Object[] {key, id});
                }
            }
            rows.add(row(inserts, job, id, now));
            tried.answers[i] = new Enqueued(new JobId(id), true, SqlTime.instant(SpecColumns.due(job, now)));
        }
        keys.sort(Comparator.comparing(row -> String.valueOf(row[0])));
        session.updateEach(dialect.sql(REMEMBER), keys);
        session.updateEach(dialect.sql(INSERT), rows);
        return tried;
    }

    private static Set<String> taken(Session session, String sql, Stream<@Nullable String> keys) throws SQLException {
        String[] asked = keys.filter(Objects::nonNull)
                .map(key -> Session.storable(String.valueOf(key)))
                .toArray(String[]::new);
        return asked.length == 0 ? Set.of() : new HashSet<>(session.list(sql, SqlRow::text, (Object) asked));
    }

    private static boolean isFree(JobSpec job, Set<String> held, Set<String> known) {
        return isFree(job.key(), held) && isFree(job.idempotencyKey(), known) && isFree(job.idempotencyProof(), known);
    }

    private static boolean isFree(@Nullable String key, Set<String> taken) {
        return key == null || !taken.contains(Session.storable(key));
    }

    private static @Nullable Object[] row(JobInserts inserts, JobSpec job, long id, long now) {
        long due = SpecColumns.due(job, now);
        Long deadline = SpecColumns.deadline(job);
        return JobInserts.concat(
                new @Nullable Object[] {id, now, due, due, deadline == null ? null : due + deadline, reason(due, now)},
                inserts.specs().values(job));
    }

    private static String reason(long due, long now) {
        return due > now ? "DELAYED" : "NEW";
    }

    /** Looks for a holder first: an insert that fails locks the holder's key until the transaction ends. */
    @Override
    public Optional<Enqueued> insertOne(JobInserts inserts, Session session, JobSpec spec, @Nullable Long id)
            throws SQLException {
        String key = spec.key();
        if (key != null && JobInserts.isHeld(session, key)) {
            return Optional.empty();
        }
        Dialect dialect = session.dialect();
        long given = id == null ? dialect.nextId(session) : id;
        long now = session.now();
        boolean stored = dialect.insertUnlessThere(session, dialect.sql(INSERT), row(inserts, spec, given, now)) == 1;
        return stored
                ? Optional.of(new Enqueued(new JobId(given), true, SqlTime.instant(SpecColumns.due(spec, now))))
                : Optional.empty();
    }

    @Override
    public Optional<Enqueued> replace(JobInserts inserts, Session session, JobSpec spec, JobId id) throws SQLException {
        Optional<Long> created = session.first(LIVE, SqlRow::number, id);
        if (created.isEmpty()) {
            return Optional.empty();
        }
        long now = session.now();
        Long latest = SqlTime.ofNullable(spec.atLatest());
        long asked = SpecColumns.due(spec, now);
        long due = latest == null ? asked : Math.max(now, Math.min(asked, created.get() + latest));
        Params params = inserts.specs()
                .params(spec)
                .and("due", due)
                .and("deadline_us", SpecColumns.deadline(spec))
                .and("reason", reason(due, now))
                .and("id", id);
        session.update(session.dialect().sql(REPLACE), params);
        return Optional.of(new Enqueued(id, false, SqlTime.instant(due)));
    }
}
