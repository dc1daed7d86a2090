// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.sql;

import io.reprise.batch.BatchTally;
import io.reprise.batch.Membership;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.retry.FailReason;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Ends jobs that are not running, and deletes ended jobs. The caller keeps claims of their queues away. */
public final class Endings {

    // The primary keys and the index reprise_idempotency_job serve these three.
    private static final String FORGET_ATTEMPTS = "{delete reprise_attempt by primary} where job_id {in ?}";

    private static final String FORGET_KEYS =
            "{delete reprise_idempotency by reprise_idempotency_job} where job_id {in ?}";

    private static final String FORGET_LOGS = "{delete reprise_log by primary} where job_id {in ?}";

    private static final String FORGET_STEPS = "{delete reprise_step by primary} where job_id {in ?}";

    private Endings() {}

    /**
     * A job that has ended or was deleted.
     *
     * @param member the batch of a job that has ended; null if it is in none, or was deleted
     */
    public record Gone(
            long id, String queue, JobState state, @Nullable Membership member) {}

    public static Gone gone(SqlRow row) throws SQLException {
        return new Gone(row.number(), row.text(), JobState.valueOf(row.text()), null);
    }

    /** Reads id, queue, and the column chain of a member of a batch. */
    public static Gone ended(SqlRow row, JobState state) throws SQLException {
        return new Gone(row.number(), row.text(), state, Batches.member(row.textOrNull()));
    }

    /** Ends jobs, and counts them in their batches. Returns the ids of those that were live. */
    public static List<Long> end(Session session, Collection<Long> ids, JobState state, @Nullable FailReason reason)
            throws SQLException {
        if (ids.isEmpty()) {
            return List.of();
        }
        List<Gone> ended = new ArrayList<>();
        for (long[] piece : session.dialect().pieces(sorted(ids))) {
            ended.addAll(session.dialect().end(session, state, reason, piece));
        }
        count(session, ended, 1);
        BatchTally tally = new BatchTally();
        ended.forEach(job -> tally.ended(job.member(), new JobId(job.id()), job.state(), null));
        Batches.count(session, tally);
        return ended.stream().map(Gone::id).toList();
    }

    /**
     * Deletes finished jobs with their history, steps and keys. It spares jobs that were requeued and ended
     * again after the given time.
     */
    public static List<Gone> delete(Session session, Collection<Long> ids, long before) throws SQLException {
        if (ids.isEmpty()) {
            return List.of();
        }
        Dialect dialect = session.dialect();
        List<Gone> gone = new ArrayList<>();
        for (long[] piece : dialect.pieces(sorted(ids))) {
            List<Gone> deleted = dialect.deleteFinished(session, piece, before);
            long[] found = sorted(deleted.stream().map(Gone::id).toList());
            session.update(dialect.sql(FORGET_ATTEMPTS), (Object) found);
            session.update(dialect.sql(FORGET_KEYS), (Object) found);
            session.update(dialect.sql(FORGET_LOGS), (Object) found);
            if (session.update(dialect.sql(FORGET_STEPS), (Object) found) > 0) {
                Batches.forget(session, found);
            }
            gone.addAll(deleted);
        }
        count(session, gone, -1);
        return gone;
    }

    private static void count(Session session, List<Gone> jobs, int sign) throws SQLException {
        Counters.Sums sums = new Counters.Sums();
        jobs.forEach(job -> sums.add(job.queue(), job.state(), sign));
        sums.write(session);
    }

    private static long[] sorted(Collection<Long> ids) {
        return ids.stream().mapToLong(Long::longValue).sorted().toArray();
    }
}
