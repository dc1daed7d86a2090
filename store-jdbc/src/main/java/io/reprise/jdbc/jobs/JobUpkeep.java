// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.jobs;

import io.reprise.jdbc.sql.Dialect;
import io.reprise.jdbc.sql.Endings;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.jdbc.sql.SqlTime;
import io.reprise.job.Job;
import io.reprise.job.JobState;
import io.reprise.retry.FailReason;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Ends and deletes jobs because of their age. */
public final class JobUpkeep {

    // The index reprise_job_deadline serves it.
    private static final String OVERDUE = """
            select id, queue, deadline
              from reprise_job
             where deadline is not null and due_at is not null and deadline <= {now}
               and id not in (select h.id from reprise_held h) and not queue {in ?}
             order by deadline
             limit ?
            """;

    // Skips rows that another transaction is changing. The primary key serves it; "+ 0" keeps
    // reprise_job_deadline from serving it.
    private static final String LOCK = """
            select id, queue
              from reprise_job {by primary}
             where id {in ?} and due_at is not null and deadline + 0 <= {now}
             order by id
            {skip_locked}
            """;

    // Runs under the locks of these rows: the jobs that no claim has taken.
    private static final String FREE = """
            select id
              from reprise_job {by primary}
             where id {in ?} and id not in (select h.id from reprise_held h)
            """;

    // The index on states and finish times serves it.
    private static final String OLD = """
            select id
              from {finished}
             where {ended} = '{state}' and finished_at is not null and finished_at < ?
             order by finished_at
             limit ?
            """;

    // The index reprise_job_late serves it.
    public static final String LATE = """
            select id
              from reprise_job
             where {late} <= ? and id not in (select h.id from reprise_held h)
             order by {late_order}
             limit ?
            """;

    // Skips rows that another transaction is changing. A job that was claimed meanwhile runs as before: the turn of a
    // job matters only while it waits.
    private static final String LOCK_LATE = """
            select id
              from reprise_job {by primary}
             where id {in ?} and due_at is not null and lane < 2
             order by id
            {skip_locked}
            """;

    private static final String GIVE = """
            update reprise_job {by primary}
               set turn_for = due_at
             where id {in ?} and due_at is not null
            """;

    // The index reprise_job_ready serves both: a few jumps, and then only jobs that are due. In the lane of retries a
    // job has a turn of its own only if it was due already.
    public static final String DUE_RETRIES = """
            select id
              from reprise_job
             where queue = ? and lane = 1 and priority in (-9, -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
               and turn = '' and due_at <= ?
             limit ?
            """;

    public static final String TURNED_RETRIES = """
            select id
              from reprise_job
             where queue = ? and lane = 1 and priority in (-9, -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
               and turn > '' and due_at <= ?
             limit ?
            """;

    // Not those that have failed again meanwhile and wait for a later time.
    private static final String LOCK_RETRIES = """
            select id
              from reprise_job {by primary}
             where id {in ?} and due_at is not null and lane = 1 and due_at <= {now}
             order by id
            {skip_locked}
            """;

    // MySQL sets one column after the other, so the due time comes last.
    private static final String LINE_UP = """
            update reprise_job {by primary}
               set lane = 0, turn_for = case when first_due_at < due_at then first_due_at else turn_for end,
                   due_at = case when first_due_at < due_at then first_due_at else due_at end
             where id {in ?} and due_at is not null
            """;

    private static final String MIX = """
            update reprise_job {by primary}
               set lane = 0
             where id {in ?} and due_at is not null
            """;

    private final JobRows jobs;

    public JobUpkeep(JobRows jobs) {
        this.jobs = jobs;
    }

    /** A job whose deadline has passed. */
    record Overdue(long id, String queue, long deadline) {}

    /** Returns the first jobs past their deadlines, except those in some queues. */
    static List<Overdue> overdue(Session session, Set<String> without, int limit) throws SQLException {
        session.dialect().preferIndexes(session);
        return session.list(
                session.dialect().sql(OVERDUE),
                row -> new Overdue(row.number(), row.text(), row.number()),
                without.toArray(String[]::new),
                limit);
    }

    /**
     * Fails those of these jobs that no lease holds. Claims do not wait for it, because it locks
     * rows that no claim takes.
     */
    List<Job> expire(Session session, List<Overdue> overdue) throws SQLException {
        Dialect dialect = session.dialect();
        dialect.preferIndexes(session);
        Map<Long, String> queues = new HashMap<>();
        overdue.forEach(job -> queues.put(job.id, job.queue));
        List<Job> expired = new ArrayList<>();
        for (long[] ids :
                dialect.pieces(overdue.stream().mapToLong(Overdue::id).sorted().toArray())) {
            // A job that has moved to another queue may be under a claim that is not visible.
            long[] locked =
                    session
                            .list(dialect.sql(LOCK), row -> new Overdue(row.number(), row.text(), 0), (Object) ids)
                            .stream()
                            .filter(job -> job.queue.equals(queues.get(job.id)))
                            .mapToLong(Overdue::id)
                            .toArray();
            List<Long> free = session.list(dialect.sql(FREE), SqlRow::number, (Object) locked);
            expired.addAll(jobs.find(session, Endings.end(session, free, JobState.FAILED, FailReason.DEADLINE)));
        }
        return expired;
    }

    public static boolean isAnyLate(Session session, Duration waited) throws SQLException {
        session.dialect().preferIndexes(session);
        return session.first(session.dialect().sql(LATE), SqlRow::number, session.now() - SqlTime.of(waited), 1)
                .isPresent();
    }

    /** Gives jobs their turn that were due before this time. Returns how many. */
    public static int giveTurns(Session session, Duration waited, int limit) throws SQLException {
        Dialect dialect = session.dialect();
        dialect.preferIndexes(session);
        long[] late =
                session.list(dialect.sql(LATE), SqlRow::number, session.now() - SqlTime.of(waited), limit).stream()
                        .mapToLong(Long::longValue)
                        .sorted()
                        .toArray();
        int given = 0;
        for (long[] ids : dialect.pieces(late)) {
            long[] locked = session.list(dialect.sql(LOCK_LATE), SqlRow::number, (Object) ids).stream()
                    .mapToLong(Long::longValue)
                    .toArray();
            given += locked.length == 0 ? 0 : session.update(dialect.sql(GIVE), (Object) locked);
        }
        return given;
    }

    public static boolean isAnyRetryDue(Session session, String queue) throws SQLException {
        session.dialect().preferIndexes(session);
        return !dueRetries(session, queue, 1).isEmpty();
    }

    private static List<Long> dueRetries(Session session, String queue, int limit) throws SQLException {
        Dialect dialect = session.dialect();
        long now = session.now();
        List<Long> ids = new ArrayList<>(session.list(dialect.sql(DUE_RETRIES), SqlRow::number, queue, now, limit));
        if (ids.size() < limit) {
            ids.addAll(session.list(dialect.sql(TURNED_RETRIES), SqlRow::number, queue, now, limit - ids.size()));
        }
        return ids;
    }

    /** Puts due retries into the lane of fresh jobs. Returns how many. */
    public static int lineUp(Session session, String queue, boolean byCreation, int limit) throws SQLException {
        Dialect dialect = session.dialect();
        dialect.preferIndexes(session);
        long[] due = dueRetries(session, queue, limit).stream()
                .mapToLong(Long::longValue)
                .sorted()
                .toArray();
        int moved = 0;
        for (long[] ids : dialect.pieces(due)) {
            long[] locked = session.list(dialect.sql(LOCK_RETRIES), SqlRow::number, (Object) ids).stream()
                    .mapToLong(Long::longValue)
                    .toArray();
            moved += locked.length == 0 ? 0 : session.update(dialect.sql(byCreation ? LINE_UP : MIX), (Object) locked);
        }
        return moved;
    }

    public static int prune(Session session, Set<JobState> states, Duration age, int limit) throws SQLException {
        long before = session.now() - SqlTime.of(age);
        List<Long> old = old(session, states, before, limit);
        int deleted = Endings.delete(session, old, before).size();
        // All jobs of a batch may be deleted or requeued. Then the next batch is tried.
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
                                ? FinishedRetention.takeOld(session, before, left)
                                : findOld(session, state, before, left));
            }
        }
        return old;
    }

    private static List<Long> findOld(Session session, JobState state, long before, int limit) throws SQLException {
        return session.list(oldSql(session.dialect(), state), SqlRow::number, before, limit);
    }

    public static String oldSql(Dialect dialect, JobState state) {
        return dialect.sql(OLD.replace("{state}", state.name()));
    }
}
