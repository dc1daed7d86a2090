// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.postgres;

import io.reprise.fairness.FlowGate;
import io.reprise.fairness.FlowKey;
import io.reprise.fairness.GroupRules;
import io.reprise.jdbc.jobs.ClaimCursor;
import io.reprise.jdbc.jobs.FoundJobs;
import io.reprise.jdbc.jobs.JobRows;
import io.reprise.jdbc.rows.FlowTable;
import io.reprise.jdbc.sql.Database;
import io.reprise.jdbc.sql.Database.Refusal;
import io.reprise.jdbc.sql.Dialect;
import io.reprise.jdbc.sql.Params;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.jdbc.sql.SqlTime;
import io.reprise.jdbc.sql.StoredLane;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec.Needs;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import io.reprise.store.DueQueues;
import io.reprise.store.RetryShare;
import io.reprise.store.Settlement;
import io.reprise.store.StoreException;
import io.reprise.store.Turns;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims from many queues at once, or jobs of some types only. It finds due jobs without locks, and then takes them by
 * id under the locks of their queues. So nobody waits while it steps over jobs of other types. A queue whose lock is
 * held gives no jobs this time.
 */
final class PostgresManyQueues {

    private static final Logger log = LoggerFactory.getLogger(PostgresManyQueues.class);

    private static final int MAX_BATCH = 1_000;

    /** Turns whose limits are reached that a look passes: jumps within one statement. */
    private static final int VISITS = 4_000;

    // With old statistics the planner would rather read the whole table than jump through the index.
    static final String BY_INDEX = """
            select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
                   set_config('jit', 'off', true);
            """;

    // Jumps from level to level and from queue to queue through reprise_job_ready. In each level it reads due entries
    // until one is not held. Takes no locks.
    private static final String DUE_QUEUES = """
            with recursive level (queue, lane, priority, looks) as (
              (select j.queue, j.lane, j.priority, 1
                 from reprise_job j
                where j.queue > :after and j.queue < :before
                order by j.queue, j.lane, j.priority desc, j.turn, j.due_at, j.id
                limit 1)
              union all
              select x.queue, x.lane, x.priority, l.looks + case when x.queue = l.queue then 0 else 1 end
                from level l
                cross join lateral (
                  (select j.queue, j.lane, j.priority
                     from reprise_job j
                    where j.queue = l.queue and j.lane = l.lane and j.priority < l.priority and l.lane < 3
                    order by j.priority desc, j.turn, j.due_at, j.id
                    limit 1)
                  union all
                  (select j.queue, j.lane, j.priority
                     from reprise_job j
                    where j.queue = l.queue and j.lane > l.lane and j.lane < 3
                    order by j.lane, j.priority desc, j.turn, j.due_at, j.id
                    limit 1)
                  union all
                  (select j.queue, j.lane, j.priority
                     from reprise_job j
                    where j.queue > l.queue and j.queue < :before
                    order by j.queue, j.lane, j.priority desc, j.turn, j.due_at, j.id
                    limit 1)
                  limit 1) x
               where l.looks <= :looks)
            select l.queue, l.looks,
                   l.lane < 3
                   and not exists (
                     select 1 from reprise_queue p where p.name = l.queue and p.paused_at is not null)
                   and coalesce((
                     select j.id from reprise_job j
                      where j.queue = l.queue and j.lane = l.lane and j.priority = l.priority and j.turn = ''
                        and j.due_at <= reprise_now()
                        and (j.deadline is null or j.deadline > reprise_now())
                        and j.id not in (select unnest(h.ids) from reprise_lease h)
                      order by j.due_at, j.id
                      limit 1), (
                     select j.id from reprise_job j
                      where j.queue = l.queue and j.lane = l.lane and j.priority = l.priority and j.turn > ''
                        and j.due_at <= reprise_now()
                        and (j.deadline is null or j.deadline > reprise_now())
                        and j.id not in (select unnest(h.ids) from reprise_lease h)
                      order by j.turn, j.due_at, j.id
                      limit 1)) is not null
              from level l
            """;

    // Reads queue by queue in the order asked for, and level by level, until there are enough jobs of
    // each kind. Takes no locks.
    private static final String FIND = """
            with recursive asked as materialized (
              select q.name, q.n
                from unnest((select :queues::text[])) with ordinality as q (name, n)
               where not exists (select 1 from reprise_queue p where p.name = q.name and p.paused_at is not null)),
            level (n, queue, lane, priority) as (
              select a.n, a.name, x.lane,
                     (select j.priority from reprise_job j
                       where j.queue = a.name and j.lane = x.lane order by j.priority desc limit 1)
                from asked a
                cross join (values (0::smallint), (1::smallint), (2::smallint)) as x (lane)
              union all
              select l.n, l.queue, l.lane,
                     (select j.priority from reprise_job j
                       where j.queue = l.queue and j.lane = l.lane and j.priority < l.priority
                       order by j.priority desc limit 1)
                from level l
               where l.priority is not null),
            fresh as (
              select l.queue, x.lane, l.priority, x.id
                from (select * from level where lane = 0 and priority is not null order by n, priority desc) l
                cross join lateral (
                  select j.lane, j.id
                    from reprise_job j
                   where j.queue = l.queue and j.lane = 0 and j.priority = l.priority and j.turn = ''
                     and j.due_at <= reprise_now()
                     and (j.deadline is null or j.deadline > reprise_now())
                     and j.id not in (select unnest(h.ids) from reprise_lease h){types}
                   order by j.due_at, j.id
                   limit {batch}) x
               limit :jobs),
            retry as (
              select l.queue, x.lane, l.priority, x.id
                from (select * from level where lane = 1 and priority is not null order by n, priority desc) l
                cross join lateral (
                  select j.lane, j.id
                    from reprise_job j
                   where j.queue = l.queue and j.lane = 1 and j.priority = l.priority and j.turn = ''
                     and j.due_at <= reprise_now()
                     and (j.deadline is null or j.deadline > reprise_now())
                     and j.id not in (select unnest(h.ids) from reprise_lease h){types}
                   order by j.due_at, j.id
                   limit {batch}) x
               limit :jobs),
            suspect as (
              select l.queue, x.lane, l.priority, x.id
                from (select * from level where lane = 2 and priority is not null order by n, priority desc) l
                cross join lateral (
                  select j.lane, j.id
                    from reprise_job j
                   where j.queue = l.queue and j.lane = 2 and j.priority = l.priority and j.turn = ''
                     and j.due_at <= reprise_now()
                     and (j.deadline is null or j.deadline > reprise_now())
                     and j.id not in (select unnest(h.ids) from reprise_lease h){types}
                   order by j.due_at, j.id
                   limit 1) x
               limit :suspects)
            select queue, lane, priority, id from fresh
            union all
            select queue, lane, priority, id from retry
            union all
            select queue, lane, priority, id from suspect
            union all
            select l.queue, l.lane, l.priority, 0
              from level l
             where l.lane < 2 and l.priority is not null
               and (
                 select j.id from reprise_job j
                  where j.queue = l.queue and j.lane = l.lane and j.priority = l.priority and j.turn > ''
                  order by j.turn, j.due_at, j.id
                  limit 1) is not null
            """;

    /** In place of a job, it marks a level in which jobs of groups wait. */
    private static final long GROUPED = 0;

    // Jumps from turn to turn of a level through reprise_job_ready. If it looks for some types, it passes the turns
    // that have no due job of them. Takes no locks.
    private static final String TURNS = """
            with recursive found (turn, n) as (
              select (select j.turn from reprise_job j
                       where j.queue = :queue and j.lane = :lane and j.priority = :priority and j.turn >= :from{types}
                       order by j.turn limit 1), 1
              union all
              select (select j.turn from reprise_job j
                       where j.queue = :queue and j.lane = :lane and j.priority = :priority and j.turn > f.turn{types}
                       order by j.turn limit 1), f.n + 1
                from found f
               where f.turn is not null and f.n < :most and (f.turn < :before or :before = ''))
            select turn from found where turn is not null and (turn < :before or :before = '')
            """;

    // The first due jobs of some turns. Takes no locks.
    private static final String IN_TURNS = """
            select t.turn, x.id
              from unnest((select :turns::text[]), (select :limits::bigint[])) as t (turn, most)
              cross join lateral (
                select j.id
                  from reprise_job j
                 where j.queue = :queue and j.lane = :lane and j.priority = :priority and j.turn = t.turn
                   and j.due_at <= reprise_now()
                   and (j.deadline is null or j.deadline > reprise_now())
                   and j.id not in (select unnest(h.ids) from reprise_lease h){types}
                 order by j.due_at, j.id
                 limit t.most) x
            """;

    // Those of some jobs, one for each turn, that can be claimed. Takes no locks.
    private static final String HEADS = """
            select t.turn, x.id
              from unnest((select :turns::text[]), (select :ids::bigint[])) as t (turn, id)
              cross join lateral (
                select j.id
                  from reprise_job j
                 where j.id = t.id and j.queue = :queue and j.lane = :lane and j.priority = :priority and j.turn = t.turn
                   and j.due_at <= reprise_now()
                   and (j.deadline is null or j.deadline > reprise_now())
                   and j.id not in (select unnest(h.ids) from reprise_lease h){types}
                offset 0) x
            """;

    // For one queue: waits for its lock, as other claims do.
    private static final String LOCK_ONE = """
            select {lock_queue}
             where set_config('lock_timeout', '{wait}', true) is not null
               and set_config('enable_bitmapscan', 'off', true) is not null
               and set_config('enable_seqscan', 'off', true) is not null
               and set_config('reprise.locked', '1', true) is not null;
            """;

    // For several queues: skips queues that are locked, because waiting for one lock would hold the others.
    private static final String LOCK_MANY = """
            select set_config('enable_bitmapscan', 'off', true), set_config('enable_seqscan', 'off', true),
                   set_config('reprise.locked', coalesce((
                     select string_agg(q.n::text, ',')
                       from unnest(:queues::text[]) with ordinality as q (name, n)
                      where {try_lock}), ''), true);
            """;

    // Runs after the locks as a statement of its own, for the reasons given at PostgresClaims.CLAIM. Jobs that no
    // longer wait are skipped. The inner offset keeps reprise_job_ready from serving it: for each id it would read all
    // entries of a large queue.
    private static final String TAKE = """
            with asked as (
              select q.name, q.ids, q.n
                from unnest((select :queues::text[]), (select :ids::text[])) with ordinality as q (name, ids, n)
               where q.n = any (string_to_array(current_setting('reprise.locked'), ',')::bigint[])),
            room as materialized (
              select a.name, a.ids, {room} as jobs
                from asked a),
            still as (
              select r.name, r.jobs, j.id, j.place, row_number() over (partition by r.name order by c.nth) as nth
                from room r
                cross join lateral unnest(r.ids::bigint[]) with ordinality as c (id, nth)
                cross join lateral (
                  select j.id, j.place
                    from (
                      select j.id, j.ctid as place, j.queue, j.lane, j.due_at, j.deadline
                        from reprise_job j
                       where j.id = c.id
                      offset 0) j
                   where j.queue = r.name and j.lane < 2 and j.due_at <= (select reprise_clock())
                     and (j.deadline is null or j.deadline > (select reprise_clock()))
                     and j.id not in (select unnest(h.ids) from reprise_lease h)) j),
            batch as materialized (
              select s.name, nextval('reprise_token') as token, s.ids, s.places
                from (select name, array_agg(id order by id) as ids, array_agg(place order by id) as places
                        from still
                       where nth <= jobs
                       group by name) s),
            lease as (
              insert into reprise_lease (id, queue, worker, runner, alone, claimed_at, expires_at, unheard, ids)
              select b.token, b.name, a.worker, a.worker, false, reprise_clock(), reprise_clock() + a.lease_us,
                     a.remote * cardinality(b.ids), b.ids
                from batch b
                cross join (
                  select cast(:worker as text) as worker, cast(:lease_us as bigint) as lease_us,
                         cast(:remote as int) as remote) a)
            select b.token, reprise_clock(), b.name, {claimed}
              from batch b
              cross join lateral unnest(b.ids, b.places) as u (id, place)
              join reprise_job j on j.ctid = u.place
            """;

    private static final String FREE = """
            select j.id
              from unnest(:ids::bigint[]) as u (id)
              cross join lateral (
                select j.id
                  from reprise_job j
                 where j.id = u.id and j.queue = :queue and j.lane < 2 and j.due_at <= reprise_clock()
                   and (j.deadline is null or j.deadline > reprise_clock())
                   and j.id not in (select unnest(h.ids) from reprise_lease h)
                offset 0) j
            """;

    private final Database database;
    private final JobRows jobs;
    private final RetryShare share;
    private final Turns turns;
    private final PostgresTurns walks;
    private final FoundJobs stocks = new FoundJobs();

    PostgresManyQueues(Database database, JobRows jobs, RetryShare share, Turns turns, PostgresTurns walks) {
        this.database = database;
        this.jobs = jobs;
        this.share = share;
        this.turns = turns;
        this.walks = walks;
    }

    /**
     * The result of a scan.
     *
     * @param suspects queues in which suspects wait, in the order asked for; none if none were asked for
     * @param stocked whether no look was needed, for a look before had found enough
     */
    record Look(Map<String, FoundJobs.Stock> stocks, Set<String> suspects, boolean stocked) {}

    /**
     * The leased part of the found jobs.
     *
     * @param tooLate whether a queue had none left of those that were found
     * @param takenHere whether other threads took all that was found before
     */
    record Taken(List<Claim> claims, boolean tooLate, boolean takenHere) {
        static final Taken NOTHING = new Taken(List.of(), false, false);
    }

    /** A queue that was scanned. */
    private record Looked(String queue, int looks, boolean due) {}

    DueQueues dueQueues(String after, String before, int looks) {
        List<Looked> levels = database.send(
                "look for queues with due jobs",
                Refusal.never(),
                session -> session.listOfLast(
                        dueQueuesSql(),
                        row -> new Looked(row.text(), row.integer(), row.flag()),
                        Params.of("after", after).and("before", before).and("looks", looks)));
        // Only the first level of the next queue was read. The next call begins with that queue.
        List<Looked> whole =
                levels.stream().filter(level -> level.looks <= looks).toList();
        List<String> due =
                whole.stream().filter(Looked::due).map(Looked::queue).distinct().toList();
        boolean more = whole.size() < levels.size();
        return new DueQueues(due, more ? whole.get(whole.size() - 1).queue : null);
    }

    static String dueQueuesSql() {
        return BY_INDEX + DUE_QUEUES;
    }

    /** Scans these queues for due jobs, unless found jobs are left. */
    Look look(ClaimRequest request, List<ClaimRequest.Demand> demands, int max, int suspects) {
        List<String> names =
                demands.stream().map(ClaimRequest.Demand::queue).distinct().toList();
        if (request.types().isEmpty()) {
            return find(request, names, Math.min(max, MAX_BATCH), suspects);
        }
        FoundJobs.Plan plan = stocks.plan(request, names, Math.min(max, MAX_BATCH));
        if (!plan.isNeeded()) {
            return new Look(Map.of(), Set.of(), plan.stocked());
        }
        boolean done = false;
        try {
            Look look = find(request, plan.queues(), plan.jobs(), suspects);
            int found = look.stocks.values().stream()
                    .mapToInt(FoundJobs.Stock::size)
                    .sum();
            stocks.scanned(request, plan, look.stocks, found >= plan.jobs());
            done = true;
            return look;
        } finally {
            if (!done) {
                stocks.failed(request, plan);
            }
        }
    }

    /** Up to so many jobs of these queues, in this order, of those that were found. */
    Taken take(ClaimRequest request, List<ClaimRequest.Demand> demands, int max, Look look) {
        Map<String, List<Long>> ids = new LinkedHashMap<>();
        int left = Math.min(max, MAX_BATCH);
        try (FoundJobs.Taken taken = stocks.taken(request)) {
            for (ClaimRequest.Demand demand : demands) {
                int want = Math.min(left, demand.max());
                int kept = share.kept(demand.queue(), want, request.retryShare());
                List<Long> some = request.types().isEmpty()
                        ? look.stocks
                                .getOrDefault(demand.queue(), new FoundJobs.Stock())
                                .take(want, kept)
                        : taken.take(demand.queue(), want, kept);
                if (!some.isEmpty()) {
                    ids.merge(demand.queue(), some, PostgresManyQueues::joined);
                    left -= some.size();
                }
            }
            List<Claim> claims = takeAll(request, ids);
            Map<String, Integer> leased = new HashMap<>();
            claims.forEach(claim -> leased.merge(claim.queue(), claim.jobs().size(), Integer::sum));
            ids.keySet().forEach(queue -> taken.leased(queue, leased.getOrDefault(queue, 0)));
            boolean none = claims.isEmpty();
            return new Taken(claims, none && ids.size() == 1, none && ids.isEmpty() && look.stocked);
        }
    }

    private List<Claim> takeAll(ClaimRequest request, Map<String, List<Long>> ids) {
        List<Claim> claims = new ArrayList<>();
        Map<String, List<Long>> unlimited = new LinkedHashMap<>(ids);
        unlimited.keySet().removeIf(queue -> request.rulesOf(queue).isLimited());
        try {
            for (Map.Entry<String, List<Long>> found : ids.entrySet()) {
                if (!unlimited.containsKey(found.getKey())) {
                    claims.addAll(takeLimited(request, found.getKey(), found.getValue()));
                }
            }
            while (!unlimited.isEmpty()) {
                claims.addAll(take(request, oneOfEach(unlimited)));
            }
        } catch (StoreException e) {
            // The earlier claims are committed, so they are returned and run.
            if (claims.isEmpty()) {
                throw e;
            }
            log.debug("Claimed from some queues only: {}", e.getMessage());
        }
        return claims;
    }

    /** Jobs may have been added, or come back. */
    void changed() {
        stocks.changed();
    }

    void settled(List<Settlement> settlements) {
        stocks.settled(settlements);
    }

    private static List<Long> joined(List<Long> first, List<Long> second) {
        List<Long> all = new ArrayList<>(first);
        all.addAll(second);
        return all;
    }

    private Look find(ClaimRequest request, List<String> names, int max, int suspects) {
        String sql = findSql(database.dialect(), PostgresClaims.ofTypes(request), PostgresClaims.batchClass(max));
        Params params = findParams(request, names, max, suspects);
        Map<String, FoundJobs.Stock> found = new HashMap<>();
        Set<String> suspected = new LinkedHashSet<>();
        Map<Turns.Level, List<Long>> levels = new LinkedHashMap<>();
        Set<Turns.Level> grouped = new HashSet<>();
        database.send(
                "look for due jobs",
                Refusal.never(),
                session -> session.listOfLast(
                        sql,
                        row -> {
                            String queue = row.text();
                            int lane = row.integer();
                            Turns.Level level = new Turns.Level(queue, lane, row.integer(), request.asked());
                            long id = row.number();
                            if (id == GROUPED) {
                                return grouped.add(level);
                            }
                            return lane == StoredLane.SUSPECT
                                    ? suspected.add(queue)
                                    : levels.computeIfAbsent(level, key -> new ArrayList<>())
                                            .add(id);
                        },
                        params));
        Map<String, Set<Turns.Level>> ofQueue = new HashMap<>();
        Stream.concat(levels.keySet().stream(), grouped.stream())
                .forEach(level -> ofQueue.computeIfAbsent(level.queue(), queue -> new HashSet<>())
                        .add(level));
        int left = max;
        for (String name : names) {
            Set<Turns.Level> own = ofQueue.getOrDefault(name, Set.of());
            FoundJobs.Stock stock = stock(request, name, left, own, levels, grouped);
            if (stock.size() > 0) {
                found.put(name, stock);
            }
            turns.seen(name, own.stream().anyMatch(grouped::contains));
            left = Math.max(0, left - stock.size());
        }
        return new Look(found, suspected, false);
    }

    /**
     * Returns what was found in a queue. Where groups wait it looks again: there the jobs without a group have one
     * turn among others.
     */
    private FoundJobs.Stock stock(
            ClaimRequest request,
            String queue,
            int max,
            Set<Turns.Level> own,
            Map<Turns.Level, List<Long>> levels,
            Set<Turns.Level> grouped) {
        FoundJobs.Stock stock = new FoundJobs.Stock();
        List<Turns.Pick<Long>> picks = new ArrayList<>();
        own.stream()
                .sorted(Comparator.comparingInt(Turns.Level::lane)
                        .thenComparing(Turns.Level::priority, Comparator.reverseOrder()))
                .forEach(level -> {
                    boolean retry = level.lane() == StoredLane.RETRY;
                    boolean walked =
                            grouped.contains(level) || request.rulesOf(queue).isLimited();
                    if (!walked) {
                        levels.getOrDefault(level, List.of()).forEach(id -> stock.add(id, retry));
                    } else if (max > 0) {
                        List<Turns.Pick<Long>> some =
                                turns.choose(level, max, request.rulesOf(queue), limited(request, level));
                        some.forEach(pick -> stock.add(pick.job(), retry, () -> turns.took(pick)));
                        picks.addAll(some);
                    }
                });
        if (request.types().isEmpty()) {
            walks.looked(request, queue, max, own, picks);
        }
        return stock;
    }

    private Turns.Walk<Long, StoreException> limited(ClaimRequest request, Turns.Level level) {
        GroupRules rules = request.rulesOf(level.queue());
        Turns.Walk<Long, StoreException> walk = walk(request, level);
        if (!rules.isLimited()) {
            return walk;
        }
        return Turns.limited(walk, new Turns.Limits<>() {
            @Override
            public FlowGate gate(Collection<String> groups) {
                return database.read(
                        "look for limits", session -> FlowTable.gate(session, level.queue(), rules, groups));
            }

            @Override
            public Map<Long, FlowKey> keys(List<Long> jobs) {
                return database.read(
                        "look for groups",
                        session -> FlowTable.<Long>limits(session, level.queue(), rules, Long::longValue)
                                .keys(jobs));
            }
        });
    }

    private Turns.Walk<Long, StoreException> walk(ClaimRequest request, Turns.Level level) {
        return new Turns.Walk<>() {
            @Override
            public List<String> turns(String from, @Nullable String before, int most) {
                return database.send(
                        "look for turns",
                        Refusal.never(),
                        session -> session.listOfLast(
                                turnsSql(request),
                                SqlRow::text,
                                params(level)
                                        .and("types", request.types().toArray(String[]::new))
                                        .and("from", from)
                                        .and("before", before == null ? "" : before)
                                        .and("most", most)));
            }

            @Override
            public int visits() {
                return VISITS;
            }

            @Override
            public Map<String, List<Long>> due(Map<String, Integer> most) {
                Map<String, List<Long>> due = new HashMap<>();
                String sql =
                        database.dialect().sql(BY_INDEX + IN_TURNS.replace("{types}", PostgresClaims.ofTypes(request)));
                Params params = params(level)
                        .and("turns", most.keySet().toArray(String[]::new))
                        .and(
                                "limits",
                                most.values().stream()
                                        .mapToLong(Integer::longValue)
                                        .toArray())
                        .and("types", request.types().toArray(String[]::new));
                database.send(
                        "look for due jobs",
                        Refusal.never(),
                        session -> session.listOfLast(
                                sql,
                                row -> due.computeIfAbsent(row.text(), turn -> new ArrayList<>())
                                        .add(row.number()),
                                params));
                return due;
            }

            @Override
            public Map<String, Long> heads(Map<String, Long> ids) {
                Map<String, Long> due = new HashMap<>();
                String sql =
                        database.dialect().sql(BY_INDEX + HEADS.replace("{types}", PostgresClaims.ofTypes(request)));
                Params params = params(level)
                        .and("turns", ids.keySet().toArray(String[]::new))
                        .and(
                                "ids",
                                ids.values().stream().mapToLong(Long::longValue).toArray())
                        .and("types", request.types().toArray(String[]::new));
                database.send(
                        "look for jobs in order",
                        Refusal.never(),
                        session -> session.listOfLast(sql, row -> due.put(row.text(), row.number()), params));
                return due;
            }
        };
    }

    private static String turnsSql(ClaimRequest request) {
        String types = request.types().isEmpty()
                ? ""
                : "\n                         and j.due_at <= reprise_now()" + PostgresClaims.ofTypes(request);
        return BY_INDEX + TURNS.replace("{types}", types);
    }

    private static Params params(Turns.Level level) {
        return Params.of("queue", level.queue()).and("lane", level.lane()).and("priority", level.priority());
    }

    static String findSql(Dialect dialect, String types, int batch) {
        return dialect.sql(BY_INDEX + FIND.replace("{types}", types).replace("{batch}", Integer.toString(batch)));
    }

    static Params findParams(ClaimRequest request, List<String> names, int max, int suspects) {
        return Params.of("queues", names.toArray(String[]::new))
                .and("types", request.types().toArray(String[]::new))
                .and("jobs", max)
                .and("suspects", suspects);
    }

    /**
     * Takes jobs of a queue with limits in one transaction under the queue's lock. So what it counts cannot change before
     * it is committed.
     */
    private List<Claim> takeLimited(ClaimRequest request, String queue, List<Long> ids) {
        return database.write("claim jobs of queue " + queue, Refusal.never(), session -> {
            session.dialect().lockQueueSoon(session, queue);
            List<Long> admitted =
                    FlowTable.admit(session, queue, request.rulesOf(queue), free(session, queue, ids), Long::longValue);
            if (admitted.isEmpty()) {
                return List.of();
            }
            Map<String, List<Long>> one = Map.of(queue, admitted);
            Map<String, Batch> batches =
                    read(session, request.worker(), takeSql(session.dialect(), true), takeParams(request, one));
            return claims(request, one, batches);
        });
    }

    /** Returns those that still wait: only these count as starts. */
    private static List<Long> free(Session session, String queue, List<Long> ids) throws SQLException {
        Set<Long> free = new HashSet<>(session.list(
                FREE,
                SqlRow::number,
                Params.of("queue", queue)
                        .and("ids", ids.stream().mapToLong(Long::longValue).toArray())));
        return ids.stream().filter(free::contains).toList();
    }

    /** Removes one queue for each queue that jobs name: their limit counts what a statement before has leased. */
    private static Map<String, List<Long>> oneOfEach(Map<String, List<Long>> ids) {
        Map<String, List<Long>> some = new LinkedHashMap<>();
        Set<String> named = new HashSet<>();
        ids.forEach((queue, list) -> {
            if (named.add(Needs.base(queue))) {
                some.put(queue, list);
            }
        });
        ids.keySet().removeAll(some.keySet());
        return some;
    }

    private List<Claim> take(ClaimRequest request, Map<String, List<Long>> ids) {
        String sql = takeSql(database.dialect(), ids.size() == 1);
        Map<String, Batch> batches = database.send(
                "claim jobs of " + ids.size() + " queues",
                Refusal.never(),
                session -> read(session, request.worker(), sql, takeParams(request, ids)));
        return claims(request, ids, batches);
    }

    private static Params takeParams(ClaimRequest request, Map<String, List<Long>> ids) {
        String[] names = ids.keySet().toArray(String[]::new);
        String[] lists = ids.values().stream()
                .map(list -> list.stream().map(String::valueOf).collect(Collectors.joining(",", "{", "}")))
                .toArray(String[]::new);
        return Params.of("queue", names[0])
                .and("queues", names)
                .and("ids", lists)
                .and("worker", request.worker())
                .and("lease_us", SqlTime.of(request.lease()))
                .and("remote", request.remote() ? 1 : 0);
    }

    private List<Claim> claims(ClaimRequest request, Map<String, List<Long>> ids, Map<String, Batch> batches) {
        List<Claim> claims = new ArrayList<>();
        ids.forEach((name, order) -> {
            Batch batch = batches.get(name);
            if (batch != null) {
                claims.add(batch.claim(name, turns.isGrouped(name) ? order : null));
                share.claimed(name, batch.taken.size(), request.retryShare());
            }
        });
        return claims;
    }

    static String takeSql(Dialect dialect, boolean one) {
        return dialect.sql((one ? LOCK_ONE : LOCK_MANY)
                .concat(TAKE)
                .replace("{wait}", Integer.toString(PostgresClaims.WAIT_MILLIS))
                .replace("{room}", PostgresDialect.room("a.name"))
                .replace("{lock_queue}", PostgresDialect.LOCK_QUEUE)
                .replace("{try_lock}", PostgresDialect.TRY_LOCK));
    }

    /** The jobs that one queue gave. */
    private static final class Batch {
        private final long token;
        private final Instant claimedAt;
        private final List<ClaimCursor.Taken> taken = new ArrayList<>();

        Batch(long token, Instant claimedAt) {
            this.token = token;
            this.claimedAt = claimedAt;
        }

        /** Returns the claim. Jobs of one priority come in the given order, or else by their due times. */
        Claim claim(String queue, @Nullable List<Long> order) {
            List<Job> ordered = taken.stream()
                    .sorted(order == null ? PostgresClaims.FIRST : inOrder(order))
                    .map(ClaimCursor.Taken::job)
                    .toList();
            Set<JobId> admitted = new HashSet<>();
            Map<JobId, String> damaged = new HashMap<>();
            for (ClaimCursor.Taken job : taken) {
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

    private static Comparator<ClaimCursor.Taken> inOrder(List<Long> ids) {
        Map<Long, Integer> places = new HashMap<>();
        ids.forEach(id -> places.put(id, places.size()));
        return Comparator.comparingInt(
                        (ClaimCursor.Taken taken) -> -taken.level().priority())
                .thenComparing(taken -> places.getOrDefault(taken.job().id().value(), 0));
    }

    private Map<String, Batch> read(Session session, String worker, String sql, Params params) throws SQLException {
        Map<String, Batch> batches = new HashMap<>();
        session.listOfLast(
                sql,
                row -> {
                    long token = row.number();
                    Instant claimedAt = row.instant();
                    Batch batch = batches.computeIfAbsent(row.text(), name -> new Batch(token, claimedAt));
                    return batch.taken.add(jobs.claimed(session, row, worker, token, claimedAt));
                },
                params);
        return batches;
    }
}
