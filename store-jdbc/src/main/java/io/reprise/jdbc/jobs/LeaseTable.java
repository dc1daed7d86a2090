// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.jobs;

import io.reprise.jdbc.sql.Dialect;
import io.reprise.jdbc.sql.Params;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.jdbc.sql.SqlTime;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.Progress;
import io.reprise.store.Claim;
import io.reprise.store.LostClaim;
import io.reprise.store.Renewal;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Renews leases, takes them over, and answers questions about them. {@link JobClaims} creates them. */
public final class LeaseTable {

    /**
     * Condition that a lease l holds a job: its list names the job, and the job's token is less.
     * The primary keys serve it.
     */
    public static final String HOLDS_SOME = """
            exists (
              select 1
                from reprise_held h
                join reprise_job j on j.id = h.id
               where h.token = l.id and j.token < h.token and j.due_at is not null)""";

    private static final String HELD = """
            select h.token
              from reprise_held h
              join reprise_job j on j.id = h.id and j.queue = h.queue
             where j.id = ? and j.token < h.token and j.due_at is not null
            """;

    // Locks leases in the order in which settles lock them. A take-over skips locked leases.
    private static final String LOCK = """
            select id
              from {expiry}
             where id {in ?} and worker = ?
             order by id
            {for_no_key_update}
            """;

    // The primary key serves it. {clock} is the time after the wait for the locks.
    private static final String RENEW = """
            update {expiry}
               set expires_at = {clock} + ?, unheard = 0
             where id {in ?} and worker = ?
            """;

    private static final String EXCUSE = """
            update {expiry}
               set excused = ?
             where id {in ?} and worker = ?
            """;

    private static final String MARK_TAKEN = """
            update {expiry}
               set excused = ?, unheard = ?
             where id = ?
            """;

    // The index reprise_job_cancel (PostgreSQL, SQLite) is almost empty.
    private static final String CANCELLED = """
            select j.id
              from reprise_job j
              join reprise_held h on h.id = j.id
             where j.cancel_requested = {true} and h.token > j.token and h.token {in ?} and j.due_at is not null
            """;

    private static final String REMAINING = """
            select h.id
              from reprise_held h
              join reprise_job j on j.id = h.id
             where h.token = ? and j.token < h.token and j.due_at is not null
             order by h.id
            """;

    // The primary keys serve it.
    private static final String TAKEN = """
            select {claimed_shown}
              from reprise_job j
              join reprise_lease l on l.id = ?
             where j.id {in ?}
             order by j.id
            """;

    private static final String PROGRESS = """
            update reprise_job
               set progress = :percent, progress_message = :message
             where id = :id and token < :token and due_at is not null
               and id in (select h.id from reprise_held h where h.token = :token)
            """;

    private final JobRows jobs;

    public LeaseTable(JobRows jobs) {
        this.jobs = jobs;
    }

    static boolean isHeld(Session session, JobId job) throws SQLException {
        return holder(session, job).isPresent();
    }

    static Optional<Long> holder(Session session, JobId job) throws SQLException {
        return session.first(HELD, SqlRow::number, job);
    }

    public static void excuse(Session session, String worker, Collection<Long> tokens, boolean excused)
            throws SQLException {
        Dialect dialect = session.dialect();
        long[] wanted = tokens.stream().mapToLong(Long::longValue).sorted().toArray();
        session.list(dialect.sql(LOCK), SqlRow::number, wanted, worker);
        session.update(dialect.sql(EXCUSE), excused, wanted, worker);
    }

    public Renewal renew(Session session, String worker, Collection<Long> tokens, Duration lease) throws SQLException {
        Dialect dialect = session.dialect();
        long[] wanted = tokens.stream().mapToLong(Long::longValue).sorted().toArray();
        Set<Long> lost = new HashSet<>(tokens);
        session.list(dialect.sql(LOCK), SqlRow::number, wanted, worker).forEach(lost::remove);
        session.update(dialect.sql(RENEW), SqlTime.of(lease), wanted, worker);
        Set<JobId> cancelled =
                new HashSet<>(session.list(dialect.sql(CANCELLED), row -> new JobId(row.number()), (Object) wanted));
        return new Renewal(lost, cancelled);
    }

    private record Expired(long token, String runner, boolean excused, int unheard) {}

    public List<LostClaim> takeOver(Session session, String taker, Duration lease, int max) throws SQLException {
        session.dialect().dropDamagedLeases(session);
        List<Expired> expired = session.list(
                session.dialect().expiredSql(),
                row -> new Expired(row.number(), row.text(), row.flag(), row.integer()),
                max);
        List<LostClaim> taken = new ArrayList<>();
        for (Expired lost : expired) {
            List<Long> remaining = session.list(REMAINING, SqlRow::number, lost.token());
            if (remaining.isEmpty()) {
                session.dialect().dropLeases(session, lost.token());
            } else {
                Claim claim = take(session, lost.token(), remaining, taker, lease);
                // If a worker was heard under this lease, at least one job has left its list.
                boolean unheard = lost.unheard() == remaining.size();
                if (lost.excused() || unheard) {
                    int size = unheard ? lost.unheard() : 0;
                    session.update(session.dialect().sql(MARK_TAKEN), lost.excused(), size, claim.token());
                }
                taken.add(new LostClaim(claim, lost.token(), lost.runner(), lost.excused(), unheard));
            }
        }
        return taken;
    }

    private Claim take(Session session, long lost, List<Long> remaining, String taker, Duration lease)
            throws SQLException {
        long[] ids = remaining.stream().mapToLong(Long::longValue).toArray();
        Claim empty = session.dialect().takeLease(session, lost, ids, taker, lease);
        List<Job> held = held(session, empty.token(), ids, new HashSet<>(), new HashMap<>());
        return new Claim(empty.token(), empty.queue(), empty.claimedAt(), empty.alone(), held);
    }

    /**
     * Returns jobs of a lease, in the order of their ids. {@code admitted} gets the jobs that a breaker admitted,
     * {@code damaged} the jobs that cannot be read.
     */
    public List<Job> held(Session session, long token, long[] ids, Set<JobId> admitted, Map<JobId, String> damaged)
            throws SQLException {
        return session.list(session.dialect().sql(TAKEN), jobs.reader(session, admitted, damaged), token, ids);
    }

    /** Reads a claim without jobs: id, queue, whether it is alone, and its start. */
    public static Claim readClaim(SqlRow row) throws SQLException {
        long token = row.number();
        String queue = row.text();
        boolean alone = row.flag();
        return new Claim(token, queue, row.instant(), alone, List.of());
    }

    public boolean progress(Session session, JobId job, long token, Progress progress) throws SQLException {
        Params params = Params.of("percent", progress.percent())
                .and("message", progress.message())
                .and("id", job)
                .and("token", token);
        return session.update(PROGRESS, params) == 1;
    }
}
