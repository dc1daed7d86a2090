// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.postgres;

import io.reprise.jdbc.jobs.JobInserts;
import io.reprise.jdbc.jobs.SpecColumns;
import io.reprise.jdbc.sql.ColumnArrays;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.jdbc.sql.SqlTime;
import io.reprise.job.Enqueued;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.KeyRule;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyIn;

/**
 * Stores many jobs. Few jobs without keys are sent as arrays in one statement; COPY stores many, after their ids were
 * reserved. Few jobs with unique keys are sent as arrays too; a key that exists is skipped. COPY stores many of them if
 * their keys look free. If another transaction takes a key in between, the COPY is rolled back, and the jobs are sent
 * as arrays.
 */
public final class PostgresBulk implements JobInserts.Bulk {

    /** From this number on, COPY is worth its additional round trips. */
    private static final int COPY_FROM = 500;

    private static final String UNIQUE_VIOLATION = "23505";

    /** Columns before those of the spec. */
    private static final int FIRST_COLUMNS = 6;

    /** Columns of the spec, and the time from due time to deadline. */
    private static final List<ColumnArrays.Kind> KINDS = Stream.concat(
                    SpecColumns.KINDS.stream(), Stream.of(ColumnArrays.Kind.NUMBER))
            .toList();

    // Rows return in the order of the arrays, which is the order of insertion.
    private static final String INSERT = """
            insert into reprise_job (id, created_at, due_at, first_due_at, deadline, wait_reason, {spec})
            select nextval('reprise_job_id'), now, due_at, due_at, due_at + deadline_us,
                   case when due_at > now then 'DELAYED' else 'NEW' end, {spec}
              from (
                select t.now, greatest(t.now, coalesce(a.asked_at, t.now + coalesce(a.delay_us, 0))) as due_at, a.*
                  from (select reprise_now() as now) t
                  cross join unnest({arrays}) as a ({spec}, deadline_us)) x
            returning id, due_at
            """.replace("{arrays}", ColumnArrays.placeholders(KINDS));

    // Listeners receive it when the transaction commits.
    private static final String NOTIFY = "select pg_notify('" + PostgresWakeups.CHANNEL + "', '');\n";

    private static final String RESERVE = """
            select reprise_now(), array(select nextval('reprise_job_id') from generate_series(1, ?))
            """;

    private static final String COPY = """
            copy reprise_job (id, created_at, due_at, first_due_at, deadline, wait_reason, {spec})
            from stdin (format binary)
            """;

    // In the order of the array, so that keys are locked in their order.
    private static final String REMEMBER = """
            insert into reprise_idempotency (key, job_id)
            select a.key, a.id
              from unnest(?::text[], ?::bigint[]) as a (key, id)
            on conflict do nothing
            returning job_id
            """;

    // Only the unique key can conflict. Rows are inserted in the order of the arrays too.
    private static final String INSERT_KEYED = """
            insert into reprise_job (id, created_at, due_at, first_due_at, deadline, wait_reason, {spec})
            select new_id, now, due_at, due_at, due_at + deadline_us,
                   case when due_at > now then 'DELAYED' else 'NEW' end, {spec}
              from (
                select t.now, greatest(t.now, coalesce(a.asked_at, t.now + coalesce(a.delay_us, 0))) as due_at, a.*
                  from (select reprise_now() as now) t
                  cross join unnest({arrays}) as a (new_id, {spec}, deadline_us)) x
            on conflict do nothing
            returning id, due_at
            """.replace("{arrays}", ColumnArrays.placeholders(keyedKinds()));

    private static final String HOLDERS = """
            select unique_key, id, due_at
              from reprise_job
             where unique_key = any (?)
            """;

    private static List<ColumnArrays.Kind> keyedKinds() {
        return Stream.concat(Stream.of(ColumnArrays.Kind.NUMBER), KINDS.stream())
                .toList();
    }

    private record Keyed(int index, JobSpec spec, long id) {}

    @Override
    public JobInserts.Tried insertKeyed(JobInserts inserts, Session session, List<JobSpec> jobs, int[] places)
            throws SQLException {
        Reserved reserved = session.one(RESERVE, row -> new Reserved(row.number(), row.numbers()), jobs.size());
        JobInserts.Tried tried = new JobInserts.Tried(jobs.size());
        List<Keyed> all = new ArrayList<>();
        for (int i = 0; i < jobs.size(); i++) {
            all.add(new Keyed(i, jobs.get(i), reserved.ids.get(places[i])));
        }
        Set<Long> remembered = remember(session, all, JobSpec::idempotencyKey);
        List<Keyed> free = all.stream()
                .filter(job -> job.spec.idempotencyKey() == null || remembered.contains(job.id))
                .sorted(Comparator.comparing(
                        (Keyed job) -> job.spec.key(), Comparator.nullsFirst(Comparator.naturalOrder())))
                .toList();
        Map<String, Enqueued> held = lookAhead(session, free);
        List<Keyed> unheld = free.stream().filter(job -> !isHeld(job, held)).toList();
        Map<Long, Enqueued> stored = store(session, unheld, reserved.now, inserts.specs());
        for (Keyed job : free) {
            Enqueued answer =
                    isHeld(job, held) && isAnsweredByHolder(job) ? held.get(text(job.spec.key())) : stored.get(job.id);
            tried.answers[job.index] = answer;
            tried.remembered[job.index] = answer == null && job.spec.idempotencyKey() != null ? job.id : null;
        }
        remember(
                session, free.stream().filter(job -> stored.containsKey(job.id)).toList(), JobSpec::idempotencyProof);
        findHolders(session, free, tried);
        return tried;
    }

    /** Returns the holders of the keys, if there are so many keys that it is worth a look. */
    private static Map<String, Enqueued> lookAhead(Session session, List<Keyed> jobs) throws SQLException {
        List<Keyed> unique = jobs.stream().filter(job -> job.spec.key() != null).toList();
        if (!copies(session, unique.size())) {
            return Map.of();
        }
        session.dialect().preferIndexes(session);
        return holders(session, unique.stream().map(job -> text(job.spec.key())).toArray(String[]::new));
    }

    private static boolean isHeld(Keyed job, Map<String, Enqueued> held) {
        return job.spec.key() != null && held.containsKey(text(job.spec.key()));
    }

    /** Stores jobs whose idempotency key was free. Without a unique key nothing can conflict, so COPY stores many. */
    private static Map<Long, Enqueued> store(Session session, List<Keyed> jobs, long now, SpecColumns specs)
            throws SQLException {
        Map<Long, Enqueued> stored = new HashMap<>();
        Map<Boolean, List<Keyed>> byUse =
                jobs.stream().collect(Collectors.partitioningBy(job -> job.spec.key() == null));
        List<Keyed> plain = byUse.getOrDefault(true, List.of());
        List<Keyed> rest = jobs;
        if (copies(session, plain.size())) {
            copy(session, plain, now, specs)
                    .forEach(inserted -> stored.put(inserted.id().value(), inserted));
            rest = byUse.getOrDefault(false, List.of());
        }
        if (copies(session, rest.size())) {
            List<Enqueued> copied = tryCopy(session, rest, now, specs);
            copied.forEach(inserted -> stored.put(inserted.id().value(), inserted));
            rest = copied.isEmpty() ? rest : List.of();
        }
        if (!rest.isEmpty()) {
            session.list(
                            session.dialect().sql(INSERT_KEYED),
                            row -> JobInserts.inserted(row, true),
                            ColumnArrays.of(keyedKinds(), rest, job -> keyedValues(specs, job)))
                    .forEach(inserted -> stored.put(inserted.id().value(), inserted));
        }
        return stored;
    }

    /** Stores all of the jobs, or none and returns none if another transaction has taken a unique key. */
    private static List<Enqueued> tryCopy(Session session, List<Keyed> jobs, long now, SpecColumns specs)
            throws SQLException {
        Savepoint before = session.connection().setSavepoint();
        try {
            List<Enqueued> copied = copy(session, jobs, now, specs);
            session.connection().releaseSavepoint(before);
            return copied;
        } catch (SQLException e) {
            if (!UNIQUE_VIOLATION.equals(e.getSQLState())) {
                throw e;
            }
            session.connection().rollback(before);
            return List.of();
        }
    }

    private static List<Enqueued> copy(Session session, List<Keyed> jobs, long now, SpecColumns specs)
            throws SQLException {
        Reserved reserved = new Reserved(now, jobs.stream().map(Keyed::id).toList());
        return copy(session, jobs.stream().map(Keyed::spec).toList(), reserved, specs);
    }

    private static @Nullable Object[] keyedValues(SpecColumns specs, Keyed job) {
        return JobInserts.concat(
                new @Nullable Object[] {job.id},
                JobInserts.concat(specs.values(job.spec), new @Nullable Object[] {SpecColumns.deadline(job.spec)}));
    }

    /** Stores the keys. Returns the ids of the jobs whose key was free. */
    private static Set<Long> remember(Session session, List<Keyed> jobs, Function<JobSpec, @Nullable String> key)
            throws SQLException {
        List<Keyed> keyed = jobs.stream()
                .filter(job -> key.apply(job.spec) != null)
                .sorted(Comparator.comparing(job -> text(key.apply(job.spec))))
                .toList();
        return keyed.isEmpty()
                ? Set.of()
                : new HashSet<>(session.list(
                        REMEMBER,
                        SqlRow::number,
                        keyed.stream().map(job -> text(key.apply(job.spec))).toArray(String[]::new),
                        keyed.stream().mapToLong(Keyed::id).toArray()));
    }

    private static String text(@Nullable String key) {
        return Session.storable(Objects.requireNonNull(key));
    }

    /** Whether the job is answered with the holder of its unique key: with rule KEEP and without an idempotency key. */
    private static boolean isAnsweredByHolder(Keyed job) {
        return job.spec.idempotencyKey() == null && job.spec.keyRule() == KeyRule.KEEP;
    }

    /** Answers jobs whose unique key another transaction took. */
    private static void findHolders(Session session, List<Keyed> jobs, JobInserts.Tried tried) throws SQLException {
        Map<String, Integer> kept = new HashMap<>();
        for (Keyed job : jobs) {
            if (tried.answers[job.index] == null && isAnsweredByHolder(job)) {
                kept.put(text(job.spec.key()), job.index);
            }
        }
        if (!kept.isEmpty()) {
            holders(session, kept.keySet().toArray(String[]::new))
                    .forEach((key, holder) -> tried.answers[Objects.requireNonNull(kept.get(key))] = holder);
        }
    }

    private static Map<String, Enqueued> holders(Session session, String[] keys) throws SQLException {
        Map<String, Enqueued> holders = new HashMap<>();
        session.list(HOLDERS, row -> holders.put(row.text(), JobInserts.inserted(row, false)), (Object) keys);
        return holders;
    }

    @Override
    public boolean isOneStatement(int jobs) {
        return jobs < COPY_FROM;
    }

    @Override
    public List<Enqueued> insert(JobInserts inserts, Session session, List<JobSpec> jobs, boolean tells)
            throws SQLException {
        if (!copies(session, jobs.size())) {
            return insertArrays(session, jobs, inserts.specs(), tells);
        }
        Reserved reserved = session.one(RESERVE, row -> new Reserved(row.number(), row.numbers()), jobs.size());
        return copy(session, jobs, reserved, inserts.specs());
    }

    private static boolean copies(Session session, int jobs) {
        return jobs >= COPY_FROM && !session.isJoined();
    }

    private static List<Enqueued> insertArrays(Session session, List<JobSpec> jobs, SpecColumns specs, boolean tells)
            throws SQLException {
        String insert = session.dialect().sql(INSERT);
        Object[] arrays = ColumnArrays.of(
                KINDS,
                jobs,
                job -> JobInserts.concat(specs.values(job), new @Nullable Object[] {SpecColumns.deadline(job)}));
        return tells
                ? session.listOfLast(NOTIFY + insert, row -> JobInserts.inserted(row, true), arrays)
                : session.list(insert, row -> JobInserts.inserted(row, true), arrays);
    }

    private record Reserved(long now, List<Long> ids) {}

    private static List<Enqueued> copy(Session session, List<JobSpec> jobs, Reserved reserved, SpecColumns specs)
            throws SQLException {
        // The driver's timeout does not cover COPY. This setting ends with the transaction.
        session.list(
                "select set_config('statement_timeout', ?, true)",
                row -> 1,
                Integer.toString(session.timeoutSeconds() * 1_000));
        CopyIn copy = session.connection()
                .unwrap(PGConnection.class)
                .getCopyAPI()
                .copyIn(session.dialect().sql(COPY));
        try {
            List<Enqueued> answers = copy(copy, jobs, reserved, specs);
            copy.endCopy();
            return answers;
        } finally {
            if (copy.isActive()) {
                copy.cancelCopy();
            }
        }
    }

    private static List<Enqueued> copy(CopyIn copy, List<JobSpec> jobs, Reserved reserved, SpecColumns specs)
            throws SQLException {
        List<Enqueued> answers = new ArrayList<>(jobs.size());
        CopyRows rows = new CopyRows(copy);
        for (int i = 0; i < jobs.size(); i++) {
            JobSpec spec = jobs.get(i);
            long due = SpecColumns.due(spec, reserved.now);
            Long deadline = SpecColumns.deadline(spec);
            rows.begin(FIRST_COLUMNS + SpecColumns.KINDS.size());
            rows.number(reserved.ids.get(i));
            rows.number(reserved.now);
            rows.number(due);
            rows.number(due);
            rows.value(deadline == null ? null : due + deadline);
            rows.value(due > reserved.now ? "DELAYED" : "NEW");
            for (Object value : specs.values(spec)) {
                rows.value(value);
            }
            answers.add(new Enqueued(new JobId(reserved.ids.get(i)), true, SqlTime.instant(due)));
        }
        rows.end();
        return answers;
    }
}
