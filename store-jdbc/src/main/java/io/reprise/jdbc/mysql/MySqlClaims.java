// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.mysql;

import io.reprise.fairness.GroupRules;
import io.reprise.jdbc.jobs.FoundJobs;
import io.reprise.jdbc.jobs.JobClaims;
import io.reprise.jdbc.jobs.LeaseTable;
import io.reprise.jdbc.jobs.SuspectGroups;
import io.reprise.jdbc.rows.FlowTable;
import io.reprise.jdbc.rows.QueueTable;
import io.reprise.jdbc.sql.Database.Refusal;
import io.reprise.jdbc.sql.Dialect;
import io.reprise.jdbc.sql.Params;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlErrors;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.jdbc.sql.SqlTime;
import io.reprise.jdbc.sql.StoredLane;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.JobSpec.Needs;
import io.reprise.store.Claim;
import io.reprise.store.ClaimPlan;
import io.reprise.store.ClaimRequest;
import io.reprise.store.DueQueues;
import io.reprise.store.RetryShare;
import io.reprise.store.Settlement;
import io.reprise.store.StoreException;
import io.reprise.store.Suspects;
import io.reprise.store.Turns;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims on MySQL and MariaDB. A claim first finds, without locks, the levels that have due jobs. Then it shares the
 * queue's lock with other claims, locks due jobs that nobody else has locked, and writes a lease. For a queue with a
 * limit it takes the queue's lock alone.
 */
public final class MySqlClaims implements JobClaims {

    private static final Logger log = LoggerFactory.getLogger(MySqlClaims.class);

    // Levels whose first entry is due, or in which groups wait. Takes no locks; reads one entry of reprise_job_ready
    // per possible level, and one more of those with groups. It does not jump from level to level: MySQL does not use
    // the index for a bound that comes from another row.
    private static final String LEVELS = """
            select q.name, x.lane, p.priority,
                   coalesce((select j.turn from reprise_job j {by reprise_job_ready}
                     where j.queue = q.name and j.lane = x.lane and j.priority = p.priority
                     order by j.turn desc
                     limit 1) > '', false) as turns
              from ({queues}) q
              cross join (select 0 as lane union all select 1 union all select 2) x
              cross join ({priorities}) p
             where not exists (select 1 from reprise_queue r where r.name = q.name and r.paused_at is not null)
               and ((select j.due_at from reprise_job j {by reprise_job_ready}
                      where j.queue = q.name and j.lane = x.lane and j.priority = p.priority and j.turn = ''
                      order by j.due_at
                      limit 1) <= {now}
                    or (select j.turn from reprise_job j {by reprise_job_ready}
                         where j.queue = q.name and j.lane = x.lane and j.priority = p.priority
                         order by j.turn desc
                         limit 1) > '')
             order by q.name, x.lane, p.priority desc
            """.replace(
                    "{priorities}",
                    IntStream.rangeClosed(JobSpec.MIN_PRIORITY, JobSpec.MAX_PRIORITY)
                            .mapToObj(priority -> "select " + priority + " as priority")
                            .collect(Collectors.joining(" union all ")));

    // The levels. The server jumps through reprise_job_ready from one to the next. A level is due if the first entry
    // without a turn is, or if there are turns.
    static final String HEADS = """
            select h.queue, h.lane,
                   coalesce((
                     select j.turn from reprise_job j {by reprise_job_ready}
                      where j.queue = h.queue and j.lane = h.lane and j.priority = h.priority
                      order by j.turn desc
                      limit 1) > '', false) or coalesce((
                     select j.due_at from reprise_job j {by reprise_job_ready}
                      where j.queue = h.queue and j.lane = h.lane and j.priority = h.priority and j.turn = ''
                      order by j.due_at
                      limit 1) <= {now}, false),
                   exists (select 1 from reprise_queue p where p.name = h.queue and p.paused_at is not null)
              from (select j.queue, j.lane, j.priority
                      from reprise_job j {by reprise_job_ready}
                     where j.queue > ? and j.queue < ?
                     group by j.queue, j.lane, j.priority
                     order by j.queue, j.lane, j.priority
                     limit ?) h
             order by h.queue
            """;

    // The next turn of a level. Each jump is a statement: the server does not use the index for a bound from another
    // row.
    private static final String NEXT_TURN = """
            select j.turn
              from reprise_job j {by reprise_job_ready}
             where j.queue = :queue and j.lane = :lane and j.priority = :priority and j.turn >= :from{types}
             order by j.turn
             limit 1
            """;

    private static final String OF_TYPES = "\n               and j.type {in :types}";

    private static final String OF_OTHERS = "\n               and not (j.type {in :types})";

    static final String NEXT_OF_ANY = NEXT_TURN.replace("{types}", "");

    // Passes the turns that have no due job of the types asked for.
    private static final String NEXT_DUE = NEXT_TURN.replace("{types}", " and j.due_at <= {now}{types}");

    private static final String NEXT_OF_TYPES = NEXT_DUE.replace("{types}", OF_TYPES);

    private static final String NEXT_OF_OTHERS = NEXT_DUE.replace("{types}", OF_OTHERS);

    // Takes the queue's lock and reads whether the queue is paused or limited, by its own name or by the one that
    // its jobs name. A shared request returns no row if another transaction holds the lock alone. reprise_queue is
    // not joined: "skip locked" would skip a queue whose settings are being changed.
    private static final String ENTER = """
            select exists (select 1 from reprise_queue q where q.name in (:queue, :named) and q.paused_at is not null),
                   (select q.max_running from reprise_queue q where q.name = :queue),
                   (select q.max_running from reprise_queue q where q.name = :named)
              from reprise_queue_lock l
             where l.name = :named
            """;

    private static final String RUNNING = """
            select count(*)
              from reprise_held h
              join reprise_job j on j.id = h.id and j.token < h.token
             where h.queue = :queue or (h.queue > :after and h.queue < :before)
            """;

    // Due entries of one turn of a level after a position, in the order of reprise_job_ready, without held jobs. Takes
    // no locks: held jobs at the head of the queue are just being settled. One statement reads several levels: # is the
    // number of the level.
    private static final String DUE = """
            (select j.id, j.lane, j.priority, j.due_at, j.turn
               from reprise_job j {by reprise_job_ready}
              where j.queue = :queue# and j.lane = :lane# and j.priority = :priority# and j.turn = :turn#
                and j.due_at >= :due#
                and j.due_at <= {now}
                and (j.due_at > :due# or j.id > :id#)
                and (j.deadline is null or j.deadline > {now})
                and not exists (
                  select 1 from reprise_hold h force index (reprise_hold_job) where h.job_id = j.id and h.token > j.token){types}
              order by j.due_at, j.id
              limit :max#)
            """;

    static final String ANY_DUE = DUE.replace("{types}", "");

    private static final String SOME_DUE = DUE.replace("{types}", OF_TYPES);

    private static final String OTHERS_DUE = DUE.replace("{types}", OF_OTHERS);

    // One job of a turn, by its id, instead of the first ones.
    private static String head(String due) {
        return due.replace("{by reprise_job_ready}", "{by primary}")
                .replace("order by", "and j.id = :head#\n              order by");
    }

    // The primary key serves it. Skips rows that another transaction claims, settles or changes.
    static final String LOCK = """
            select j.id, j.lane, j.priority, j.due_at, j.turn
              from reprise_job j force index (primary)
             where j.id {in ?} and j.queue = ? and j.lane < 3 and j.due_at <= {now}
               and (j.deadline is null or j.deadline > {now})
            for update skip locked
            """;

    // Jobs that were claimed between DUE and LOCK. A statement of its own, so that it sees those claims.
    private static final String HELD = """
            select j.id
              from reprise_job j force index (primary)
              straight_join reprise_hold h force index (reprise_hold_job) on h.job_id = j.id and h.token > j.token
             where j.id {in ?}
            """;

    private static final String LEASE = """
            insert into reprise_lease (queue, worker, runner, alone, claimed_at)
            values (:queue, :worker, :worker, :alone, {now})
            """;

    private static final String LEASED = """
            select id, queue, alone, claimed_at
              from reprise_lease
             where id = last_insert_id()
            """;

    private static final String HOLD = """
            insert into reprise_hold (token, job_id)
            values (?, ?)
            """;

    private static final int MAX_BATCH = 1_000;

    /** Three lanes for claims and three for parked jobs, in all priorities. */
    private static final int LEVELS_OF_A_QUEUE = 6 * (JobSpec.MAX_PRIORITY - JobSpec.MIN_PRIORITY + 1);

    /** Queues in one statement. More would make its text too long. */
    private static final int NAMED = 64;

    /** Levels in one statement. */
    private static final int LOOKED_AT = 64;

    /** Tries to find due jobs. Each try begins after the jobs that others had locked. */
    private static final int MAX_SEARCHES = 8;

    private final MySqlDatabase database;
    private final LeaseTable leases;
    private final RetryShare share = new RetryShare();
    private final Turns turns = new Turns();
    private final FoundJobs stocks = new FoundJobs();

    /** Queues known to have a limit. */
    private final Set<String> limited = ConcurrentHashMap.newKeySet();

    /** Whether the last claim found jobs: then there are probably more. */
    private volatile boolean busy;

    public MySqlClaims(MySqlDatabase database, LeaseTable leases) {
        this.database = database;
        this.leases = leases;
    }

    /** One range of the ready index, and the position up to which it was read. */
    private static final class Level {
        private final String queue;
        private final int lane;
        private final int priority;
        private final boolean turns;
        private long dueAt = Long.MIN_VALUE;
        private long id = Long.MIN_VALUE;
        private boolean exhausted;

        Level(String queue, int lane, int priority, boolean turns) {
            this.queue = queue;
            this.lane = lane;
            this.priority = priority;
            this.turns = turns;
        }
    }

    private record Due(long id, int lane, int priority, long dueAt, String turn) {}

    private static final Comparator<Due> ORDER = Comparator.comparingInt((Due job) -> -job.priority)
            .thenComparingLong(Due::dueAt)
            .thenComparingLong(Due::id);

    @Override
    public Set<String> liveQueues() {
        return Set.copyOf(database.read("name the queues", QueueTable::live));
    }

    /** The first entry of a level. */
    private record Head(String queue, int lane, boolean due, boolean paused) {}

    @Override
    public DueQueues dueQueues(String after, String before, int looks) {
        int most = looks + LEVELS_OF_A_QUEUE;
        List<Head> heads = database.send(
                "look for queues with due jobs",
                Refusal.never(),
                session -> session.list(
                        session.dialect().sql(HEADS),
                        row -> new Head(row.text(), row.integer(), row.flag(), row.flag()),
                        after,
                        before,
                        most));
        boolean more = heads.size() == most;
        // Some levels of the last queue may be missing. A queue has fewer levels than were asked for, so at
        // least one queue is complete.
        String cut = more ? heads.get(most - 1).queue : null;
        List<String> whole = heads.stream()
                .map(Head::queue)
                .filter(name -> !name.equals(cut))
                .distinct()
                .toList();
        List<String> due = heads.stream()
                .filter(head -> head.due && !head.paused && head.lane <= StoredLane.SUSPECT && !head.queue.equals(cut))
                .map(Head::queue)
                .distinct()
                .toList();
        return new DueQueues(due, more ? whole.get(whole.size() - 1) : null);
    }

    @Override
    public List<Claim> claim(ClaimRequest request) {
        List<Claim> claims = List.of();
        boolean again = true;
        for (int turn = 0; again && turn < MAX_SEARCHES; turn++) {
            Map<String, List<Level>> levels =
                    database.send("look for due jobs", Refusal.never(), session -> look(session, request));
            boolean stocked = !request.types().isEmpty() && lookForTypes(request, levels);
            Map<String, FoundJobs.Stock> found = request.types().isEmpty() ? lookForTurns(request, levels) : Map.of();
            boolean any = found.values().stream().anyMatch(stock -> stock.size() > 0);
            try (FoundJobs.Taken taken = stocks.taken(request)) {
                claims = claim(request, levels, queue -> ids(request, found.get(queue), queue, taken));
            }
            // Others may have taken all that was found.
            again = claims.isEmpty()
                    && (any
                            || (stocked
                                    && request.demands().stream()
                                            .noneMatch(demand -> stocks.has(request, demand.queue()))));
        }
        busy = !claims.isEmpty();
        return claims;
    }

    /** Finds jobs of a queue, in the order in which they should start. Null if the claim looks itself. */
    private interface Finder {
        @Nullable
        List<Long> find(int want, int kept);
    }

    private Finder ids(ClaimRequest request, FoundJobs.@Nullable Stock found, String queue, FoundJobs.Taken taken) {
        return (want, kept) -> !request.types().isEmpty()
                ? taken.take(queue, want, kept)
                : found == null ? null : found.take(want, kept);
    }

    private List<Claim> claim(ClaimRequest request, Map<String, List<Level>> levels, Function<String, Finder> finders) {
        List<Claim> before = new ArrayList<>();
        return ClaimPlan.overQueues(request, (queue, room, suspects) -> {
            List<Level> found = levels.getOrDefault(queue, List.of());
            boolean any =
                    found.stream().anyMatch(level -> request.suspects().max() > 0 || level.lane != StoredLane.SUSPECT);
            int want = Math.min(room, MAX_BATCH);
            List<Long> ids =
                    any ? finders.apply(queue).find(want, share.kept(queue, want, request.retryShare())) : null;
            List<Claim> some =
                    any ? claimOrPass(request, new Wanted(queue, want, suspects, found, ids), before) : List.of();
            before.addAll(some);
            return some;
        });
    }

    /**
     * Jobs to claim from a queue.
     *
     * @param ids jobs that a look has found, in their order; null if the claim finds them
     */
    private record Wanted(
            String queue,
            int jobs,
            Suspects suspects,
            List<Level> levels,
            @Nullable List<Long> ids) {}

    @Override
    public void woken() {
        stocks.changed();
    }

    @Override
    public void settled(List<Settlement> settlements) {
        stocks.settled(settlements);
    }

    @Override
    public void unparked() {
        stocks.changed();
    }

    /**
     * Looks for jobs of the types asked for without a lock: those of others that come first may be many. True if a look
     * before had found enough.
     */
    private boolean lookForTypes(ClaimRequest request, Map<String, List<Level>> levels) {
        FoundJobs.Plan plan = stocks.plan(
                request,
                request.demands().stream().map(ClaimRequest.Demand::queue).toList(),
                Math.min(request.max(), MAX_BATCH));
        if (!plan.isNeeded()) {
            return plan.stocked();
        }
        boolean done = false;
        try {
            Map<String, FoundJobs.Stock> found = new HashMap<>();
            boolean plenty = database.read("look for jobs of some types", session -> {
                boolean more = false;
                for (String queue : plan.queues()) {
                    FoundJobs.Stock stock =
                            find(session, request, queue, levels.getOrDefault(queue, List.of()), plan.jobs());
                    found.put(queue, stock);
                    more |= stock.size() >= plan.jobs();
                }
                return more;
            });
            stocks.scanned(request, plan, found, plenty);
            done = true;
            return false;
        } finally {
            if (!done) {
                stocks.failed(request, plan);
            }
        }
    }

    /** Walks the turns of queues with groups or limits without a lock: groups that may start nothing may be many. */
    private Map<String, FoundJobs.Stock> lookForTurns(ClaimRequest request, Map<String, List<Level>> levels) {
        List<ClaimRequest.Demand> walked = request.demands().stream()
                .filter(demand -> {
                    List<Level> found = levels.getOrDefault(demand.queue(), List.of());
                    return !found.isEmpty()
                            && (demand.rules().isLimited() || found.stream().anyMatch(level -> level.turns));
                })
                .toList();
        if (walked.isEmpty()) {
            return Map.of();
        }
        return database.read("look for turns", session -> {
            Map<String, FoundJobs.Stock> found = new HashMap<>();
            for (ClaimRequest.Demand demand : walked) {
                int most = Math.min(Math.min(request.max(), demand.max()), MAX_BATCH);
                found.put(
                        demand.queue(),
                        find(session, request, demand.queue(), levels.getOrDefault(demand.queue(), List.of()), most));
            }
            return found;
        });
    }

    private FoundJobs.Stock find(Session session, ClaimRequest request, String queue, List<Level> levels, int most)
            throws SQLException {
        FoundJobs.Stock stock = new FoundJobs.Stock();
        int fresh = 0;
        int retries = 0;
        for (Level level : levels) {
            boolean retry = level.lane == StoredLane.RETRY;
            int left = most - (retry ? retries : fresh);
            if (left > 0 && level.lane != StoredLane.SUSPECT) {
                List<Turns.Pick<Due>> picks = turns.choose(
                        new Turns.Level(queue, level.lane, level.priority, request.asked()),
                        left,
                        request.rulesOf(queue),
                        limited(session, request, queue, walk(session, request, level)));
                picks.forEach(pick -> stock.add(pick.job().id, retry, () -> turns.took(pick)));
                retries += retry ? picks.size() : 0;
                fresh += retry ? 0 : picks.size();
            }
        }
        return stock;
    }

    /**
     * Returns by queue the levels with jobs to claim. If nothing is due this is one round trip, which is
     * the cost of an idle worker.
     */
    private Map<String, List<Level>> look(Session session, ClaimRequest request) throws SQLException {
        Map<String, List<Level>> levels = levels(session, request);
        // A look for some types reads past others; it is made once, later.
        if (busy || levels.isEmpty() || !request.types().isEmpty()) {
            return levels;
        }
        // The first entry of a level may be held, and those behind it too.
        List<Level> all = levels.values().stream().flatMap(List::stream).toList();
        boolean turns = all.stream().anyMatch(level -> level.turns);
        return !turns
                        && all.size() <= LOOKED_AT
                        && due(session, request, all, 1).isEmpty()
                ? Map.of()
                : levels;
    }

    private static Map<String, List<Level>> levels(Session session, ClaimRequest request) throws SQLException {
        List<String> queues = request.demands().stream()
                .map(ClaimRequest.Demand::queue)
                .distinct()
                .toList();
        Map<String, List<Level>> levels = new HashMap<>();
        for (int from = 0; from < queues.size(); from += NAMED) {
            List<String> some = new ArrayList<>(queues.subList(from, Math.min(queues.size(), from + NAMED)));
            // Rounds up to a power of two, so that server and driver cache few texts. No queue has the empty name.
            while (Integer.bitCount(some.size()) != 1) {
                some.add("");
            }
            session.list(
                            session.dialect().sql(levelsSql(some.size())),
                            row -> new Level(row.text(), row.integer(), row.integer(), row.flag()),
                            some.toArray())
                    .forEach(level -> levels.computeIfAbsent(level.queue, name -> new ArrayList<>())
                            .add(level));
        }
        return levels;
    }

    static String levelsSql(int queues) {
        return LEVELS.replace(
                "{queues}",
                String.join(" union all ", Collections.nCopies(queues, "select cast(? as char(100)) as name")));
    }

    /** Claims from a queue. Returns nothing if the queue's lock is not available. */
    private List<Claim> claimOrPass(ClaimRequest request, Wanted wanted, List<Claim> before) {
        try {
            return claim(request, wanted);
        } catch (StoreException e) {
            // The earlier claims are committed, so they are returned and run.
            if (before.isEmpty() && !SqlErrors.isLockTimeout(e)) {
                throw e;
            }
            log.debug("Passed queue {}: {}", wanted.queue, e.getMessage());
            return List.of();
        }
    }

    private List<Claim> claim(ClaimRequest request, Wanted wanted) {
        String queue = wanted.queue;
        database.dialect().makeLockable(Needs.base(queue));
        boolean alone = limited.contains(queue) || request.rulesOf(queue).isLimited();
        Optional<List<Claim>> claims = tryClaim(request, wanted, alone);
        if (claims.isEmpty()) {
            limited.add(queue);
            claims = tryClaim(request, wanted, true);
        }
        List<Claim> some = claims.orElse(List.of());
        some.stream()
                .filter(claim -> claim.together() == 0)
                .forEach(claim -> share.claimed(queue, claim.jobs().size(), request.retryShare()));
        return some;
    }

    /** Claims in one transaction. Returns empty if the queue has a limit but the lock was shared. */
    private Optional<List<Claim>> tryClaim(ClaimRequest request, Wanted wanted, boolean alone) {
        String queue = wanted.queue;
        return database.write("claim jobs of queue " + queue, Refusal.never(), session -> {
            Optional<Room> room = enter(session, queue, alone);
            if (room.isEmpty() || room.get().paused) {
                return Optional.of(List.of());
            }
            boolean isLimited = room.get().limit != null || room.get().limitOfNamed != null;
            if (isLimited && !alone) {
                return Optional.empty();
            }
            if (!isLimited) {
                limited.remove(queue);
            }
            int most = isLimited ? Math.min(wanted.jobs, left(session, queue, room.get())) : wanted.jobs;
            return Optional.of(most <= 0 ? List.of() : claim(session, request, wanted, most));
        });
    }

    /** Returns how many more jobs may run. A limit of the queue that jobs name counts those with needs too. */
    private static int left(Session session, String queue, Room room) throws SQLException {
        int left = Integer.MAX_VALUE;
        if (room.limit != null) {
            left = room.limit - running(session, queue, "", "");
        }
        if (room.limitOfNamed != null) {
            String named = Needs.base(queue);
            left = Math.min(left, room.limitOfNamed - running(session, named, Needs.after(named), Needs.before(named)));
        }
        return left;
    }

    private static int running(Session session, String queue, String after, String before) throws SQLException {
        return session.one(
                RUNNING,
                SqlRow::integer,
                Params.of("queue", queue).and("after", after).and("before", before));
    }

    private record Room(
            boolean paused,
            @Nullable Integer limit,
            @Nullable Integer limitOfNamed) {}

    private Optional<Room> enter(Session session, String queue, boolean alone) throws SQLException {
        String lock = alone ? "for update" : database.dialect().server(session).shareSkipLocked();
        return session.first(
                ENTER + lock,
                row -> new Room(row.flag(), row.integerOrNull(), row.integerOrNull()),
                Params.of("queue", queue).and("named", Needs.base(queue)));
    }

    private List<Claim> claim(Session session, ClaimRequest request, Wanted wanted, int want) throws SQLException {
        String queue = wanted.queue;
        Suspects suspects = wanted.suspects;
        List<Level> ordinary = new ArrayList<>();
        List<Level> suspected = new ArrayList<>();
        for (Level level : wanted.levels) {
            // New objects, because the transaction may be a second try.
            (level.lane == StoredLane.SUSPECT ? suspected : ordinary)
                    .add(new Level(queue, level.lane, level.priority, level.turns));
        }
        return ClaimPlan.suspectsFirst(
                want,
                suspects,
                most -> takeSuspects(session, request, queue, suspected, most, suspects),
                most -> takeBatch(session, request, wanted, ordinary, most));
    }

    private @Nullable Claim takeBatch(
            Session session, ClaimRequest request, Wanted wanted, List<Level> levels, int room) throws SQLException {
        String queue = wanted.queue;
        int kept = share.kept(queue, room, request.retryShare());
        GroupRules rules = request.rulesOf(queue);
        List<Due> found = wanted.ids == null
                ? take(session, request, queue, levels, room, kept)
                : takeFound(session, queue, wanted.ids.subList(0, Math.min(room, wanted.ids.size())));
        List<Due> taken = FlowTable.admit(session, queue, rules, found, Due::id);
        return taken.isEmpty() ? null : lease(session, request, queue, taken, 0);
    }

    /** Takes as many suspects as may run together. Those behind them stay locked until the claim ends. */
    private @Nullable Claim takeSuspects(
            Session session, ClaimRequest request, String queue, List<Level> levels, int room, Suspects suspects)
            throws SQLException {
        List<Due> due = take(session, request, queue, levels, room, 0);
        if (due.isEmpty()) {
            return null;
        }
        SuspectGroups.Group<Due> group = SuspectGroups.fitting(session, due, Due::id, suspects);
        List<Due> some = FlowTable.admit(session, queue, request.rulesOf(queue), group.jobs(), Due::id);
        return some.isEmpty() ? null : lease(session, request, queue, some, group.together());
    }

    /** Locks up to {@code room} jobs of these levels. {@code kept} of the room is reserved for retries. */
    private static List<Due> take(
            Session session, ClaimRequest request, String queue, List<Level> levels, int room, int kept)
            throws SQLException {
        List<Due> taken = new ArrayList<>();
        // A job that was settled between look and lock is locked with its new due time. The next look may find it
        // there.
        Set<Long> ids = new HashSet<>();
        for (int look = 0; look < MAX_SEARCHES && taken.size() < room; look++) {
            int retries = (int)
                    taken.stream().filter(job -> job.lane == StoredLane.RETRY).count();
            int left = room - taken.size();
            List<Due> picked = pick(due(session, request, levels, left), left, kept - retries);
            if (picked.isEmpty()) {
                break;
            }
            passed(levels, picked);
            lock(session, queue, picked).stream().filter(job -> ids.add(job.id)).forEach(taken::add);
        }
        taken.sort(ORDER);
        return taken;
    }

    /** Locks jobs that a look has found. Jobs that others have locked are passed by. */
    private List<Due> takeFound(Session session, String queue, List<Long> ids) throws SQLException {
        if (ids.isEmpty()) {
            return List.of();
        }
        Map<Long, Due> locked = locked(
                session, queue, ids.stream().mapToLong(Long::longValue).sorted().toArray());
        List<Due> taken = new ArrayList<>();
        for (Long id : ids) {
            Due job = locked.get(id);
            if (job != null && job.lane != StoredLane.SUSPECT) {
                taken.add(job);
            }
        }
        taken.sort(turns.isGrouped(queue) ? Comparator.comparingInt(job -> -job.priority) : ORDER);
        return taken;
    }

    private static Turns.Walk<Due, SQLException> limited(
            Session session, ClaimRequest request, String queue, Turns.Walk<Due, SQLException> walk) {
        GroupRules rules = request.rulesOf(queue);
        return rules.isLimited() ? Turns.limited(walk, FlowTable.limits(session, queue, rules, Due::id)) : walk;
    }

    private static Turns.Walk<Due, SQLException> walk(Session session, ClaimRequest request, Level level) {
        return new Turns.Walk<>() {
            @Override
            public List<String> turns(String from, @Nullable String before, int most) throws SQLException {
                List<String> found = new ArrayList<>();
                Optional<String> next = next(from);
                while (next.isPresent() && (before == null || next.get().compareTo(before) < 0)) {
                    found.add(next.get());
                    next = found.size() < most ? next(Turns.behind(next.get())) : Optional.empty();
                }
                return found;
            }

            private Optional<String> next(String from) throws SQLException {
                return session.first(
                        session.dialect()
                                .sql(
                                        request.types().isEmpty()
                                                ? NEXT_OF_ANY
                                                : request.others() ? NEXT_OF_OTHERS : NEXT_OF_TYPES),
                        SqlRow::text,
                        Params.of("queue", level.queue)
                                .and("types", request.types().toArray(String[]::new))
                                .and("lane", level.lane)
                                .and("priority", level.priority)
                                .and("from", from));
            }

            @Override
            public Map<String, List<Due>> due(Map<String, Integer> most) throws SQLException {
                Map<String, List<Due>> jobs = new HashMap<>();
                List<Map.Entry<String, Integer>> asked = List.copyOf(most.entrySet());
                for (int from = 0; from < asked.size(); from += LOOKED_AT) {
                    Question question = new Question(request);
                    for (Map.Entry<String, Integer> each :
                            asked.subList(from, Math.min(asked.size(), from + LOOKED_AT))) {
                        question.add(level, each.getKey(), each.getValue());
                    }
                    question.ask(session)
                            .forEach(job -> jobs.computeIfAbsent(job.turn, name -> new ArrayList<>())
                                    .add(job));
                }
                return jobs;
            }

            @Override
            public Map<String, Due> heads(Map<String, Long> ids) throws SQLException {
                Map<String, Due> jobs = new HashMap<>();
                List<Map.Entry<String, Long>> asked = List.copyOf(ids.entrySet());
                for (int from = 0; from < asked.size(); from += LOOKED_AT) {
                    Question question = new Question(request, true);
                    for (Map.Entry<String, Long> each : asked.subList(from, Math.min(asked.size(), from + LOOKED_AT))) {
                        question.add(level, each.getKey(), 1, each.getValue());
                    }
                    question.ask(session).forEach(job -> jobs.put(job.turn, job));
                }
                return jobs;
            }
        };
    }

    /** A statement that reads several turns or levels. */
    private static final class Question {
        private final String part;
        private final List<String> parts = new ArrayList<>();
        private final Params params;

        Question(ClaimRequest request) {
            this(request, false);
        }

        Question(ClaimRequest request, boolean heads) {
            String due = request.types().isEmpty() ? ANY_DUE : request.others() ? OTHERS_DUE : SOME_DUE;
            this.part = heads ? head(due) : due;
            this.params = Params.of("types", request.types().toArray(String[]::new));
        }

        void add(Level level, String turn, int max) {
            add(level, turn, max, 0);
        }

        void add(Level level, String turn, int max, long head) {
            int n = parts.size();
            parts.add(part.replace("#", Integer.toString(n)));
            params.and("queue" + n, level.queue)
                    .and("lane" + n, level.lane)
                    .and("priority" + n, level.priority)
                    .and("turn" + n, turn)
                    .and("due" + n, level.dueAt)
                    .and("id" + n, level.id)
                    .and("max" + n, max)
                    .and("head" + n, head);
        }

        List<Due> ask(Session session) throws SQLException {
            return parts.isEmpty()
                    ? List.of()
                    : session.list(
                            session.dialect().sql(String.join("union all\n", parts)),
                            row -> new Due(row.number(), row.integer(), row.integer(), row.number(), row.text()),
                            params);
        }
    }

    private static List<Due> due(Session session, ClaimRequest request, List<Level> levels, int max)
            throws SQLException {
        Question question = new Question(request);
        levels.stream().filter(level -> !level.exhausted).forEach(level -> question.add(level, Turns.NONE, max));
        List<Due> due = question.ask(session);
        for (Level level : levels) {
            long found = due.stream()
                    .filter(job -> job.lane == level.lane && job.priority == level.priority)
                    .count();
            level.exhausted |= found == 0;
        }
        return due;
    }

    /** Picks the first retries and the first other jobs. Either kind fills the room that the other leaves. */
    private static List<Due> pick(List<Due> due, int room, int kept) {
        List<Due> sorted = due.stream().sorted(ORDER).toList();
        List<Due> retries =
                sorted.stream().filter(job -> job.lane == StoredLane.RETRY).toList();
        List<Due> others =
                sorted.stream().filter(job -> job.lane != StoredLane.RETRY).toList();
        int again = RetryShare.retries(others.size(), retries.size(), room, kept);
        List<Due> picked = new ArrayList<>(retries.subList(0, again));
        picked.addAll(others.subList(0, Math.min(others.size(), room - picked.size())));
        return picked;
    }

    private static void passed(List<Level> levels, List<Due> picked) {
        for (Level level : levels) {
            for (Due job : picked) {
                if (job.lane == level.lane && job.priority == level.priority) {
                    level.dueAt = job.dueAt;
                    level.id = job.id;
                }
            }
        }
    }

    /** Locks the picked jobs. Returns those that nobody else had and whose lane is unchanged. */
    private static List<Due> lock(Session session, String queue, List<Due> picked) throws SQLException {
        long[] ids = picked.stream().mapToLong(Due::id).sorted().toArray();
        Map<Long, Due> locked = locked(session, queue, ids);
        return picked.stream()
                .filter(job -> {
                    Due now = locked.get(job.id);
                    return now != null && now.lane == job.lane;
                })
                .toList();
    }

    private static Map<Long, Due> locked(Session session, String queue, long[] ids) throws SQLException {
        Dialect dialect = session.dialect();
        Map<Long, Due> locked = new HashMap<>();
        session.list(
                        dialect.sql(LOCK),
                        row -> new Due(row.number(), row.integer(), row.integer(), row.number(), row.text()),
                        ids,
                        queue)
                .forEach(job -> locked.put(job.id, job));
        session.list(dialect.sql(HELD), SqlRow::number, (Object) ids).forEach(locked::remove);
        return locked;
    }

    private Claim lease(Session session, ClaimRequest request, String queue, List<Due> taken, int together)
            throws SQLException {
        boolean alone = together == 1;
        Dialect dialect = session.dialect();
        session.update(
                dialect.sql(LEASE),
                Params.of("queue", queue).and("worker", request.worker()).and("alone", alone));
        Claim empty = session.one(LEASED, LeaseTable::readClaim);
        long token = empty.token();
        int unheard = request.remote() ? taken.size() : 0;
        session.update(dialect.sql(MySqlDialect.EXPIRE), SqlTime.of(request.lease()), unheard, token);
        session.updateEach(
                HOLD,
                taken.stream()
                        .map(job -> new @Nullable Object[] {token, job.id})
                        .toList());
        Set<JobId> admitted = new HashSet<>();
        Map<JobId, String> damaged = new HashMap<>();
        Map<Long, Job> read = new HashMap<>();
        long[] ids = taken.stream().mapToLong(Due::id).sorted().toArray();
        leases.held(session, token, ids, admitted, damaged)
                .forEach(job -> read.put(job.id().value(), job));
        List<Job> inOrder = taken.stream()
                .map(job -> Objects.requireNonNull(read.get(job.id)))
                .toList();
        return new Claim(token, queue, empty.claimedAt(), alone, inOrder, admitted, damaged, together);
    }
}
