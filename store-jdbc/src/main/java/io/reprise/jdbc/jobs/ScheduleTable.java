// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.jobs;

import io.reprise.jdbc.rows.AuditTable;
import io.reprise.jdbc.sql.Params;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.jdbc.sql.SqlTime;
import io.reprise.job.AuditNote;
import io.reprise.job.Enqueued;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.StoredSchedule;
import io.reprise.store.Firing;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads, writes and fires schedules in {@code reprise_schedule}. */
public final class ScheduleTable {

    private static final Logger log = LoggerFactory.getLogger("io.reprise");

    private static final String PUT = """
            insert into reprise_schedule (name, rule, next_at, {spec})
            values (?, ?, ?, {spec_values})
            {on_conflict (name)}
                   next_at = case when reprise_schedule.rule = {new.rule} then reprise_schedule.next_at
                                  else {new.next_at} end,
                   rule = {new.rule}, {spec_new}
            """;

    private static final String ALL = """
            select name, rule, paused, next_at, last_job, {spec}
              from reprise_schedule
             order by name
            """;

    private static final String ONE = """
            select name, rule, paused, next_at, last_job, {spec}
              from reprise_schedule
             where name = ?
            """;

    // The index reprise_schedule_due serves it.
    static final String DUE = """
            select name, rule, paused, next_at, last_job, {spec}
              from reprise_schedule
             where paused = {false} and next_at <= {now} and next_at >= :from and (next_at > :from or name > :name)
             order by next_at, name
             limit :max
            """;

    private static final String NEXT = """
            select min(next_at)
              from reprise_schedule
             where paused = {false} and next_at > {now}
            """;

    // Locks in the order of names. If two workers fire the same schedules, the second waits and then finds them moved.
    private static final String LOCK = """
            select name, next_at
              from reprise_schedule
             where name {in ?} and paused = {false}
             order by name
            {for_update}
            """;

    private static final String MOVE = """
            update reprise_schedule
               set next_at = ?, last_job = coalesce(?, last_job)
             where name = ?
            """;

    private final PolicyTable policies;
    private final SpecColumns specs;
    private final JobInserts inserts;

    public ScheduleTable(PolicyTable policies, SpecColumns specs, JobInserts inserts) {
        this.policies = policies;
        this.specs = specs;
        this.inserts = inserts;
    }

    public void put(Session session, String name, String rule, JobSpec job, Instant nextAt) throws SQLException {
        policies.store(session, List.of(job.policy()));
        session.update(
                session.dialect().sql(PUT),
                JobInserts.concat(new Object[] {name, rule, SqlTime.of(nextAt)}, specs.values(job)));
    }

    public static boolean remove(Session session, String name, @Nullable AuditNote note) throws SQLException {
        boolean found = session.update("delete from reprise_schedule where name = ?", name) == 1;
        if (found && note != null) {
            AuditTable.write(session, "delete-schedule", null, name, note, note.detail());
        }
        return found;
    }

    public static boolean pause(Session session, String name, boolean paused, AuditNote note) throws SQLException {
        boolean found = session.update("update reprise_schedule set paused = ? where name = ?", paused, name) == 1;
        if (found) {
            AuditTable.write(session, paused ? "pause-schedule" : "resume-schedule", null, name, note, null);
        }
        return found;
    }

    public List<StoredSchedule> all(Session session) throws SQLException {
        return session.list(session.dialect().sql(ALL), row -> read(row, session));
    }

    public Optional<StoredSchedule> find(Session session, String name) throws SQLException {
        return session.first(session.dialect().sql(ONE), row -> read(row, session), name);
    }

    public List<StoredSchedule> due(Session session, int limit, @Nullable StoredSchedule after) throws SQLException {
        long from = after == null ? Long.MIN_VALUE : SqlTime.of(after.nextAt());
        String name = after == null ? "" : after.name();
        return session.list(
                session.dialect().sql(DUE),
                row -> read(row, session),
                Params.of("from", from).and("name", name).and("max", limit));
    }

    public static Optional<Instant> nextFiring(Session session) throws SQLException {
        Long next = session.one(session.dialect().sql(NEXT), row -> Optional.ofNullable(row.numberOrNull()))
                .orElse(null);
        return next == null ? Optional.empty() : Optional.of(SqlTime.instant(next));
    }

    private StoredSchedule read(SqlRow row, Session session) throws SQLException {
        String name = row.text();
        String rule = row.text();
        boolean paused = row.flag();
        Instant nextAt = row.instant();
        Long last = row.numberOrNull();
        SpecColumns.Read read = specs.read(row, session);
        if (read.damage() != null && !paused) {
            log.error("Schedule {} does not fire, because its job is damaged: {}", name, read.damage());
        }
        // A damaged schedule is shown, so that a person can repair it, but it does not fire.
        boolean rests = paused || read.damage() != null;
        return new StoredSchedule(name, rule, read.spec(), rests, nextAt, last == null ? null : new JobId(last));
    }

    public List<Optional<List<Enqueued>>> fire(Session session, List<Firing> firings) throws SQLException {
        Map<String, Long> queuePosition = new HashMap<>();
        session.list(session.dialect().sql(LOCK), row -> queuePosition.put(row.text(), row.number()), (Object)
                firings.stream().map(Firing::schedule).toArray(String[]::new));
        List<Firing> still = firings.stream()
                .filter(firing -> Objects.equals(queuePosition.get(firing.schedule()), SqlTime.of(firing.dueAt())))
                .toList();
        List<JobSpec> jobs =
                still.stream().flatMap(firing -> firing.jobs().stream()).toList();
        Iterator<Enqueued> inserted = (jobs.isEmpty() ? List.<Enqueued>of() : inserts.insert(session, jobs)).iterator();
        Map<String, List<Enqueued>> fired = new HashMap<>();
        List<@Nullable Object[]> moves = new ArrayList<>();
        for (Firing firing : still) {
            List<Enqueued> own =
                    firing.jobs().stream().map(job -> inserted.next()).toList();
            fired.put(firing.schedule(), own);
            JobId last = own.isEmpty() ? null : own.get(own.size() - 1).id();
            moves.add(new @Nullable Object[] {SqlTime.of(firing.nextAt()), last, firing.schedule()});
        }
        if (!moves.isEmpty()) {
            session.updateEach(MOVE, moves);
        }
        return firings.stream()
                .map(firing -> Optional.ofNullable(fired.get(firing.schedule())))
                .toList();
    }
}
