// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.Job;
import io.reprise.JobId;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import io.reprise.store.DueQueues;
import io.reprise.store.Settlement;
import io.reprise.store.Spent;
import io.reprise.store.StoreException;
import io.reprise.store.Suspects;
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
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Claims of one queue run one at a time, under the queue's advisory lock; a claim writes one lease row and no job. */
final class PostgresClaims implements Claims {

    private static final Logger log = LoggerFactory.getLogger(PostgresClaims.class);

    /** How long to wait for who claims from a queue, or changes a job of it; then the next queue's turn is. */
    static final int WAIT_MILLIS = 500;

    static final int RETRY = 1;
    static final int SUSPECT = 2;

    /** Queues that are looked at together. */
    private static final int GROUP = 100;

    /** A queue that gives so many has more: it is claimed from by itself, which is cheaper for each job. */
    private static final int LARGE = 100;

    /** Beyond this all is forgotten: names of queues are free to make. */
    private static final int MOST_NAMES = 1_000;

    private static final int MAX_SUSPECTS = 1_000;

    /** Looks that a claim makes if other processes lease what it found. */
    private static final int TRIES = 2;

    /** Times that a claim asks for what a look before it found if other threads are faster; this costs no round trip. */
    private static final int TURNS = 20;

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
    // lock is bounded, since a caller's transaction may hold it long. Bitmaps are off also behind a pooler, which has
    // no
    // sessions to set them so. Walks due entries of reprise_job_ready; the ids
    // held are hashed, and only if some job is due. Fresh jobs and retries are two ranges of the index: retries get
    // their part of the batch or what fresh ones leave, whichever is more, and fresh ones get the rest. The rows are
    // read
    // where the index said they are, which is where this snapshot sees them.
    private static final String CLAIM = """
            select {lock_queue} where set_config('lock_timeout', '{wait}', true) is not null
               and set_config('enable_bitmapscan', 'off', true) is not null
               and set_config('enable_seqscan', 'off', true) is not null;
            with recursive asked as (
              select cast(? as text) as queue, cast(? as int) as jobs, cast(? as int) as retries, cast(? as text) as worker,
                     cast(? as bigint) as lease_us, cast(? as int) as remote),
            room as materialized (
              select a.queue, a.retries, a.worker, a.lease_us, a.remote,
                     case when q.name is null then a.jobs
                          when q.paused_at is not null then 0
                          when q.max_running is null then a.jobs
                          else greatest(0, least(a.jobs, q.max_running - (
                            select count(*) from reprise_held h
                              cross join lateral (
                                select 1 from reprise_job where id = h.id and token < h.token offset 0) j
                             where h.queue = a.queue))) end as jobs
                from asked a
                left join reprise_queue q on q.name = a.queue),
            {levels},
            fresh as materialized (
              select x.*
                from (select * from level where lane = 0 and priority is not null order by priority desc) l
                cross join lateral (
                  select j.id, j.{place} as place
                    from reprise_job j
                   where j.queue = ?
                     and j.lane = 0 and j.priority = l.priority and j.due_at <= (select reprise_clock())
                     and (j.due_at, j.id) > (l.due_at, l.id)
                     and (j.deadline is null or j.deadline > (select reprise_clock()))
                     and j.id not in (select unnest(h.ids) from reprise_lease h where h.queue = ? and h.id >= ?)
                   order by j.due_at, j.id
                   limit {batch}) x
               limit (select jobs from room)),
            retry as materialized (
              select x.*
                from (select * from level where lane = 1 and priority is not null order by priority desc) l
                cross join lateral (
                  select j.id, j.{place} as place
                    from reprise_job j
                   where j.queue = ?
                     and j.lane = 1 and j.priority = l.priority and j.due_at <= (select reprise_clock())
                     and (j.due_at, j.id) > (l.due_at, l.id)
                     and (j.deadline is null or j.deadline > (select reprise_clock()))
                     and j.id not in (select unnest(h.ids) from reprise_lease h where h.queue = ? and h.id >= ?)
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
            select l.id, l.claimed_at, (select min(h.id) from reprise_lease h where h.queue = ? and h.id >= ?),
                   (select bit_or(1::bigint << (lane * 20 + priority + 9)) from level where priority is not null),
                   (select s.id from reprise_job s where s.queue = ? and s.lane = 2 limit 1) is not null, {claimed}
              from lease l
              cross join picked p
              join reprise_job j on j.{place} = p.place
            """;

    // All levels there are: jumps through the index from one to the next.
    private static final String FROM_START = """
            level (lane, priority, due_at, id) as (
              select x.lane,
                     (select j.priority from reprise_job j
                       where j.queue = ? and j.lane = x.lane order by j.priority desc limit 1), {least}, {least}
                from (values (0::smallint), (1::smallint)) as x (lane)
              union all
              select l.lane,
                     (select j.priority from reprise_job j
                       where j.queue = ? and j.lane = l.lane and j.priority < l.priority
                       order by j.priority desc limit 1), {least}, {least}
                from level l
               where l.priority is not null)""";

    // The levels of the cursor, from where it stands.
    private static final String FROM_CURSOR = """
            level (lane, priority, due_at, id) as (
              select c.lane::smallint, c.priority::smallint, c.due_at, c.id
                from unnest((select ?::bigint[]), (select ?::bigint[]), (select ?::bigint[]), (select ?::bigint[]))
                  as c (lane, priority, due_at, id))""";

    // The same for suspects, which get a lease of their own: from the first on, as many as may run together.
    private static final String CLAIM_SUSPECTS = """
            select {lock_queue} where set_config('lock_timeout', '{wait}', true) is not null
               and set_config('enable_bitmapscan', 'off', true) is not null
               and set_config('enable_seqscan', 'off', true) is not null;
            with recursive asked as (
              select cast(? as text) as queue, cast(? as int) as jobs, cast(? as int) as beside, cast(? as text) as worker,
                     cast(? as bigint) as lease_us, cast(? as int) as remote),
            room as materialized (
              select a.queue, a.beside, a.worker, a.lease_us, a.remote,
                     case when q.name is null then a.jobs
                          when q.paused_at is not null then 0
                          when q.max_running is null then a.jobs
                          else greatest(0, least(a.jobs, q.max_running - (
                            select count(*) from reprise_held h
                              cross join lateral (
                                select 1 from reprise_job where id = h.id and token < h.token offset 0) j
                             where h.queue = a.queue))) end as jobs
                from asked a
                left join reprise_queue q on q.name = a.queue),
            level (priority) as (
              select (select j.priority from reprise_job j
                       where j.queue = ? and j.lane = 2 order by j.priority desc limit 1)
              union all
              select (select j.priority from reprise_job j
                       where j.queue = ? and j.lane = 2 and j.priority < l.priority
                       order by j.priority desc limit 1)
                from level l
               where l.priority is not null),
            found as materialized (
              select l.priority, x.*
                from (select priority from level where priority is not null order by priority desc) l
                cross join lateral (
                  select j.id, j.{place} as place, j.due_at, coalesce(j.together, 1) as together
                    from reprise_job j
                   where j.queue = ?
                     and j.lane = 2 and j.priority = l.priority and j.due_at <= (select reprise_clock())
                     and (j.deadline is null or j.deadline > (select reprise_clock()))
                     and j.id not in (select unnest(h.ids) from reprise_lease h where h.queue = ?){types}
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
            select l.id, l.claimed_at, l.id, (select min(together) from picked), true, {claimed}
              from lease l
              cross join picked p
              join reprise_job j on j.{place} = p.place
            """;

    private static final String OF_TYPES = "\n                     and j.type = any(?::text[])";

    private static final String OF_OTHERS = "\n                     and j.type <> all(?::text[])";

    static String ofTypes(ClaimRequest request) {
        return request.types().isEmpty() ? "" : request.others() ? OF_OTHERS : OF_TYPES;
    }

    /** By priority, then as they fell due. */
    static final Comparator<ClaimCursor.Taken> FIRST = Comparator.comparingInt(
                    (ClaimCursor.Taken taken) -> -taken.level().priority())
            .thenComparing(ClaimCursor.Taken::position);

    private final Database database;
    private final Jobs jobs;
    private final OldSnapshot snapshot;
    private final Statistics statistics;
    private final RetryCredit credit = new RetryCredit();
    private final Map<String, ClaimCursor> cursors = new ConcurrentHashMap<>();

    /** Queues in which the last claim saw no suspects, which saves asking for one before the next batch. */
    private final Set<String> withoutSuspects = ConcurrentHashMap.newKeySet();

    /** Queues that gave many jobs when they were claimed from together with others. */
    private final Set<String> large = ConcurrentHashMap.newKeySet();

    private final PostgresManyQueues many;
    private volatile Known known = new Known(Set.of(), Long.MIN_VALUE);
    private volatile boolean busy;

    PostgresClaims(Database database, Jobs jobs) {
        this.database = database;
        this.jobs = jobs;
        this.snapshot = new OldSnapshot(database);
        this.statistics = new Statistics(database);
        this.many = new PostgresManyQueues(database, jobs, credit);
    }

    private record Found(Set<String> queues, Set<String> suspects) {}

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
        // To probe is to look from the start.
        ClaimRequest.Demand demand = request.demands().get(0);
        int want = Math.min(request.max(), demand.max());
        ClaimCursor cursor = cursors.get(demand.queue());
        boolean dear = cursor != null && cursor.isTrusted(System.nanoTime());
        List<Claim> claims = List.of();
        if (busy || dear) {
            claims = claim(request, demand.queue(), want, request.suspects(), everything(demand.queue()));
        }
        if (claims.isEmpty() && !dear) {
            claims = claim(request, demand.queue(), want, request.suspects(), probe(request));
        }
        return claims;
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
                    boolean alone = isAlone(demand.queue());
                    // A look knows one limit for all of its queues.
                    boolean limited = demand.max() < left;
                    if (alone || limited || group.size() == GROUP) {
                        claimGroup();
                    }
                    if (alone) {
                        claimAlone(demand);
                    } else {
                        group.add(demand);
                    }
                    if (limited) {
                        claimGroup();
                    }
                }
                claimGroup();
            } catch (StoreException e) {
                // What was claimed is committed: better run it than let it expire.
                if (claims.isEmpty()) {
                    throw e;
                }
                log.warn("Claimed from some queues only: {}", e.getMessage());
            }
            return claims;
        }

        private boolean isAlone(String queue) {
            if (!request.types().isEmpty()) {
                return false;
            }
            ClaimCursor cursor = cursors.get(queue);
            return large.contains(queue) || (cursor != null && cursor.goesOn(System.nanoTime()));
        }

        private void claimAlone(ClaimRequest.Demand demand) {
            int want = Math.min(left, demand.max());
            List<Claim> some =
                    PostgresClaims.this.claim(request, demand.queue(), want, suspects, everything(demand.queue()));
            add(some);
            if (want > LARGE && some.stream().noneMatch(claim -> claim.jobs().size() >= LARGE)) {
                large.remove(demand.queue());
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
                    .filter(claim -> claim.jobs().size() >= LARGE)
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

        /** Nothing if the queue's lock is not to be had. */
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

    /** Suspects and a batch of one queue; what there is of them if the queue's lock is not to be had. */
    private List<Claim> claim(ClaimRequest request, String queue, int want, Suspects suspects, Found found) {
        List<Claim> claims = new ArrayList<>();
        try {
            if (want > 0 && suspects.max() > 0 && found.suspects().contains(queue)) {
                claims.addAll(claimSuspects(request, queue, want, suspects));
            }
            int rest = want
                    - claims.stream().mapToInt(claim -> claim.jobs().size()).sum();
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

    /** While an old snapshot is held this looks through as many dead entries as a claim does, so it takes its turn too. */
    @Override
    public Set<String> liveQueues() {
        Known before = known;
        long from = System.nanoTime();
        if (from < before.untilNanos) {
            return before.queues;
        }
        Set<String> queues = Set.copyOf(database.read("name the queues", Queues::live));
        long took = System.nanoTime() - from;
        boolean dear = snapshot.isHeld(took);
        known = new Known(queues, dear ? from + ClaimCursor.SHARE_IF_DEAR * took : from);
        return queues;
    }

    /** The queues as they were told last, and until when that will do. */
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
        many.changed();
        if (settlements.stream().anyMatch(settlement -> settlement.next() instanceof Settlement.PutBack)) {
            cursors.values().forEach(ClaimCursor::forget);
        }
        if (settlements.stream().anyMatch(settlement -> settlement.spent() == Spent.LOSS)) {
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
        return new Found(Set.of(queue), withoutSuspects.contains(queue) ? Set.of() : Set.of(queue));
    }

    private Found probe(ClaimRequest request) {
        String[] names =
                request.demands().stream().map(ClaimRequest.Demand::queue).toArray(String[]::new);
        Found found = new Found(new HashSet<>(), new HashSet<>());
        database.send(
                "look for due jobs",
                session -> session.listOfLast(
                        PostgresManyQueues.BY_INDEX + PROBE,
                        row -> {
                            String queue = row.text();
                            return (row.flag() ? found.suspects() : found.queues()).add(queue);
                        },
                        (Object) names));
        return found;
    }

    private List<Claim> claimBatch(ClaimRequest request, String queue, int want) {
        int retries = credit.of(queue, want, request.retryShare());
        if (cursors.size() >= MOST_NAMES) {
            cursors.clear();
        }
        ClaimCursor cursor = cursors.computeIfAbsent(queue, name -> new ClaimCursor());
        List<Claim> claims = List.of();
        long from = System.nanoTime();
        boolean goesOn = cursor.goesOn(from);
        if (goesOn) {
            long[][] at = cursor.columns();
            claims = claimBatch(request, queue, want, retries, cursor, FROM_CURSOR, at[0], at[1], at[2], at[3]);
        }
        if (claims.isEmpty() && !(goesOn && cursor.isTrusted(from))) {
            claims = claimBatch(request, queue, want, retries, cursor, FROM_START, queue, queue);
            long to = System.nanoTime();
            cursor.looked(from, to, snapshot.isHeld(to - from));
        }
        credit.claimed(queue, claims.isEmpty() ? 0 : claims.get(0).jobs().size(), request.retryShare());
        return claims;
    }

    private List<Claim> claimBatch(
            ClaimRequest request,
            String queue,
            int want,
            int retries,
            ClaimCursor cursor,
            String levels,
            Object... levelArgs) {
        String sql = sql(database.dialect(), CLAIM.replace("{levels}", levels), batchClass(want));
        List<@Nullable Object> args = new ArrayList<>(List.of(
                queue, queue, want, retries, request.worker(), Micros.of(request.lease()), request.remote() ? 1 : 0));
        args.addAll(List.of(levelArgs));
        long floor = cursor.floor();
        args.addAll(List.of(queue, queue, floor, queue, queue, floor, queue, floor, queue));
        Answer answer = database.send(
                "claim jobs of queue " + queue, session -> read(session, request.worker(), sql, args.toArray()));
        cursor.claimed(answer.jobs, want, answer.leastLease, answer.levels);
        if (answer.suspects) {
            withoutSuspects.remove(queue);
        } else if (!answer.jobs.isEmpty() && withoutSuspects.size() < MOST_NAMES) {
            withoutSuspects.add(queue);
        }
        return answer.claims(queue, 0);
    }

    private List<Claim> claimSuspects(ClaimRequest request, String queue, int want, Suspects suspects) {
        int most = Math.min(Math.min(want, suspects.max()), MAX_SUSPECTS);
        List<@Nullable Object> args = new ArrayList<>(List.of(
                queue,
                queue,
                most,
                suspects.beside(),
                request.worker(),
                Micros.of(request.lease()),
                request.remote() ? 1 : 0,
                queue,
                queue,
                queue,
                queue));
        if (!request.types().isEmpty()) {
            args.add(request.types().toArray(String[]::new));
        }
        String sql = sql(database.dialect(), ofTypes(request), CLAIM_SUSPECTS, batchClass(suspects.max()));
        Answer answer = database.send(
                "claim suspects of queue " + queue, session -> read(session, request.worker(), sql, args.toArray()));
        return answer.claims(queue, (int) answer.levels);
    }

    /** The claim of up to a batch from the start, without the lock before it. */
    static String claimSql(Dialect dialect, int batch) {
        return sql(dialect, CLAIM.replace("{levels}", FROM_START), batch).split(";\n", 2)[1];
    }

    /** The same from a cursor. */
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
                .replace("{claimed}", Columns.CLAIMED));
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

    private Answer read(Session session, String worker, String sql, @Nullable Object... args) throws SQLException {
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
                    return answer.jobs.add(jobs.claimed(session, row, worker, answer.token, answer.claimedAt));
                },
                args);
        return answer;
    }
}
