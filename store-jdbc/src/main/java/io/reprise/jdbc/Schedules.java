// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.JobId;
import io.reprise.JobSpec;
import io.reprise.store.Inserted;
import io.reprise.store.Note;
import io.reprise.store.StoredSchedule;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Schedules by name. */
final class Schedules {

    private static final Logger log = LoggerFactory.getLogger("io.reprise");

    private static final String PUT = """
            insert into reprise_schedule (name, rule, next_at, {spec})
            values (?, ?, ?, {spec_values})
            {on_conflict (name)}
                   next_at = case when reprise_schedule.rule = {new.rule} then reprise_schedule.next_at
                                  else {new.next_at} end,
                   rule = {new.rule}, queue = {new.queue}, type = {new.type}, priority = {new.priority},
                   payload = {new.payload}, policy = {new.policy}, delay_us = {new.delay_us},
                   asked_at = {new.asked_at}, resource = {new.resource}, tags = {new.tags},
                   unique_key = {new.unique_key}, key_rule = {new.key_rule},
                   idempotency_key = {new.idempotency_key}, timeout_us = {new.timeout_us},
                   schedule = {new.schedule}
            """;

    private static final String ALL = """
            select name, rule, paused, next_at, last_job, {spec}
              from reprise_schedule
             order by name
            """;

    // Compares and moves in one statement, which locks the row: of two that fire the same time, one changes nothing.
    private static final String MOVE = """
            update reprise_schedule
               set next_at = ?
             where name = ? and next_at = ? and paused = {false}
            """;

    private final Policies policies;
    private final Specs specs;
    private final Inserts inserts;

    Schedules(Policies policies, Specs specs, Inserts inserts) {
        this.policies = policies;
        this.specs = specs;
        this.inserts = inserts;
    }

    void put(Session session, String name, String rule, JobSpec job, Instant nextAt) throws SQLException {
        policies.store(session, List.of(job.policy()));
        session.update(
                session.dialect().sql(PUT),
                Inserts.concat(new Object[] {name, rule, Micros.of(nextAt)}, specs.values(job)));
    }

    static boolean remove(Session session, String name) throws SQLException {
        return session.update("delete from reprise_schedule where name = ?", name) == 1;
    }

    static boolean pause(Session session, String name, boolean paused, Note note) throws SQLException {
        boolean found = session.update("update reprise_schedule set paused = ? where name = ?", paused, name) == 1;
        if (found) {
            Audit.write(session, paused ? "pause-schedule" : "resume-schedule", null, name, note, null);
        }
        return found;
    }

    List<StoredSchedule> all(Session session) throws SQLException {
        return session.list(session.dialect().sql(ALL), row -> read(row, session));
    }

    private StoredSchedule read(Row row, Session session) throws SQLException {
        String name = row.text();
        String rule = row.text();
        boolean paused = row.flag();
        Instant nextAt = row.instant();
        Long last = row.numberOrNull();
        Specs.Read read = specs.read(row, session);
        if (read.damage() != null && !paused) {
            log.error("Schedule {} does not fire, because its job is damaged: {}", name, read.damage());
        }
        // Shown, so that it can be put right, but not fired.
        boolean rests = paused || read.damage() != null;
        return new StoredSchedule(name, rule, read.spec(), rests, nextAt, last == null ? null : new JobId(last));
    }

    Optional<List<Inserted>> fire(Session session, String name, Instant dueAt, Instant nextAt, List<JobSpec> jobs)
            throws SQLException {
        if (session.update(session.dialect().sql(MOVE), Micros.of(nextAt), name, Micros.of(dueAt)) == 0) {
            return Optional.empty();
        }
        List<Inserted> inserted = jobs.isEmpty() ? List.of() : inserts.insert(session, jobs);
        if (!inserted.isEmpty()) {
            JobId last = inserted.get(inserted.size() - 1).id();
            session.update("update reprise_schedule set last_job = ? where name = ?", last, name);
        }
        return Optional.of(inserted);
    }
}
