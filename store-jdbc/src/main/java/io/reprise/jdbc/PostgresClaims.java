// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.Job;
import io.reprise.JobId;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import io.reprise.store.StoreException;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Claims of one queue run one at a time, under the queue's advisory lock; a claim writes one lease row and no job. */
final class PostgresClaims implements Claims {

    private static final Logger log = LoggerFactory.getLogger(PostgresClaims.class);

    /** How long to wait for who claims from a queue, or changes a job of it; then the next queue's turn is. */
    private static final int WAIT_MILLIS = 500;

    /** Inner limits are literals, or the planner expects to read a large part of the table. */
    private static final int[] CLASSES = {1, 10, 100, 500, 1_000};

    // Which queues have something to claim. Takes no locks. Jumps over the priority levels of each lane, and looks at
    // due entries only: reprise_job_ready serves it. Not "exists", which the planner would turn into a join with the
    // whole
    // table. One round trip, so this is what an idle worker costs.
    static final String PROBE = """
            with recursive level (queue, lane, priority) as (
              select q.name, x.lane,
                     (select j.priority from reprise_job j
                       where j.queue = q.name and j.lane = x.lane order by j.priority desc limit 1)
                from unnest(?) as q (name)
                cross join (values (0::smallint), (1::smallint), (2::smallint)) as x (lane)
               where not exists (select 1 from reprise_queue p where p.name = q.name and p.paused_at is not null)
              union all
              select l.queue, l.lane,
                     (select j.priority from reprise_job j
                       where j.queue = l.queue and j.lane = l.lane and j.priority < l.priority
                       order by j.priority desc limit 1)
                from level l
               where l.priority is not null)
            select distinct l.queue, l.lane = 2
              from level l
             where l.priority is not null
               and (
                 select j.id from reprise_job j
                  where j.queue = l.queue and j.lane = l.lane and j.priority = l.priority and j.due_at <= reprise_now()
                    and (j.deadline is null or j.deadline > reprise_now())
                    and j.id not in (select unnest(h.ids) from reprise_lease h)
                  order by j.due_at, j.id
                  limit 1) is not null
            """;

    // Two statements in one round trip and one transaction: the lock first, by itself, so that snapshot and time of the
    // claim are younger than the lock: it sees every lease of this queue, and no lease is born expired. The wait for
    // the
    // lock is bounded, since a caller's transaction may hold it long. Reads due rows once through reprise_job_ready;
    // the
    // ids held are hashed, and only if some job is due. Fresh jobs and retries are two ranges of the index: retries get
    // their part of the batch or what fresh ones leave, whichever is more, and fresh ones get the rest.
    private static final String CLAIM = """
            select pg_advisory_xact_lock(?, hashtext(?)) where set_config('lock_timeout', '{wait}', true) is not null;
            with recursive asked as (
              select cast(? as text) as queue, cast(? as int) as jobs, cast(? as int) as retries, cast(? as text) as worker,
                     cast(? as bigint) as lease_us),
            room as materialized (
              select a.queue, a.retries, a.worker, a.lease_us,
                     case when q.name is null then a.jobs
                          when q.paused_at is not null then 0
                          when q.max_running is null then a.jobs
                          else greatest(0, least(a.jobs, q.max_running - (
                            select count(*) from reprise_held h
                              join reprise_job j on j.id = h.id and j.token < h.token
                             where h.queue = a.queue))) end as jobs
                from asked a
                left join reprise_queue q on q.name = a.queue),
            level (lane, priority) as (
              select x.lane,
                     (select j.priority from reprise_job j
                       where j.queue = ? and j.lane = x.lane order by j.priority desc limit 1)
                from (values (0::smallint), (1::smallint)) as x (lane)
              union all
              select l.lane,
                     (select j.priority from reprise_job j
                       where j.queue = ? and j.lane = l.lane and j.priority < l.priority
                       order by j.priority desc limit 1)
                from level l
               where l.priority is not null),
            fresh as materialized (
              select x.*
                from (select priority from level where lane = 0 and priority is not null order by priority desc) l
                cross join lateral (
                  select {claimed}
                    from reprise_job j
                   where j.queue = ?
                     and j.lane = 0 and j.priority = l.priority and j.due_at <= reprise_clock()
                     and (j.deadline is null or j.deadline > reprise_clock())
                     and j.id not in (select unnest(h.ids) from reprise_lease h where h.queue = ?)
                   order by j.due_at, j.id
                   limit {batch}) x
               limit (select jobs from room)),
            retry as materialized (
              select x.*
                from (select priority from level where lane = 1 and priority is not null order by priority desc) l
                cross join lateral (
                  select {claimed}
                    from reprise_job j
                   where j.queue = ?
                     and j.lane = 1 and j.priority = l.priority and j.due_at <= reprise_clock()
                     and (j.deadline is null or j.deadline > reprise_clock())
                     and j.id not in (select unnest(h.ids) from reprise_lease h where h.queue = ?)
                   order by j.due_at, j.id
                   limit {batch}) x
               limit (select least(r.jobs, greatest(r.retries, r.jobs - (select count(*) from fresh))) from room r)),
            picked as materialized (
              select * from retry
              union all
              (select * from fresh limit (select r.jobs - (select count(*) from retry) from room r))),
            lease as (
              insert into reprise_lease (id, queue, worker, runner, alone, claimed_at, expires_at, ids)
              select nextval('reprise_token'), r.queue, r.worker, r.worker, false, reprise_clock(),
                     reprise_clock() + r.lease_us, p.ids
                from room r
                cross join (select array_agg(id order by id) as ids from picked) p
               where p.ids is not null
              returning id, worker, claimed_at)
            select l.id, l.claimed_at, {shown}
              from lease l
              cross join picked j
             order by j.priority desc, j.due_at, j.id
            """;

    // The same for one suspect, which gets a lease of its own.
    private static final String CLAIM_SUSPECT = """
            select pg_advisory_xact_lock(?, hashtext(?)) where set_config('lock_timeout', '{wait}', true) is not null;
            with recursive asked as (
              select cast(? as text) as queue, cast(? as text) as worker, cast(? as bigint) as lease_us),
            level (priority) as (
              select (select j.priority from reprise_job j
                       where j.queue = ? and j.lane = 2 order by j.priority desc limit 1)
              union all
              select (select j.priority from reprise_job j
                       where j.queue = ? and j.lane = 2 and j.priority < l.priority
                       order by j.priority desc limit 1)
                from level l
               where l.priority is not null),
            picked as materialized (
              select x.*
                from (select priority from level where priority is not null order by priority desc) l
                cross join lateral (
                  select {claimed}
                    from reprise_job j
                   where j.queue = ?
                     and j.lane = 2 and j.priority = l.priority and j.due_at <= reprise_clock()
                     and (j.deadline is null or j.deadline > reprise_clock())
                     and j.id not in (select unnest(h.ids) from reprise_lease h where h.queue = ?)
                   order by j.due_at, j.id
                   limit 1) x
               where not exists (
                 select 1 from reprise_queue q, asked a
                  where q.name = a.queue
                    and (q.paused_at is not null or q.max_running <= (
                      select count(*) from reprise_held h
                        join reprise_job j on j.id = h.id and j.token < h.token
                       where h.queue = a.queue)))
               limit 1),
            lease as (
              insert into reprise_lease (id, queue, worker, runner, alone, claimed_at, expires_at, ids)
              select nextval('reprise_token'), r.queue, r.worker, r.worker, true, reprise_clock(),
                     reprise_clock() + r.lease_us, array[p.id]
                from asked r
                cross join picked p
              returning id, worker, claimed_at)
            select l.id, l.claimed_at, {shown}
              from lease l
              cross join picked j
            """;

    private final Database database;
    private final Jobs jobs;
    private final RetryCredit credit = new RetryCredit();
    private volatile boolean busy;

    PostgresClaims(Database database, Jobs jobs) {
        this.database = database;
        this.jobs = jobs;
    }

    private record Found(Set<String> queues, Set<String> suspects) {}

    @Override
    public List<Claim> claim(ClaimRequest request) {
        Found found = busy ? everything(request) : probe(request);
        List<Claim> claims = new ArrayList<>();
        int left = request.max();
        boolean suspects = request.suspects();
        try {
            for (ClaimRequest.Demand demand : request.demands()) {
                int want = Math.min(left, demand.max());
                List<Claim> some = claim(request, demand.queue(), want, suspects, found);
                claims.addAll(some);
                suspects &= some.stream().noneMatch(Claim::alone);
                left -= some.stream().mapToInt(claim -> claim.jobs().size()).sum();
            }
        } catch (StoreException e) {
            // What was claimed is committed: better run it than let it expire.
            if (claims.isEmpty()) {
                throw e;
            }
            log.warn("Claimed from some queues only: {}", e.getMessage());
        }
        busy = !claims.isEmpty();
        return claims;
    }

    /** One suspect and a batch of one queue; what there is of them if the queue's lock is not to be had. */
    private List<Claim> claim(ClaimRequest request, String queue, int want, boolean suspects, Found found) {
        List<Claim> claims = new ArrayList<>();
        try {
            if (suspects && want > 0 && found.suspects().contains(queue)) {
                claims.addAll(claimSuspect(request, queue));
            }
            int rest = want - claims.size();
            if (rest > 0 && found.queues().contains(queue)) {
                claims.addAll(claimBatch(request, queue, Math.min(rest, 1_000)));
            }
        } catch (StoreException e) {
            // What was claimed is committed: better run it than let it expire.
            if (claims.isEmpty() && !SqlErrors.isLockTimeout(e)) {
                throw e;
            }
            log.debug("Passed queue {}: {}", queue, e.getMessage());
        }
        return claims;
    }

    private static Found everything(ClaimRequest request) {
        Set<String> queues = new HashSet<>();
        request.demands().forEach(demand -> queues.add(demand.queue()));
        return new Found(queues, queues);
    }

    private Found probe(ClaimRequest request) {
        String[] names =
                request.demands().stream().map(ClaimRequest.Demand::queue).toArray(String[]::new);
        Found found = new Found(new HashSet<>(), new HashSet<>());
        database.send(
                "look for due jobs",
                session -> session.list(
                        PROBE,
                        row -> {
                            String queue = row.text();
                            return (row.flag() ? found.suspects() : found.queues()).add(queue);
                        },
                        (Object) names));
        return found;
    }

    private List<Claim> claimBatch(ClaimRequest request, String queue, int want) {
        int retries = credit.of(queue, want, request.retryShare());
        String sql = sql(database.dialect(), CLAIM, batchClass(want));
        List<Claim> claims = database.send(
                "claim jobs of queue " + queue,
                session -> read(
                        session,
                        queue,
                        false,
                        sql,
                        PostgresDialect.LOCKS,
                        queue,
                        queue,
                        want,
                        retries,
                        request.worker(),
                        Micros.of(request.lease()),
                        queue,
                        queue,
                        queue,
                        queue,
                        queue,
                        queue));
        credit.claimed(queue, claims.isEmpty() ? 0 : claims.get(0).jobs().size(), request.retryShare());
        return claims;
    }

    private List<Claim> claimSuspect(ClaimRequest request, String queue) {
        return database.send(
                "claim a suspect of queue " + queue,
                session -> read(
                        session,
                        queue,
                        true,
                        sql(database.dialect(), CLAIM_SUSPECT, 1),
                        PostgresDialect.LOCKS,
                        queue,
                        queue,
                        request.worker(),
                        Micros.of(request.lease()),
                        queue,
                        queue,
                        queue,
                        queue));
    }

    /** The claim of up to a batch, without the lock before it. */
    static String claimSql(Dialect dialect, int batch) {
        return sql(dialect, CLAIM, batch).split(";\n", 2)[1];
    }

    private static String sql(Dialect dialect, String template, int batch) {
        return dialect.sql(template.replace("{batch}", Integer.toString(batch))
                .replace("{wait}", Integer.toString(WAIT_MILLIS))
                .replace("{claimed}", Columns.CLAIMED)
                .replace("{shown}", Columns.CLAIMED_SHOWN));
    }

    private static int batchClass(int want) {
        for (int size : CLASSES) {
            if (want <= size) {
                return size;
            }
        }
        return CLASSES[CLASSES.length - 1];
    }

    private List<Claim> read(Session session, String queue, boolean alone, String sql, Object... args)
            throws SQLException {
        long[] token = new long[1];
        Instant[] claimedAt = {Instant.EPOCH};
        Set<JobId> admitted = new HashSet<>();
        List<Job> claimed = session.listOfLast(
                sql,
                row -> {
                    token[0] = row.number();
                    claimedAt[0] = row.instant();
                    return jobs.reader(session, admitted).read(row);
                },
                args);
        return claimed.isEmpty()
                ? List.of()
                : List.of(new Claim(token[0], queue, claimedAt[0], alone, claimed, admitted));
    }
}
