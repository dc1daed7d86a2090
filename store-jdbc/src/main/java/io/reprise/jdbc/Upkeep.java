// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.Job;
import io.reprise.JobState;
import io.reprise.retry.FailReason;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** What ends and deletes jobs because of their age. */
final class Upkeep {

    // The index on deadlines of live jobs serves it.
    private static final String OVERDUE = """
            select id, queue
              from reprise_job
             where deadline is not null and due_at is not null and deadline <= {now}
               and id not in (select h.id from reprise_held h) and not queue {in}
             order by deadline
             limit ?
            """;

    // Under the queues' locks: of these, the ones that were neither claimed nor moved to another queue meanwhile.
    private static final String STILL_OVERDUE = """
            select id
              from reprise_job
             where id {in} and queue {in} and due_at is not null and deadline <= {now}
               and id not in (select h.id from reprise_held h)
            """;

    // The index on states and finish times serves it.
    private static final String OLD = """
            select id
              from {finished}
             where {ended} = '{state}' and finished_at is not null and finished_at <= ?
             order by finished_at
             limit ?
            """;

    private final Jobs jobs;

    Upkeep(Jobs jobs) {
        this.jobs = jobs;
    }

    private record Overdue(long id, String queue) {}

    /** Passes the queues that somebody has locked: a caller's transaction may keep them so for long. */
    List<Job> expire(Session session, int limit) throws SQLException {
        Dialect dialect = session.dialect();
        Set<String> busy = new HashSet<>();
        Set<String> locked = new HashSet<>();
        List<Overdue> overdue = List.of();
        while (locked.isEmpty()) {
            overdue = session.list(
                    dialect.sql(OVERDUE),
                    row -> new Overdue(row.number(), row.text()),
                    busy.toArray(String[]::new),
                    limit);
            if (overdue.isEmpty()) {
                return List.of();
            }
            for (String queue : overdue.stream().map(Overdue::queue).distinct().toList()) {
                (dialect.tryLockQueue(session, queue) ? locked : busy).add(queue);
            }
        }
        long[] ids = overdue.stream().mapToLong(Overdue::id).sorted().toArray();
        List<Long> still = session.list(dialect.sql(STILL_OVERDUE), Row::number, ids, locked.toArray(String[]::new));
        return jobs.find(session, Endings.end(session, still, JobState.FAILED, FailReason.DEADLINE));
    }

    static int prune(Session session, Set<JobState> states, Duration age, int limit) throws SQLException {
        long before = session.now() - Micros.of(age);
        List<Long> old = new ArrayList<>();
        for (JobState state : states.stream().sorted().toList()) {
            int left = limit - old.size();
            old.addAll(
                    state == JobState.SUCCEEDED
                            ? Retention.takeOld(session, before, left)
                            : findOld(session, state, before, left));
        }
        return Endings.delete(session, old, before);
    }

    private static List<Long> findOld(Session session, JobState state, long before, int limit) throws SQLException {
        return session.list(oldSql(session.dialect(), state), Row::number, before, limit);
    }

    static String oldSql(Dialect dialect, JobState state) {
        return dialect.sql(OLD.replace("{state}", state.name()));
    }
}
