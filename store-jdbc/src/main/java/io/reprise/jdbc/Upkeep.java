// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.Job;
import io.reprise.JobState;
import io.reprise.retry.FailReason;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What ends and deletes jobs because of their age. */
final class Upkeep {

    // The index on deadlines of live jobs serves it.
    private static final String OVERDUE = """
            select id, queue, deadline
              from reprise_job
             where deadline is not null and due_at is not null and deadline <= {now}
               and id not in (select h.id from reprise_held h) and not queue {in}
             order by deadline
             limit ?
            """;

    // What somebody else is changing is passed. By the primary key: the sum keeps the index on deadlines out of it.
    private static final String LOCK = """
            select id, queue
              from reprise_job {by primary}
             where id {in} and due_at is not null and deadline + 0 <= {now}
             order by id
            {skip_locked}
            """;

    // Under the locks of their rows: of these, the ones that no claim has taken.
    private static final String FREE = """
            select id
              from reprise_job {by primary}
             where id {in} and id not in (select h.id from reprise_held h)
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

    /** A job whose deadline has passed. */
    record Overdue(long id, String queue, long deadline) {}

    /** The first jobs past their deadlines, but for those in some queues. */
    static List<Overdue> overdue(Session session, Set<String> without, int limit) throws SQLException {
        session.dialect().preferIndexes(session);
        return session.list(
                session.dialect().sql(OVERDUE),
                row -> new Overdue(row.number(), row.text(), row.number()),
                without.toArray(String[]::new),
                limit);
    }

    /** Fails those of these jobs that nobody holds. Claims do not wait for it: it locks rows that no claim takes. */
    List<Job> expire(Session session, List<Overdue> overdue) throws SQLException {
        Dialect dialect = session.dialect();
        dialect.preferIndexes(session);
        Map<Long, String> queues = new HashMap<>();
        overdue.forEach(job -> queues.put(job.id, job.queue));
        List<Job> expired = new ArrayList<>();
        for (long[] ids :
                dialect.pieces(overdue.stream().mapToLong(Overdue::id).sorted().toArray())) {
            // One that moved to another queue meanwhile may be under a claim that cannot be seen.
            long[] locked =
                    session
                            .list(dialect.sql(LOCK), row -> new Overdue(row.number(), row.text(), 0), (Object) ids)
                            .stream()
                            .filter(job -> job.queue.equals(queues.get(job.id)))
                            .mapToLong(Overdue::id)
                            .toArray();
            List<Long> free = session.list(dialect.sql(FREE), Row::number, (Object) locked);
            expired.addAll(jobs.find(session, Endings.end(session, free, JobState.FAILED, FailReason.DEADLINE)));
        }
        return expired;
    }

    static int prune(Session session, Set<JobState> states, Duration age, int limit) throws SQLException {
        long before = session.now() - Micros.of(age);
        List<Long> old = old(session, states, before, limit);
        int deleted = Endings.delete(session, old, before).size();
        // All of a batch may be gone or revived: then it says nothing about those behind it.
        while (deleted == 0 && !old.isEmpty()) {
            old = old(session, states, before, limit);
            deleted = Endings.delete(session, old, before).size();
        }
        return deleted;
    }

    private static List<Long> old(Session session, Set<JobState> states, long before, int limit) throws SQLException {
        List<Long> old = new ArrayList<>();
        for (JobState state : states.stream().sorted().toList()) {
            int left = limit - old.size();
            if (left > 0) {
                old.addAll(
                        state == JobState.SUCCEEDED
                                ? Retention.takeOld(session, before, left)
                                : findOld(session, state, before, left));
            }
        }
        return old;
    }

    private static List<Long> findOld(Session session, JobState state, long before, int limit) throws SQLException {
        return session.list(oldSql(session.dialect(), state), Row::number, before, limit);
    }

    static String oldSql(Dialect dialect, JobState state) {
        return dialect.sql(OLD.replace("{state}", state.name()));
    }
}
