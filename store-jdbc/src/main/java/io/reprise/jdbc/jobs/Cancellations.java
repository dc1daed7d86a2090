// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.jobs;

import io.reprise.jdbc.rows.AuditTable;
import io.reprise.jdbc.sql.Dialect;
import io.reprise.jdbc.sql.Endings;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.job.AuditNote;
import io.reprise.job.Cancellation;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec.Needs;
import io.reprise.job.JobState;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** Cancels waiting jobs at once, and asks the worker of a running job to stop. */
public final class Cancellations {

    // Jobs that the lease still lists and that a person asked to cancel. The index reprise_job_cancel (PostgreSQL,
    // SQLite) is almost empty.
    private static final String LEFT = """
            select j.id
              from reprise_job j
              join reprise_held h on h.id = j.id
             where j.cancel_requested = {true} and h.token = ? and j.token < h.token and j.due_at is not null
            """;

    // Locks the lease row: waits for a settle of this lease to end, and keeps the next settle out.
    private static final String LOCK_LEASE = """
            select id
              from reprise_lease
             where id = ?
            {for_update}
            """;

    private static final String REQUEST = """
            update reprise_job
               set cancel_requested = {true}
             where id = ? and due_at is not null
            """;

    private static final String IN_QUEUE = """
            select id
              from reprise_job
             where id = ? and queue = ? and due_at is not null
            """;

    // Runs under the locks of these queues: jobs that were neither claimed nor moved to another queue.
    private static final String STILL_WAITING = """
            select id
              from reprise_job {by primary}
             where id {in ?} and queue {in ?} and due_at is not null and id not in (select h.id from reprise_held h)
            """;

    private final JobRows jobs;

    public Cancellations(JobRows jobs) {
        this.jobs = jobs;
    }

    public static List<Long> left(Session session, long token) throws SQLException {
        return session.list(session.dialect().sql(LEFT), SqlRow::number, token);
    }

    /**
     * Cancels one job. It looks for a lease before it takes the queue's lock. It may have to wait for the lease of a
     * worker with a long transaction, and claims must not wait with it.
     */
    Cancellation cancel(Session session, JobId id, AuditNote note) throws SQLException {
        Dialect dialect = session.dialect();
        while (true) {
            Optional<Job> job = jobs.find(session, id);
            if (job.isEmpty() || job.get().state().isTerminal()) {
                return job.isEmpty() ? Cancellation.MISSING : Cancellation.TOO_LATE;
            }
            Optional<Long> holder = LeaseTable.holder(session, id);
            if (holder.isPresent()) {
                session.list(dialect.sql(LOCK_LEASE), SqlRow::number, holder.get());
                if (LeaseTable.holder(session, id).equals(holder)) {
                    session.update(dialect.sql(REQUEST), id);
                    AuditTable.write(session, "cancel", id, null, note, "asked its worker to stop");
                    return Cancellation.REQUESTED;
                }
            } else if (cancelPending(session, id, job.get().queue())) {
                AuditTable.write(session, "cancel", id, null, note, null);
                return Cancellation.DONE;
            }
        }
    }

    /** Cancels those of these jobs that wait, and returns them. Claims of their queues wait until it is done. */
    List<Job> cancelPending(Session session, Collection<JobId> ids) throws SQLException {
        Dialect dialect = session.dialect();
        dialect.preferIndexes(session);
        Map<Long, Job> waiting = new HashMap<>();
        for (Job job : jobs.find(session, ids.stream().map(JobId::value).toList())) {
            if (job.state() == JobState.PENDING) {
                waiting.put(job.id().value(), job);
            }
        }
        String[] queues = waiting.values().stream()
                .map(Job::queue)
                .distinct()
                .sorted(Comparator.comparing(Needs::base))
                .toArray(String[]::new);
        for (String queue : queues) {
            dialect.lockQueue(session, queue);
        }
        List<Long> free = new ArrayList<>();
        for (long[] piece : dialect.pieces(
                waiting.keySet().stream().mapToLong(Long::longValue).sorted().toArray())) {
            free.addAll(session.list(dialect.sql(STILL_WAITING), SqlRow::number, piece, queues));
        }
        return Endings.end(session, free, JobState.CANCELLED, null).stream()
                .map(waiting::get)
                .filter(Objects::nonNull)
                .toList();
    }

    private static boolean cancelPending(Session session, JobId id, String queue) throws SQLException {
        session.dialect().lockQueue(session, queue);
        // Checked under the lock: if the job moved to another queue, claims of that queue are not kept away.
        return session.first(IN_QUEUE, SqlRow::number, id, queue).isPresent()
                && LeaseTable.holder(session, id).isEmpty()
                && !Endings.end(session, List.of(id.value()), JobState.CANCELLED, null)
                        .isEmpty();
    }
}
