// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.jobs;

import io.reprise.jdbc.sql.Dialect;
import io.reprise.jdbc.sql.Params;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.jdbc.sql.SqlTime;
import io.reprise.jdbc.sql.UniqueKeyTaken;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Jobs that wait for the end of the job that holds their unique key. A transaction locks the row of the follower first,
 * then the job. A row may outlive the wait of its job; it is removed when somebody meets it.
 */
public final class Followers {

    private static final String OF = """
            select job_id
              from reprise_follower
             where follows = ?
            """;

    private static final String ADD = """
            insert into reprise_follower (follows, job_id)
            values (?, ?)
            """;

    private static final String REMOVE = """
            delete from reprise_follower
             where follows = ? and job_id = ?
            """;

    private static final String WAITS = """
            select delay_us, asked_at
              from reprise_job
             where id = ? and wait_reason = 'FOLLOW' and due_at is not null
            {for_update}
            """;

    private static final String QUEUE = "select queue from reprise_job where id = ?";

    // MySQL assigns from left to right.
    private static final String HOLD_BACK = """
            update reprise_job
               set unique_key = :held, key_rule = 'FOLLOW', wait_reason = 'FOLLOW',
                   deadline = deadline - first_due_at + :due, first_due_at = :due, due_at = :due
             where id = :id
            """;

    private static final String FREE = """
            select f.follows, f.job_id
              from reprise_follower f
             where not exists (select 1 from reprise_job j where j.unique_key = f.follows and j.due_at is not null)
             order by f.follows
             limit ?
            """;

    private static final String LET_GO = """
            update reprise_job
               set unique_key = :key, wait_reason = :reason,
                   deadline = deadline - first_due_at + :due, first_due_at = :due, due_at = :due
             where id = :id
            """;

    /** Begins the codes of violated constraints. */
    private static final String INTEGRITY = "23";

    private Followers() {}

    /** A job that may go: its key is free. */
    public record Free(String key, JobId job) {}

    /** Returns the key that a caller gave, from the one that is stored. */
    static @Nullable String shown(@Nullable String stored) {
        return stored == null || !stored.endsWith(JobSpec.FOLLOWING)
                ? stored
                : stored.substring(0, stored.length() - JobSpec.FOLLOWING.length());
    }

    /** Returns the job that waits behind this key. Removes a row whose job waits no more. */
    static Optional<JobId> of(Session session, String key) throws SQLException {
        Optional<JobId> job = JobInserts.latest(session, OF, row -> new JobId(row.number()), key, false);
        if (job.isPresent() && !waits(session, job.get())) {
            session.update(REMOVE, key, job.get());
            return Optional.empty();
        }
        return job;
    }

    private static boolean waits(Session session, JobId job) throws SQLException {
        return session.first(session.dialect().sql(WAITS), row -> true, job).isPresent();
    }

    /** Writes that a job is to follow. Returns false if another transaction was faster. */
    static boolean add(Session session, String key, long job) throws SQLException {
        return session.dialect().insertUnlessThere(session, ADD, key, job) == 1;
    }

    /** Lets a job wait that was stored without its key. */
    static long holdBack(Session session, String key, JobId job) throws SQLException {
        long due = session.now() + SqlTime.of(JobSpec.MAX_DELAY);
        session.update(
                HOLD_BACK,
                Params.of("held", key + JobSpec.FOLLOWING).and("due", due).and("id", job));
        return due;
    }

    /** Returns jobs whose key is free. */
    public static List<Free> free(Session session, int limit) throws SQLException {
        return session.list(FREE, row -> new Free(row.text(), new JobId(row.number())), limit);
    }

    /**
     * Lets a job go. Returns false if it waits no more.
     *
     * @throws UniqueKeyTaken if another job has the key now
     */
    public static boolean letGo(Session session, Free free) throws SQLException {
        // Changes by hand read and write under this lock.
        Optional<String> queue = session.first(QUEUE, SqlRow::text, free.job);
        if (queue.isPresent()) {
            session.dialect().lockQueue(session, queue.get());
            if (!session.first(QUEUE, SqlRow::text, free.job).equals(queue)) {
                return false;
            }
        }
        if (session.update(REMOVE, free.key, free.job) == 0) {
            return false;
        }
        record Asked(@Nullable Long delay, @Nullable Long at) {}
        Dialect dialect = session.dialect();
        Optional<Asked> asked =
                session.first(dialect.sql(WAITS), row -> new Asked(row.numberOrNull(), row.numberOrNull()), free.job);
        if (asked.isEmpty()) {
            return false;
        }
        if (JobInserts.isHeld(session, free.key)) {
            throw new UniqueKeyTaken();
        }
        long now = session.now();
        Long delay = asked.get().delay;
        Long at = asked.get().at;
        long due = Math.max(now, at != null ? at : now + (delay == null ? 0 : delay));
        Params params = Params.of("key", free.key)
                .and("reason", due > now ? "DELAYED" : "NEW")
                .and("due", due)
                .and("id", free.job);
        try {
            return session.update(LET_GO, params) == 1;
        } catch (SQLException e) {
            if (String.valueOf(e.getSQLState()).startsWith(INTEGRITY)) {
                throw new UniqueKeyTaken();
            }
            throw e;
        }
    }
}
