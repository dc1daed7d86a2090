// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.postgres;

import io.reprise.fairness.FlowGate;
import io.reprise.fairness.GroupRules;
import io.reprise.jdbc.jobs.ClaimCursor;
import io.reprise.jdbc.jobs.JobClaims;
import io.reprise.jdbc.jobs.JobRows;
import io.reprise.jdbc.rows.FlowTable;
import io.reprise.jdbc.rows.QueueTable;
import io.reprise.jdbc.sql.Database;
import io.reprise.jdbc.sql.Database.Refusal;
import io.reprise.jdbc.sql.Dialect;
import io.reprise.jdbc.sql.Params;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlErrors;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.jdbc.sql.SqlTime;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import io.reprise.store.CountedAs;
import io.reprise.store.DueQueues;
import io.reprise.store.RetryShare;
import io.reprise.store.Settlement;
import io.reprise.store.StoreException;
import io.reprise.store.Suspects;
import io.reprise.store.Turns;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims on PostgreSQL. The queue's advisory lock lets one claim of a queue run at a time. A claim writes one
 * lease row and no job row.
 */
public final class PostgresClaims implements JobClaims {

    private static final Logger log = LoggerFactory.getLogger(PostgresClaims.class);

    /** How long a claim waits for the queue's lock. Then the next queue has its turn. */
    static final int WAIT_MILLIS = 500;

    /** Queues that one statement scans together. */
    private static final int GROUP = 100;

    /** A queue that gives this many jobs has more. It is then claimed alone, which costs less per job. */
    private static final int LARGE = 100;

    /** Beyond this number all names are dropped: users can create any number of queues. */
    private static final int MOST_NAMES = 1_000;

    private static final int MAX_SUSPECTS = 1_000;

    /** Jobs of one claim, so that nobody waits long for the queue's lock. */
    private static final int MAX_BATCH = 1_000;

    /** Looks that a claim makes if other processes lease what it found. */
    private static final int TRIES = 2;

    /** Times that a claim asks for what a look before it found if other threads are faster; this costs no round trip. */
    private static final int TURNS = 20;

    /** Inner limits are literals, or the planner expects to read a large part of the table. */
    private static final int[] CLASSES = {1, 10, 100, 500, 1_000};

    // Finds the queues that have jobs to claim. Takes no locks. It jumps over the priority levels of each lane and
    // reads only due entries of the index reprise_job_ready. It avoids "exists", which the planner would turn into a
    // join with the whole table. This is one round trip, which is the cost of an idle worker.
    static final String PROBE = """
            with recursive level (queue, lane, priority) as (
              select q.name, x.lane,
                     (select j.priority from reprise_job j
                       where j.queue = q.name and j.lane = x.lane order by j.priority desc limit 1)
                from unnest(:queues::text[]) as q (name)
                cross join (values (0::smallint), (1::smallint), (2::smallint)) as x (lane)
               where not exists (select 1 from reprise_queue p where p.name = q.name and p.paused_at is not null)
              union all
              select l.queue, l.lane,
                     (select j.priority from reprise_job j
                       where j.queue = l.queue and j.lane = l.lane and j.priority < l.priority
                       order by j.priority desc limit 1)
                from level l
               where l.priority is not null)
            select distinct l.queue, l.lane = 2, false
              from level l
             where l.priority is not null
               and (
                 select j.id from reprise_job j
                  where j.queue = l.queue and j.lane = l.lane and j.priority = l.priority and j.turn = ''
                    and j.due_at <= reprise_now()
                    and (j.deadline is null or j.deadline > reprise_now())
                    and j.id not in (select unnest(h.ids) from reprise_lease h)
                  order by j.due_at, j.id
                  limit 1) is not null
            union all
            select distinct l.queue, false, true
              from level l
             where l.priority is not null and l.lane < 2
               and (
                 select j.id from reprise_job j
                  where j.queue = l.queue and j.lane = l.lane and j.priority = l.priority and j.turn > ''
                    and j.due_at <= reprise_now()
                    and (j.deadline is null or j.deadline > reprise_now())
                    and j.id not in (select unnest(h.ids) from reprise_lease h)
                  order by j.turn, j.due_at, j.id
                  limit 1) is not null
            """;

    // Two statements in one round trip and one transaction. The first takes the queue's lock. So the snapshot and the
    // clock of the second are younger than the lock: it sees every lease of this queue, and no new lease is already
    // expired. The wait for the lock is bounded, because a caller's transaction may hold it long. Bitmap scans are
    // switched off here, because a pooler keeps no session settings. The second statement reads due entries of
    // reprise_job_ready. It hashes the held ids only if a job is due. Fresh jobs and retries are two ranges of the
    // index. Retries get their share or the room that fresh jobs leave, whichever is more; fresh jobs get the rest. The
    // last join reads rows by ctid, which is valid within this snapshot.
    private static final String CLAIM = """
            select {lock_queue} where set_config('lock_timeout', '{wait}', true) is not null
               and set_config('enable_bitmapscan', 'off', true) is not null
               and set_config('enable_seqscan', 'off', true) is not null;
            with recursive asked as (
              select cast(:queue as text) as queue, cast(:jobs as int) as jobs, cast(:retries as int) as retries,
                     cast(:worker as text) as worker, cast(:lease_us as bigint) as lease_us, cast(:remote as int) as remote),
            room as materialized (
              select a.queue, a.retries, a.worker, a.lease_us, a.remote,
                     least(a.jobs, {room}) as jobs
                from asked a),
            {levels},
            fresh as materialized (
              select x.*
                from (select * from level where lane = 0 and priority is not null order by priority desc) l
                cross join lateral (
                  select j.id, j.ctid as place
                    from reprise_job j
                   where j.queue = :queue
                     and j.lane = 0 and j.priority = l.priority and j.turn = '' and j.due_at <= (select reprise_clock())
                     and (j.due_at, j.id) > (l.due_at, l.id)
                     and (j.deadline is null or j.deadline > (select reprise_clock()))
                     and j.id not in (select unnest(h.ids) from reprise_lease h where h.queue = :queue and h.id >= :floor)
                   order by j.due_at, j.id
                   limit {batch}) x
               limit (select jobs from room)),
            retry as materialized (
              select x.*
                from (select * from level where lane = 1 and priority is not null order by priority desc) l
                cross join lateral (
                  select j.id, j.ctid as place
                    from reprise_job j
                   where j.queue = :queue
                     and j.lane = 1 and j.priority = l.priority and j.turn = '' and j.due_at <= (select reprise_clock())
                     and (j.due_at, j.id) > (l.due_at, l.id)
                     and (j.deadline is null or j.deadline > (select reprise_clock()))
                     and j.id not in (select unnest(h.ids) from reprise_lease h where h.queue = :queue and h.id >= :floor)
                   order by j.due_at, j.id
                   limit {batch}) x
               limit (select least(r.jobs, greatest(r.retries, r.jobs - (select count(*) from fresh))) from room r)),
            picked as materialized (
              select * from retry
              union all
              (select * from fresh limit (select r.jobs - (select count(*) from retry) from room r))),
            lease as (
              insert into reprise_lease (id, queue, worker, runner, alone, claimed_at, expires_at, unheard, ids)
              select nextval('reprise_token'), r.queue, r.worker, r.worker, false, reprise_clock(),
                     reprise_clock() + r.lease_us, r.remote * cardinality(p.ids), p.ids
                from room r
                cross join (select array_agg(id order by id) as ids from picked) p
               where p.ids is not null
              returning id, claimed_at)
            select l.id, l.claimed_at, (select min(h.id) from reprise_lease h where h.queue = :queue and h.id >= :floor),
                   (select bit_or(1::bigint << (lane * 20 + priority + 9)) from level where priority is not null),
                   (select s.id from reprise_job s where s.queue = :queue and s.lane = 2 limit 1) is not null,
                   (select g.id
                      from level l
                      cross join lateral (
                        select j.id from reprise_job j
                         where j.queue = :queue and j.lane = l.lane and j.priority = l.priority and j.turn > ''
                         order by j.turn, j.due_at, j.id
                         limit 1) g
                     limit 1) is not null, {claimed}
              from lease l
              cross join picked p
              join reprise_job j on j.ctid = p.place
            """;

    // All levels: jumps through the index from one level to the next.
    private static final String FROM_START = """
            level (lane, priority, due_at, id) as (
              select x.lane,
                     (select j.priority from reprise_job j
                       where j.queue = :queue and j.lane = x.lane order by j.priority desc limit 1), {least}, {least}
                from (values (0::smallint), (1::smallint)) as x (lane)
              union all
              select l.lane,
                     (select j.priority from reprise_job j
                       where j.queue = :queue and j.lane = l.lane and j.priority < l.priority
                       order by j.priority desc limit 1), {least}, {least}
                from level l
               where l.priority is not null)""";

    // The levels of the cursor, from its positions on.
    private static final String FROM_CURSOR = """
            level (lane, priority, due_at, id) as (
              select c.lane::smallint, c.priority::smallint, c.due_at, c.id
                from unnest((select :lanes::bigint[]), (select :priorities::bigint[]), (select :dues::bigint[]), (select :ids::bigint[]))
                  as c (lane, priority, due_at, id))""";

    // Claims suspects under a lease of their own: from the first on, as many as may run together.
    // Otherwise it works like CLAIM.
    private static final String CLAIM_SUSPECTS = """
            select {lock_queue} where set_config('lock_timeout', '{wait}', true) is not null
               and set_config('enable_bitmapscan', 'off', true) is not null
               and set_config('enable_seqscan', 'off', true) is not null;
            with recursive asked as (
              select cast(:queue as text) as queue, cast(:jobs as int) as jobs, cast(:beside as int) as beside,
                     cast(:worker as text) as worker, cast(:lease_us as bigint) as lease_us, cast(:remote as int) as remote),
            room as materialized (
              select a.queue, a.beside, a.worker, a.lease_us, a.remote,
                     least(a.jobs, {room}) as jobs
                from asked a),
            level (priority) as (
              select (select j.priority from reprise_job j
                       where j.queue = :queue and j.lane = 2 order by j.priority desc limit 1)
              union all
              select (select j.priority from reprise_job j
                       where j.queue = :queue and j.lane = 2 and j.priority < l.priority
                       order by j.priority desc limit 1)
                from level l
               where l.priority is not null),
            found as materialized (
              select l.priority, x.*
                from (select priority from level where priority is not null order by priority desc) l
                cross join lateral (
                  select j.id, j.ctid as place, j.due_at, coalesce(j.together, 1) as together
                    from reprise_job j
                   where j.queue = :queue
                     and j.lane = 2 and j.priority = l.priority and j.turn = '' and j.due_at <= (select reprise_clock())
                     and (j.deadline is null or j.deadline > (select reprise_clock()))
                     and j.id not in (select unnest(h.ids) from reprise_lease h where h.queue = :queue){types}
                   order by j.due_at, j.id
                   limit {batch}) x
               limit (select jobs from room)),
            picked as materialized (
              select g.id, g.place, g.together
                from (select f.id, f.place, row_number() over w as n, min(f.together) over w as together
                        from found f
                      window w as (order by f.priority desc, f.due_at, f.id)) g
                cross join room r
               where g.n <= g.together - r.beside),
            lease as (
              insert into reprise_lease (id, queue, worker, runner, alone, claimed_at, expires_at, unheard, ids)
              select nextval('reprise_token'), r.queue, r.worker, r.worker, p.together = 1, reprise_clock(),
                     reprise_clock() + r.lease_us, r.remote * cardinality(p.ids), p.ids
                from room r
                cross join (select array_agg(id order by id) as ids, min(together) as together from picked) p
               where p.ids is not null
              returning id, claimed_at)
            select l.id, l.claimed_at, l.id, (select min(together) from picked), true, false, {claimed}
              from lease l
              cross join picked p
              join reprise_job j on j.ctid = p.place
            """;

    private static final String OF_TYPES = "\n                     and j.type = any(:types::text[])";

    private static final String OF_OPEN_GROUPS =
            "\n                     and (j.job_group is null or j.job_group <> all(:full::text[]))"
                    + " and j.type <> all(:full_types::text[])"
                    + "\n                     and (j.job_group is null or j.job_group <> all(:behind::text[])"
                    + " or j.id = any(:heads::bigint[]))";

    private static final String SUSPECT_GROUPS = """
            select distinct job_group
              from reprise_job
             where queue = ? and lane = 2 and job_group is not null
            """;

    private static final String OF_OTHERS = "\n                     and j.type <> all(:types::text[])";

    static String ofTypes(ClaimRequest request) {
        return request.types().isEmpty() ? "" : request.others() ? OF_OTHERS : OF_TYPES;
    }

    /** By priority, then by due time and id. */
    static final Comparator<ClaimCursor.Taken> FIRST = Comparator.comparingInt(
                    (ClaimCursor.Taken taken) -> -taken.level().priority())
            .thenComparing(ClaimCursor.Taken::position);

    private final Database database;
    private final JobRows jobs;
    private final OldSnapshot snapshot;
    private final TableStatistics statistics;
    private final RetryShare share = new RetryShare();
    private final Turns turns = new Turns();
    private final Map<String, ClaimCursor> cursors = new ConcurrentHashMap<>();

    /** Queues in which the last claim saw no suspects. The next claim does not ask for suspects there. */
    private final Set<String> withoutSuspects = ConcurrentHashMap.newKeySet();

    /** Queues that gave many jobs when they were claimed together with others. */
    private final Set<String> large = ConcurrentHashMap.newKeySet();

    private final PostgresTurns walks;
    private final PostgresManyQueues many;
    private volatile Known known = new Known(Set.of(), Long.MIN_VALUE);
    private volatile boolean busy;

    public PostgresClaims(Database database, JobRows jobs) {
        this.database = database;
        this.jobs = jobs;
        this.snapshot = new OldSnapshot(database);
        this.statistics = new TableStatistics(database);
        this.walks = new PostgresTurns(database, jobs, turns);
        this.many = new PostgresManyQueues(database, jobs, share, turns, walks);
    }

    /**
     * The queues that a probe found.
     *
     * @param grouped queues in which jobs of groups can be claimed
     */
    private record Found(Set<String> queues, Set<String> suspects, Set<String> grouped) {}

    @Override
    public List<Claim> claim(ClaimRequest request) {
        if (busy) {
            statistics.keepUp();
        }
        boolean one = request.demands().size() == 1 && request.types().isEmpty();
        List<Claim> claims = one ? claimOne(request) : new Turn(request).claim();
        busy = !claims.isEmpty();
        return claims;
    }

    private List<Claim> claimOne(ClaimRequest request) {
        // A probe scans from the start, so it is skipped while the queue is busy or a scan is slow.
        ClaimRequest.Demand demand = request.demands().get(0);
        if (turns.isGrouped(demand.queue()) || demand.rules().isLimited()) {
            return new Turn(request).claim();
        }
        int want = Math.min(request.max(), demand.max());
        ClaimCursor cursor = cursors.get(demand.queue());
        boolean costly = cursor != null && cursor.isTrusted(System.nanoTime());
        List<Claim> claims = List.of();
        if (busy || costly) {
            claims = claim(request, demand.queue(), want, request.suspects(), everything(demand.queue()));
        }
        if (claims.isEmpty() && !costly) {
            Found found = probe(request);
            found.grouped.forEach(queue -> turns.seen(queue, true));
            claims = found.grouped.isEmpty()
                    ? claim(request, demand.queue(), want, request.suspects(), found)
                    : new Turn(request).claim();
        } else if (turns.isGrouped(demand.queue()) && request.max() <= demand.max()) {
            claims = withGroups(request, claims);
        }
        return claims;
    }

    /** Adds jobs of groups, which the first claim has just seen. */
    private List<Claim> withGroups(ClaimRequest request, List<Claim> claims) {
        Turn turn = new Turn(request);
        turn.add(claims);
        return turn.claim();
    }

    /** One request for several queues, or for some types. */
    private final class Turn {

        private final ClaimRequest request;
        private final List<Claim> claims = new ArrayList<>();
        private final List<ClaimRequest.Demand> group = new ArrayList<>();
        private int left;
        private Suspects suspects;

        Turn(ClaimRequest request) {
            this.request = request;
            this.left = request.max();
            this.suspects = request.suspects();
        }

        List<Claim> claim() {
            try {
                for (ClaimRequest.Demand demand : request.demands()) {
                    boolean wide = walks.isWide(request, demand.queue());
                    boolean alone = wide || isAlone(demand.queue());
                    // One scan has one limit for all of its queues.
                    boolean limited = demand.max() < left;
                    if (alone || limited || group.size() == GROUP) {
                        claimGroup();
                    }
                    if (wide) {
                        claimWide(demand);
                    } else if (!alone || !claimAlone(demand)) {
                        // A queue that gives nothing may hold jobs of groups, which only a look sees.
                        group.add(demand);
                    }
                    if (limited) {
                        claimGroup();
                    }
                }
                claimGroup();
            } catch (StoreException e) {
                // The earlier claims are committed, so they are returned and run.
                if (claims.isEmpty()) {
                    throw e;
                }
                log.warn("Claimed from some queues only: {}", e.getMessage());
            }
            return claims;
        }

        private boolean isAlone(String queue) {
            if (!request.types().isEmpty()
                    || turns.isGrouped(queue)
                    || request.rulesOf(queue).isLimited()) {
                return false;
            }
            ClaimCursor cursor = cursors.get(queue);
            return large.contains(queue) || (cursor != null && cursor.goesOn(System.nanoTime()));
        }

        /** Claims jobs without a group. Returns whether there were any. */
        private boolean claimAlone(ClaimRequest.Demand demand) {
            int want = Math.min(left, demand.max());
            List<Claim> some =
                    PostgresClaims.this.claim(request, demand.queue(), want, suspects, everything(demand.queue()));
            add(some);
            if (some.isEmpty()
                    || (want > LARGE
                            && some.stream().noneMatch(claim -> claim.jobs().size() >= LARGE))) {
                large.remove(demand.queue());
            }
            return !some.isEmpty();
        }

        /** Claims one job of each of the next groups. What it leaves is for a look. */
        private void claimWide(ClaimRequest.Demand demand) {
            String queue = demand.queue();
            int before = left;
            if (left > 0 && suspects.max() > 0 && !withoutSuspects.contains(queue)) {
                add(orPass(() -> claimSuspects(request, queue, Math.min(left, demand.max()), suspects), List.of()));
            }
            int want = Math.min(Math.min(left, demand.max() - (before - left)), MAX_BATCH);
            if (want <= 0) {
                return;
            }
            PostgresTurns.Walked walked = orPass(() -> walks.claim(request, queue, want), PostgresTurns.Walked.PASSED);
            noteSuspects(queue, walked.suspects(), walked.claim() != null);
            if (walked.claim() != null) {
                add(List.of(walked.claim()));
                share.claimed(queue, walked.claim().jobs().size(), request.retryShare());
            }
            if (!walked.done()) {
                group.add(new ClaimRequest.Demand(queue, demand.max() - (before - left), demand.rules()));
            }
        }

        private void claimGroup() {
            int late = 0;
            boolean again = !group.isEmpty();
            for (int turn = 0; again && left > 0 && turn < TURNS; turn++) {
                PostgresManyQueues.Taken taken = claimFound();
                late += taken.tooLate() ? 1 : 0;
                again = taken.takenHere() || (taken.tooLate() && late < TRIES);
            }
            group.clear();
        }

        private PostgresManyQueues.Taken claimFound() {
            int most = group.size() == 1 ? Math.min(left, group.get(0).max()) : left;
            PostgresManyQueues.Look look = many.look(request, group, most, suspects.max());
            for (String queue : look.suspects()) {
                if (left > 0 && suspects.max() > 0) {
                    claimSuspected(queue);
                }
            }
            PostgresManyQueues.Taken taken =
                    orPass(() -> many.take(request, group, left, look), PostgresManyQueues.Taken.NOTHING);
            add(taken.claims());
            taken.claims().stream()
                    .filter(claim -> claim.jobs().size() >= LARGE && !turns.isGrouped(claim.queue()))
                    .forEach(claim -> noteLarge(claim.queue()));
            return taken;
        }

        /** Suspects count towards what is wanted of their queue. */
        private void claimSuspected(String queue) {
            int most = group.stream()
                    .filter(demand -> demand.queue().equals(queue))
                    .mapToInt(ClaimRequest.Demand::max)
                    .sum();
            List<Claim> some = orPass(() -> claimSuspects(request, queue, Math.min(left, most), suspects), List.of());
            add(some);
            int taken = some.stream().mapToInt(claim -> claim.jobs().size()).sum();
            group.replaceAll(demand ->
                    demand.queue().equals(queue) ? new ClaimRequest.Demand(queue, demand.max() - taken) : demand);
        }

        /** Returns nothing if another session has the lock of the queue. */
        private <T> T orPass(Supplier<T> claim, T nothing) {
            try {
                return claim.get();
            } catch (StoreException e) {
                if (!SqlErrors.isLockTimeout(e)) {
                    throw e;
                }
                log.debug("Passed a queue: {}", e.getMessage());
                return nothing;
            }
        }

        private void add(List<Claim> some) {
            claims.addAll(some);
            for (Claim claim : some) {
                suspects = claim.together() > 0 ? suspects.after(claim) : suspects;
            }
            left -= some.stream().mapToInt(claim -> claim.jobs().size()).sum();
        }
    }

    private void noteLarge(String queue) {
        if (large.size() >= MOST_NAMES) {
            large.clear();
        }
        large.add(queue);
    }

    /**
     * Claims suspects and a batch of one queue. If the queue's lock is not available, returns the claims made so far.
     */
    private List<Claim> claim(ClaimRequest request, String queue, int want, Suspects suspects, Found found) {
        List<Claim> claims = new ArrayList<>();
        try {
            if (want > 0 && suspects.max() > 0 && found.suspects().contains(queue)) {
                claims.addAll(claimSuspects(request, queue, want, suspects));
            }
            int rest = want
                    - claims.stream().mapToInt(claim -> claim.jobs().size()).sum();
            if (rest > 0 && found.queues().contains(queue)) {
                claims.addAll(claimBatch(request, queue, Math.min(rest, MAX_BATCH)));
            }
        } catch (StoreException e) {
            // The earlier claims are committed, so they are returned and run.
            if (claims.isEmpty() && !SqlErrors.isLockTimeout(e)) {
                throw e;
            }
            log.debug("Passed queue {}: {}", queue, e.getMessage());
        }
        return claims;
    }

    /**
     * Returns the queues with live jobs. While an old snapshot is open this scan is slow too, so its
     * answer is reused for a while.
     */
    @Override
    public Set<String> liveQueues() {
        Known before = known;
        long from = System.nanoTime();
        if (from < before.untilNanos) {
            return before.queues;
        }
        Set<String> queues = Set.copyOf(database.read("name the queues", QueueTable::live));
        long took = System.nanoTime() - from;
        boolean costly = snapshot.isHeld(took);
        known = new Known(queues, costly ? from + ClaimCursor.SHARE_IF_DEAR * took : from);
        return queues;
    }

    /** The queues of the last scan, and how long that answer is used. */
    private record Known(Set<String> queues, long untilNanos) {}

    @Override
    public DueQueues dueQueues(String after, String before, int looks) {
        return many.dueQueues(after, before, looks);
    }

    @Override
    public void woken() {
        busy = true;
        many.changed();
    }

    @Override
    public void settled(List<Settlement> settlements) {
        many.settled(settlements);
        if (settlements.stream().anyMatch(settlement -> settlement.next() instanceof Settlement.PutBack)) {
            cursors.values().forEach(ClaimCursor::forget);
        }
        if (settlements.stream().anyMatch(settlement -> settlement.spent() == CountedAs.LOSS)) {
            withoutSuspects.clear();
        }
    }

    @Override
    public void unparked() {
        many.changed();
        cursors.values().forEach(ClaimCursor::forget);
        withoutSuspects.clear();
    }

    private Found everything(String queue) {
        return new Found(Set.of(queue), withoutSuspects.contains(queue) ? Set.of() : Set.of(queue), Set.of());
    }

    private Found probe(ClaimRequest request) {
        String[] names =
                request.demands().stream().map(ClaimRequest.Demand::queue).toArray(String[]::new);
        Found found = new Found(new HashSet<>(), new HashSet<>(), new HashSet<>());
        database.send(
                "look for due jobs",
                Refusal.never(),
                session -> session.listOfLast(
                        PostgresManyQueues.BY_INDEX + PROBE,
                        row -> {
                            String queue = row.text();
                            boolean suspect = row.flag();
                            boolean group = row.flag();
                            return (suspect ? found.suspects : group ? found.grouped : found.queues).add(queue);
                        },
                        Params.of("queues", names)));
        return found;
    }

    private List<Claim> claimBatch(ClaimRequest request, String queue, int want) {
        int retries = share.kept(queue, want, request.retryShare());
        if (cursors.size() >= MOST_NAMES) {
            cursors.clear();
        }
        ClaimCursor cursor = cursors.computeIfAbsent(queue, name -> new ClaimCursor());
        List<Claim> claims = List.of();
        long from = System.nanoTime();
        boolean goesOn = cursor.goesOn(from);
        if (goesOn) {
            claims = claimBatch(request, queue, want, retries, cursor, FROM_CURSOR);
        }
        if (claims.isEmpty() && !(goesOn && cursor.isTrusted(from))) {
            claims = claimBatch(request, queue, want, retries, cursor, FROM_START);
            long to = System.nanoTime();
            cursor.scanned(from, to, snapshot.isHeld(to - from));
        }
        share.claimed(queue, claims.isEmpty() ? 0 : claims.get(0).jobs().size(), request.retryShare());
        return claims;
    }

    private List<Claim> claimBatch(
            ClaimRequest request, String queue, int want, int retries, ClaimCursor cursor, String levels) {
        String sql = sql(database.dialect(), CLAIM.replace("{levels}", levels), batchClass(want));
        Params params = params(request, queue, want).and("retries", retries).and("floor", cursor.floor());
        Params all = levels.equals(FROM_CURSOR) ? cursor.addTo(params) : params;
        Answer answer = database.send(
                "claim jobs of queue " + queue, Refusal.never(), session -> read(session, request.worker(), sql, all));
        cursor.claimed(answer.jobs, want, answer.leastLease, answer.levels);
        turns.seen(queue, answer.grouped);
        noteSuspects(queue, answer.suspects, !answer.jobs.isEmpty());
        return answer.claims(queue, 0);
    }

    private void noteSuspects(String queue, boolean some, boolean claimed) {
        if (some) {
            withoutSuspects.remove(queue);
        } else if (claimed && withoutSuspects.size() < MOST_NAMES) {
            withoutSuspects.add(queue);
        }
    }

    private List<Claim> claimSuspects(ClaimRequest request, String queue, int want, Suspects suspects) {
        int most = Math.min(Math.min(want, suspects.max()), MAX_SUSPECTS);
        Params params = params(request, queue, most)
                .and("beside", suspects.beside())
                .and("types", request.types().toArray(String[]::new));
        if (request.rulesOf(queue).isLimited()) {
            return claimLimitedSuspect(request, queue, params);
        }
        String sql = sql(database.dialect(), ofTypes(request), CLAIM_SUSPECTS, batchClass(suspects.max()));
        Answer answer = database.send(
                "claim suspects of queue " + queue,
                Refusal.never(),
                session -> read(session, request.worker(), sql, params));
        return answer.claims(queue, (int) answer.levels);
    }

    /** Claims one suspect whose group may start a job. Suspects of limited groups are not worth a longer statement. */
    private List<Claim> claimLimitedSuspect(ClaimRequest request, String queue, Params params) {
        GroupRules rules = request.rulesOf(queue);
        return database.write("claim a suspect of queue " + queue, Refusal.never(), session -> {
            session.dialect().lockQueueSoon(session, queue);
            List<String> groups = session.list(SUSPECT_GROUPS, SqlRow::text, queue);
            FlowGate gate = FlowTable.gate(session, queue, rules, groups);
            Map<String, Long> heads = new HashMap<>();
            for (String group : groups) {
                Long head = gate.head(group);
                if (head != null) {
                    heads.put(group, head);
                }
            }
            String[] full =
                    groups.stream().filter(group -> gate.room(group) == 0).toArray(String[]::new);
            if (gate.room((String) null) == 0) {
                return List.of();
            }
            String sql = sql(session.dialect(), ofTypes(request) + OF_OPEN_GROUPS, CLAIM_SUSPECTS, 1);
            Answer answer = read(
                    session,
                    request.worker(),
                    sql,
                    params.and("full", full)
                            .and("full_types", gate.fullTypes().toArray(String[]::new))
                            .and("behind", heads.keySet().toArray(String[]::new))
                            .and(
                                    "heads",
                                    heads.values().stream()
                                            .mapToLong(Long::longValue)
                                            .toArray()));
            List<Claim> claims = answer.claims(queue, (int) answer.levels);
            FlowTable.started(session, queue, gate, claims);
            return claims;
        });
    }

    static Params params(ClaimRequest request, String queue, int jobs) {
        return Params.of("queue", queue)
                .and("jobs", jobs)
                .and("worker", request.worker())
                .and("lease_us", SqlTime.of(request.lease()))
                .and("remote", request.remote() ? 1 : 0);
    }

    /** Returns the claim of up to a batch from the start, without the lock statement. */
    static String claimSql(Dialect dialect, int batch) {
        return sql(dialect, CLAIM.replace("{levels}", FROM_START), batch).split(";\n", 2)[1];
    }

    /** Returns the claim of up to a batch from the cursor, without the lock statement. */
    static String goOnSql(Dialect dialect, int batch) {
        return sql(dialect, CLAIM.replace("{levels}", FROM_CURSOR), batch).split(";\n", 2)[1];
    }

    private static String sql(Dialect dialect, String template, int batch) {
        return sql(dialect, "", template, batch);
    }

    private static String sql(Dialect dialect, String types, String template, int batch) {
        return dialect.sql(template.replace("{batch}", Integer.toString(batch))
                .replace("{types}", types)
                .replace("{wait}", Integer.toString(WAIT_MILLIS))
                .replace("{least}", "-9223372036854775808")
                .replace("{room}", PostgresDialect.room("a.queue"))
                .replace("{lock_queue}", PostgresDialect.LOCK_QUEUE));
    }

    static int batchClass(int want) {
        for (int size : CLASSES) {
            if (want <= size) {
                return size;
            }
        }
        return CLASSES[CLASSES.length - 1];
    }

    private static final class Answer {
        long token;
        Instant claimedAt = Instant.EPOCH;
        long leastLease;
        long levels;
        boolean suspects;
        boolean grouped;
        final List<ClaimCursor.Taken> jobs = new ArrayList<>();

        List<Claim> claims(String queue, int together) {
            if (jobs.isEmpty()) {
                return List.of();
            }
            List<Job> ordered =
                    jobs.stream().sorted(FIRST).map(ClaimCursor.Taken::job).toList();
            Set<JobId> admitted = jobs.stream()
                    .filter(ClaimCursor.Taken::admitted)
                    .map(taken -> taken.job().id())
                    .collect(Collectors.toSet());
            Map<JobId, String> damaged = new HashMap<>();
            for (ClaimCursor.Taken taken : jobs) {
                if (taken.damage() != null) {
                    damaged.put(taken.job().id(), taken.damage());
                }
            }
            return List.of(new Claim(token, queue, claimedAt, together == 1, ordered, admitted, damaged, together));
        }
    }

    private Answer read(Session session, String worker, String sql, Params params) throws SQLException {
        Answer answer = new Answer();
        session.listOfLast(
                sql,
                row -> {
                    answer.token = row.number();
                    answer.claimedAt = row.instant();
                    Long least = row.numberOrNull();
                    answer.leastLease = least == null ? answer.token : least;
                    answer.levels = row.number();
                    answer.suspects = row.flag();
                    answer.grouped = row.flag();
                    return answer.jobs.add(jobs.claimed(session, row, worker, answer.token, answer.claimedAt));
                },
                params);
        return answer;
    }
}
