// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.Job;
import io.reprise.JobId;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** A claim looks without a lock first; then, alone in the file, it writes one lease row and no job. */
final class SqliteClaims implements Claims {

    private static final int FRESH = 0;
    private static final int RETRY = 1;
    private static final int SUSPECT = 2;

    // Next lower priority level at which the lane has live jobs: one probe of reprise_job_ready.
    private static final String LEVEL = """
            select priority
              from reprise_job
             where queue = ? and lane = ? and priority < ? and due_at is not null
             order by priority desc
             limit 1
            """;

    // Due entries of one level, in the order of reprise_job_ready, without those held. The held ids are collected once.
    private static final String DUE = """
            select j.id, j.priority, j.due_at
              from reprise_job j
             where j.queue = ? and j.lane = ? and j.priority = ? and j.due_at is not null and j.due_at <= {now}
               and (j.deadline is null or j.deadline > {now})
               and j.id not in (select h.id from reprise_held h where h.queue = ?)
             order by j.due_at, j.id
             limit ?
            """;

    private static final String ROOM = """
            select case when q.paused_at is not null then 0
                        when q.max_running is null then 2147483647
                        else max(0, q.max_running - (
                          select count(*) from reprise_held h
                            join reprise_job j on j.id = h.id and j.token < h.token and j.due_at is not null
                           where h.queue = q.name)) end
              from reprise_queue q
             where q.name = ?
            """;

    private static final String LEASE = """
            insert into reprise_lease (queue, worker, runner, alone, claimed_at, expires_at, ids)
            values (?, ?, ?, ?, ?, ?, ?)
            returning id
            """;

    private static final String READ = """
            select {shown}
              from reprise_job j
              join reprise_lease l on l.id = ?
             where j.id = ?
            """.replace("{shown}", Columns.CLAIMED_SHOWN);

    private final Database database;
    private final Jobs jobs;
    private final RetryCredit credit = new RetryCredit();
    private volatile boolean busy;

    SqliteClaims(Database database, Jobs jobs) {
        this.database = database;
        this.jobs = jobs;
    }

    private record Due(long id, int priority, long dueAt) {}

    @Override
    public List<Claim> claim(ClaimRequest request) {
        if (!busy && !database.read("look for due jobs", session -> isAnythingDue(session, request))) {
            return List.of();
        }
        List<Claim> claims = database.write("claim jobs", session -> claim(session, request));
        claims.stream()
                .filter(claim -> !claim.alone())
                .forEach(claim -> credit.claimed(claim.queue(), claim.jobs().size(), request.retryShare()));
        busy = !claims.isEmpty();
        return claims;
    }

    private static boolean isAnythingDue(Session session, ClaimRequest request) throws SQLException {
        for (ClaimRequest.Demand demand : request.demands()) {
            for (int lane = FRESH; lane <= (request.suspects() ? SUSPECT : RETRY); lane++) {
                if (room(session, demand.queue()) > 0
                        && !due(session, demand.queue(), lane, 1).isEmpty()) {
                    return true;
                }
            }
        }
        return false;
    }

    private List<Claim> claim(Session session, ClaimRequest request) throws SQLException {
        List<Claim> claims = new ArrayList<>();
        int left = request.max();
        boolean suspects = request.suspects();
        for (ClaimRequest.Demand demand : request.demands()) {
            int room = Math.min(Math.min(left, demand.max()), room(session, demand.queue()));
            if (suspects && room > 0) {
                List<Due> suspect = due(session, demand.queue(), SUSPECT, 1);
                if (!suspect.isEmpty()) {
                    claims.add(lease(session, request, demand.queue(), suspect, true));
                    suspects = false;
                    room--;
                    left--;
                }
            }
            List<Due> batch = room > 0 ? pick(session, demand.queue(), room, request.retryShare()) : List.of();
            if (!batch.isEmpty()) {
                claims.add(lease(session, request, demand.queue(), batch, false));
                left -= batch.size();
            }
        }
        return claims;
    }

    private List<Due> pick(Session session, String queue, int room, double share) throws SQLException {
        List<Due> fresh = due(session, queue, FRESH, room);
        int kept = credit.of(queue, room, share);
        List<Due> batch = due(session, queue, RETRY, Math.max(kept, room - fresh.size()));
        batch.addAll(fresh.subList(0, Math.min(fresh.size(), room - batch.size())));
        batch.sort(Comparator.comparingInt((Due due) -> -due.priority())
                .thenComparingLong(Due::dueAt)
                .thenComparingLong(Due::id));
        return batch;
    }

    private static int room(Session session, String queue) throws SQLException {
        return session.first(ROOM, Row::integer, queue).orElse(Integer.MAX_VALUE);
    }

    /** The first due jobs of a lane, level by level. */
    private static List<Due> due(Session session, String queue, int lane, int max) throws SQLException {
        List<Due> found = new ArrayList<>();
        int above = Integer.MAX_VALUE;
        while (found.size() < max) {
            Optional<Integer> level = session.first(LEVEL, Row::integer, queue, lane, above);
            if (level.isEmpty()) {
                break;
            }
            above = level.get();
            found.addAll(session.list(
                    session.dialect().sql(DUE),
                    row -> new Due(row.number(), row.integer(), row.number()),
                    queue,
                    lane,
                    above,
                    queue,
                    max - found.size()));
        }
        return found;
    }

    private Claim lease(Session session, ClaimRequest request, String queue, List<Due> batch, boolean alone)
            throws SQLException {
        long now = session.now();
        long[] ids = batch.stream().mapToLong(Due::id).toArray();
        long expires = now + Micros.of(request.lease());
        String worker = request.worker();
        long token = session.one(LEASE, Row::number, queue, worker, worker, alone, now, expires, ids);
        List<Job> claimed = new ArrayList<>(ids.length);
        Set<JobId> admitted = new HashSet<>();
        for (long id : ids) {
            claimed.add(session.one(READ, jobs.reader(session, admitted), token, id));
        }
        return new Claim(token, queue, Micros.instant(now), alone, claimed, admitted);
    }
}
