// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.postgres;

import io.reprise.fairness.GroupRules;
import io.reprise.jdbc.jobs.ClaimCursor;
import io.reprise.jdbc.jobs.JobRows;
import io.reprise.jdbc.sql.Database;
import io.reprise.jdbc.sql.Database.Refusal;
import io.reprise.jdbc.sql.Dialect;
import io.reprise.jdbc.sql.Params;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.StoredLane;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import io.reprise.store.Turns;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Claims from a queue in which many groups wait: one job of each of the next groups, in one statement. A look of
 * {@link PostgresManyQueues} finds out that there are so many; whatever this claim leaves is for the next look. Thread-safe.
 */
final class PostgresTurns {

    /** Beyond this number all levels are forgotten: users can create any number of queues. */
    private static final int MOST_NAMES = 1_000;

    // Like PostgresClaims.CLAIM, but each step of "found" jumps to the next turn and reads the first job there that can
    // be claimed. The first step is for jobs without a turn if the walk is at its start: a million of them may be due
    // later, so they are a range of their own. It takes nothing if a retry or a job of a higher priority can be
    // claimed.
    private static final String CLAIM = """
            select {lock_queue} where set_config('lock_timeout', '{wait}', true) is not null
               and set_config('enable_bitmapscan', 'off', true) is not null
               and set_config('enable_seqscan', 'off', true) is not null
               and set_config('jit', 'off', true) is not null;
            with recursive asked as (
              select cast(:queue as text) as queue, cast(:jobs as int) as jobs, cast(:from as text) as start,
                     cast(:worker as text) as worker, cast(:lease_us as bigint) as lease_us, cast(:remote as int) as remote),
            other (lane, priority) as (
              select x.lane,
                     (select j.priority from reprise_job j
                       where j.queue = :queue and j.lane = x.lane order by j.priority desc limit 1)
                from (values (0::smallint), (1::smallint)) as x (lane)
              union all
              select o.lane,
                     (select j.priority from reprise_job j
                       where j.queue = :queue and j.lane = o.lane and j.priority < o.priority
                       order by j.priority desc limit 1)
                from other o
               where o.priority is not null and (o.lane = 1 or o.priority > :priority)),
            first as materialized (
              select o.priority
                from other o
               where o.priority is not null and (o.lane = 1 or o.priority > :priority)
                 and coalesce((
                   select j.id from reprise_job j
                    where j.queue = :queue and j.lane = o.lane and j.priority = o.priority and j.turn = ''
                      and j.due_at <= (select reprise_clock())
                      and (j.deadline is null or j.deadline > (select reprise_clock()))
                      and j.id not in (select unnest(h.ids) from reprise_lease h where h.queue = :queue)
                    order by j.due_at, j.id
                    limit 1), (
                   select j.id from reprise_job j
                    where j.queue = :queue and j.lane = o.lane and j.priority = o.priority and j.turn > ''
                      and j.due_at <= (select reprise_clock())
                      and (j.deadline is null or j.deadline > (select reprise_clock()))
                      and j.id not in (select unnest(h.ids) from reprise_lease h where h.queue = :queue)
                    order by j.turn, j.due_at, j.id
                    limit 1)) is not null
               limit 1),
            room as materialized (
              select a.queue, a.start, a.worker, a.lease_us, a.remote,
                     case when exists (select 1 from first) then 0
                          else least(a.jobs, {room}) end as jobs
                from asked a),
            found (turn, id, place, n) as (
              select r.start collate "C", x.id, x.place, case when x.id is null then 0 else 1 end
                from room r
                left join lateral (
                  select j.id, j.ctid as place
                    from reprise_job j
                   where r.start = ''
                     and j.queue = :queue and j.lane = 0 and j.priority = :priority and j.turn = ''
                     and j.due_at <= (select reprise_clock())
                     and (j.deadline is null or j.deadline > (select reprise_clock()))
                     and j.id not in (select unnest(h.ids) from reprise_lease h where h.queue = :queue)
                   order by j.due_at, j.id
                   limit 1) x on true
               where r.jobs > 0
              union all
              select x.turn, x.id, x.place, f.n + 1
                from found f
                cross join lateral (
                  select j.turn, j.id, j.ctid as place
                    from reprise_job j
                   where j.queue = :queue and j.lane = 0 and j.priority = :priority and j.turn > f.turn
                     and j.due_at <= (select reprise_clock())
                     and (j.deadline is null or j.deadline > (select reprise_clock()))
                     and j.id not in (select unnest(h.ids) from reprise_lease h where h.queue = :queue)
                   order by j.turn, j.due_at, j.id
                   limit 1) x
               where f.n < (select jobs from room)),
            picked as materialized (
              select * from found where id is not null),
            lease as (
              insert into reprise_lease (id, queue, worker, runner, alone, claimed_at, expires_at, unheard, ids)
              select nextval('reprise_token'), r.queue, r.worker, r.worker, false, reprise_clock(),
                     reprise_clock() + r.lease_us, r.remote * cardinality(p.ids), p.ids
                from room r
                cross join (select array_agg(id order by id) as ids from picked) p
               where p.ids is not null
              returning id, claimed_at)
            select l.id, l.claimed_at, (select jobs from room),
                   (select s.id from reprise_job s where s.queue = :queue and s.lane = 2 limit 1) is not null,
                   p.n, p.turn, {claimed}
              from lease l
              cross join picked p
              join reprise_job j on j.ctid = p.place
            """;

    private final Database database;
    private final JobRows jobs;
    private final Turns turns;

    /** By queue, the only level in which the last look found jobs, of as many groups as it wanted jobs. */
    private final Map<String, Turns.Level> wide = new ConcurrentHashMap<>();

    PostgresTurns(Database database, JobRows jobs, Turns turns) {
        this.database = database;
        this.jobs = jobs;
        this.turns = turns;
    }

    /**
     * The claimed jobs of one walk.
     *
     * @param claim null if there was nothing
     * @param suspects whether the queue has suspects
     * @param done whether it is all that may be claimed of this queue now
     */
    record Walked(@Nullable Claim claim, boolean suspects, boolean done) {

        static final Walked NOTHING = new Walked(null, true, false);

        /** Another session has the lock of the queue. */
        static final Walked PASSED = new Walked(null, true, true);
    }

    /** Returns whether many groups wait in this queue, and one job of each may be claimed. */
    boolean isWide(ClaimRequest request, String queue) {
        return request.types().isEmpty() && wide.containsKey(queue) && isEven(request.rulesOf(queue));
    }

    private static boolean isEven(GroupRules rules) {
        return !rules.isLimited() && rules.weights().isEmpty();
    }

    /**
     * Notes what a look found.
     *
     * @param levels the levels with jobs
     * @param picks what it chose of the first level
     */
    void looked(
            ClaimRequest request,
            String queue,
            int wanted,
            Collection<Turns.Level> levels,
            List<Turns.Pick<Long>> picks) {
        Set<Turns.Place> groups = new HashSet<>();
        picks.forEach(pick -> groups.add(pick.after()));
        boolean many = wanted > 0 && picks.size() == wanted && groups.size() == wanted;
        Turns.Level level = levels.size() == 1 ? levels.iterator().next() : null;
        if (many && level != null && level.lane() == StoredLane.FRESH && isEven(request.rulesOf(queue))) {
            if (wide.size() >= MOST_NAMES) {
                wide.clear();
            }
            wide.put(queue, level);
        } else {
            wide.remove(queue);
        }
    }

    /** Claims one job of each of the next groups. */
    Walked claim(ClaimRequest request, String queue, int want) {
        Turns.Level level = wide.get(queue);
        if (level == null) {
            return Walked.NOTHING;
        }
        Answer answer = database.send(
                "claim jobs of queue " + queue,
                Refusal.never(),
                session -> read(session, request.worker(), sql(session.dialect()), params(request, level, want)));
        boolean done = !answer.taken.isEmpty() && answer.taken.size() == answer.room;
        if (!done) {
            wide.remove(queue, level);
        }
        if (answer.taken.isEmpty()) {
            return Walked.NOTHING;
        }
        // A walk that found less than it had room for has come to the last group.
        Turns.Place next = done ? new Turns.Place(Turns.behind(answer.turn), 0) : new Turns.Place(Turns.NONE, 0);
        turns.took(new Turns.Pick<>(answer.token, level, next));
        return new Walked(answer.claim(queue), answer.suspects, done);
    }

    private Params params(ClaimRequest request, Turns.Level level, int want) {
        return PostgresClaims.params(request, level.queue(), want)
                .and("priority", level.priority())
                .and("from", turns.from(level));
    }

    static String sql(Dialect dialect) {
        return dialect.sql(CLAIM.replace("{wait}", Integer.toString(PostgresClaims.WAIT_MILLIS))
                .replace("{room}", PostgresDialect.room("a.queue"))
                .replace("{lock_queue}", PostgresDialect.LOCK_QUEUE));
    }

    private Answer read(Session session, String worker, String sql, Params params) throws SQLException {
        Answer answer = new Answer();
        session.listOfLast(
                sql,
                row -> {
                    answer.token = row.number();
                    answer.claimedAt = row.instant();
                    answer.room = row.integer();
                    answer.suspects = row.flag();
                    int n = row.integer();
                    String turn = row.text();
                    if (answer.taken.isEmpty() || n > answer.taken.lastKey()) {
                        answer.turn = turn;
                    }
                    answer.taken.put(n, jobs.claimed(session, row, worker, answer.token, answer.claimedAt));
                    return n;
                },
                params);
        return answer;
    }

    private static final class Answer {
        private long token;
        private Instant claimedAt = Instant.EPOCH;
        private int room;
        private boolean suspects;
        private String turn = Turns.NONE;

        /** By the number of the turn. */
        private final TreeMap<Integer, ClaimCursor.Taken> taken = new TreeMap<>();

        Claim claim(String queue) {
            List<Job> ordered =
                    taken.values().stream().map(ClaimCursor.Taken::job).toList();
            Set<JobId> admitted = new HashSet<>();
            Map<JobId, String> damaged = new HashMap<>();
            for (ClaimCursor.Taken job : taken.values()) {
                if (job.admitted()) {
                    admitted.add(job.job().id());
                }
                if (job.damage() != null) {
                    damaged.put(job.job().id(), job.damage());
                }
            }
            return new Claim(token, queue, claimedAt, false, ordered, admitted, damaged);
        }
    }
}
