// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.sqlite;

import io.reprise.fairness.GroupRules;
import io.reprise.jdbc.jobs.ClaimedRows;
import io.reprise.jdbc.jobs.FoundJobs;
import io.reprise.jdbc.jobs.JobClaims;
import io.reprise.jdbc.jobs.LeaseTable;
import io.reprise.jdbc.jobs.SpecColumns;
import io.reprise.jdbc.jobs.SuspectGroups;
import io.reprise.jdbc.rows.FlowTable;
import io.reprise.jdbc.rows.QueueTable;
import io.reprise.jdbc.sql.Database;
import io.reprise.jdbc.sql.Database.Refusal;
import io.reprise.jdbc.sql.Params;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.jdbc.sql.SqlTime;
import io.reprise.jdbc.sql.StoredLane;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec.Needs;
import io.reprise.job.JobStatus;
import io.reprise.store.Claim;
import io.reprise.store.ClaimPlan;
import io.reprise.store.ClaimRequest;
import io.reprise.store.DueQueues;
import io.reprise.store.RetryShare;
import io.reprise.store.Settlement;
import io.reprise.store.Suspects;
import io.reprise.store.Turns;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Claims on SQLite. A claim first looks for due jobs without a lock. Then, as the only writer of the file, it writes
 * one lease row and no job row.
 */
public final class SqliteClaims implements JobClaims {

    // The next lower priority at which the lane has live jobs: one probe of reprise_job_ready.
    static final String LEVEL = """
            select priority
              from reprise_job
             where queue = ? and lane = ? and priority < ? and due_at is not null
             order by priority desc
             limit 1
            """;

    // The turns of a level from one on: jumps through reprise_job_ready, however many jobs each turn has.
    private static final String TURNS_FROM = """
            with recursive found (turn) as (
              select (select j.turn from reprise_job j
                       where j.queue = :queue and j.lane = :lane and j.priority = :priority and j.due_at is not null
                         and j.turn >= :from{types}
                       order by j.turn limit 1)
              union all
              select (select j.turn from reprise_job j
                       where j.queue = :queue and j.lane = :lane and j.priority = :priority and j.due_at is not null
                         and j.turn > f.turn{types}
                       order by j.turn limit 1)
                from found f
               where f.turn is not null)
            select turn from found where turn is not null limit :max
            """;

    static final String NEXT_TURNS = TURNS_FROM.replace("{types}", "");

    // Some types only. They are listed between commas, and no type contains a comma.
    private static final String OF_TYPES = "\n               and (instr(:types, ',' || j.type || ',') > 0) = :wanted";

    // Passes the turns that have no due job of the types asked for.
    private static final String TURNS_OF_TYPES =
            TURNS_FROM.replace("{types}", "\n               and j.due_at <= :now" + OF_TYPES);

    // Due entries of one turn of a level, in the order of reprise_job_ready, without held jobs. The ids of held
    // jobs are collected once.
    private static final String DUE = """
              from reprise_job j
             where j.queue = :queue and j.lane = :lane and j.priority = :priority and j.turn = :turn
               and j.due_at is not null and j.due_at <= :now
               and (j.deadline is null or j.deadline > :now)
               and j.id not in (select h.id from reprise_held h where h.queue = :queue){types}
             order by j.due_at, j.id
             limit :max
            """;

    // One job of a turn, by its id, if it can be claimed.
    private static final String HEAD_DUE = """
              from reprise_job j
             where j.id = :head and j.queue = :queue and j.lane = :lane and j.priority = :priority and j.turn = :turn
               and j.due_at is not null and j.due_at <= :now
               and (j.deadline is null or j.deadline > :now)
               and j.id not in (select h.id from reprise_held h where h.queue = :queue){types}
            """;

    static final String ANY_DUE = "select j.id\n" + DUE.replace("{types}", "");

    static final String ALL_DUE = "select " + ClaimedRows.COLUMNS + DUE.replace("{types}", "");

    private static final String SOME_ANY_DUE = "select j.id\n" + DUE.replace("{types}", OF_TYPES);

    private static final String SOME_DUE = "select " + ClaimedRows.COLUMNS + DUE.replace("{types}", OF_TYPES);

    // The given jobs that still wait. The cross join keeps their order.
    private static final String STILL_DUE = "select " + ClaimedRows.COLUMNS + """
              from json_each(:ids) c
              cross join reprise_job j on j.id = c.value
             where j.queue = :queue and j.lane < 2 and j.due_at is not null and j.due_at <= :now
               and (j.deadline is null or j.deadline > :now)
               and j.id not in (select h.id from reprise_held h where h.queue = :queue)
            """;

    // Jumps from name to name through reprise_job_ready.
    static final String NAMES = """
            with recursive found (queue) as (
              select (select j.queue from reprise_job j
                       where j.queue > :after and j.due_at is not null
                       order by j.queue limit 1)
              union all
              select (select j.queue from reprise_job j
                       where j.queue > f.queue and j.due_at is not null
                       order by j.queue limit 1)
                from found f
               where f.queue is not null)
            select queue from found where queue is not null and queue < :before limit :max
            """;

    // A limit of the queue that jobs name counts those with needs too, which wait in queues beside it.
    private static final String ROOM = """
            select coalesce(min(case when q.paused_at is not null then 0
                                     when q.max_running is null then 2147483647
                                     else max(0, q.max_running - (
                                       select count(*) from reprise_held h
                                         join reprise_job j on j.id = h.id and j.token < h.token and j.due_at is not null
                                        where q.name in (h.queue, {base h.queue}))) end), 2147483647)
              from reprise_queue q
             where q.name in (?, ?)
            """;

    // There is one writer, so the next token is known before the lease row is written.
    private static final String NEXT_TOKEN = """
            select coalesce(max(seq), 0) + 1
              from sqlite_sequence
             where name = 'reprise_lease'
            """;

    private static final String LEASE = """
            insert into reprise_lease (id, queue, worker, runner, alone, claimed_at, expires_at, unheard, ids)
            values (:token, :queue, :worker, :worker, :alone, :now, :expires, :unheard, :ids)
            """;

    /** Times that a claim asks for what a look before it found if other threads are faster. */
    private static final int TURNS = 20;

    /** Looks that a claim makes if others take what it found. */
    private static final int LOOKS = 3;

    /** Turns whose limits are reached that a look passes: jumps within one statement. */
    private static final int VISITS = 4_000;

    private final Database database;
    private final SpecColumns specs;
    private final LeaseTable leases;
    private final RetryShare share = new RetryShare();
    private final FoundJobs stocks = new FoundJobs();
    private final Turns turns = new Turns();
    private volatile boolean busy;

    public SqliteClaims(Database database, SpecColumns specs, LeaseTable leases) {
        this.database = database;
        this.specs = specs;
        this.leases = leases;
    }

    @Override
    public Set<String> liveQueues() {
        return Set.copyOf(database.read("name the queues", QueueTable::live));
    }

    @Override
    public DueQueues dueQueues(String after, String before, int looks) {
        return database.read("look for queues with due jobs", session -> {
            List<String> names = session.list(
                    NAMES,
                    SqlRow::text,
                    Params.of("after", after).and("before", before).and("max", looks + 1));
            boolean more = names.size() > looks;
            List<String> scanned = more ? names.subList(0, looks) : names;
            long now = session.now();
            List<String> due = new ArrayList<>();
            for (String name : scanned) {
                if (room(session, name) > 0 && isAnythingDue(session, name, now)) {
                    due.add(name);
                }
            }
            return new DueQueues(due, more ? scanned.get(looks - 1) : null);
        });
    }

    private static boolean isAnythingDue(Session session, String queue, long now) throws SQLException {
        return isAnythingDue(session, queue, StoredLane.FRESH, now)
                || isAnythingDue(session, queue, StoredLane.RETRY, now)
                || isAnythingDue(session, queue, StoredLane.SUSPECT, now);
    }

    private static boolean isAnythingDue(Session session, String queue, int lane, long now) throws SQLException {
        Optional<Integer> level = level(session, queue, lane, Integer.MAX_VALUE);
        while (level.isPresent()) {
            // Turns are walked from the first on: those whose jobs all run are not many.
            int priority = level.get();
            Supplier<Params> params = () -> level(queue, lane, priority, now);
            Optional<String> turn = turn(session, params, Turns.NONE);
            while (turn.isPresent()) {
                Params first = params.get().and("turn", turn.get()).and("max", 1);
                if (session.first(ANY_DUE, SqlRow::number, first).isPresent()) {
                    return true;
                }
                turn = turn(session, params, Turns.behind(turn.get()));
            }
            level = level(session, queue, lane, level.get());
        }
        return false;
    }

    private static Optional<String> turn(Session session, Supplier<Params> level, String from) throws SQLException {
        return session.first(
                NEXT_TURNS, SqlRow::text, level.get().and("from", from).and("max", 1));
    }

    @Override
    public List<Claim> claim(ClaimRequest request) {
        if (request.types().isEmpty()) {
            boolean limited =
                    request.demands().stream().anyMatch(demand -> demand.rules().isLimited());
            return limited ? claimLimited(request) : claimFound(request, Map.of());
        }
        List<Claim> claims = List.of();
        boolean again = true;
        for (int turn = 0; again && turn < TURNS; turn++) {
            boolean stocked = look(request);
            claims = claimFound(request, Map.of());
            // Other threads may have taken all that was found before.
            again = stocked
                    && claims.isEmpty()
                    && request.demands().stream().noneMatch(demand -> stocks.has(request, demand.queue()));
        }
        return claims;
    }

    /** Looks for jobs of queues with limits beside the writer: groups whose limits are reached may be many. */
    private List<Claim> claimLimited(ClaimRequest request) {
        List<Claim> claims = List.of();
        boolean again = true;
        for (int look = 0; again && look < LOOKS; look++) {
            Map<String, FoundJobs.Stock> found =
                    database.read("look for due jobs", session -> findLimited(session, request));
            boolean any = found.values().stream().anyMatch(stock -> stock.size() > 0);
            claims = claimFound(request, found);
            // Others may have taken all that was found.
            again = any && claims.isEmpty();
        }
        return claims;
    }

    private Map<String, FoundJobs.Stock> findLimited(Session session, ClaimRequest request) throws SQLException {
        Map<String, FoundJobs.Stock> found = new HashMap<>();
        for (ClaimRequest.Demand demand : request.demands()) {
            if (demand.rules().isLimited()) {
                int most = Math.min(request.max(), demand.max());
                found.put(demand.queue(), find(session, request, demand.queue(), most));
            }
        }
        return found;
    }

    private List<Claim> claimFound(ClaimRequest request, Map<String, FoundJobs.Stock> found) {
        if (!(busy && found.isEmpty())
                && !database.read("look for due jobs", session -> isAnythingDue(session, request, found))) {
            return List.of();
        }
        List<Claim> claims;
        try (FoundJobs.Taken taken = stocks.taken(request)) {
            claims = database.write("claim jobs", Refusal.never(), session -> claim(session, request, taken, found));
        }
        claims.stream()
                .filter(claim -> claim.together() == 0)
                .forEach(claim -> share.claimed(claim.queue(), claim.jobs().size(), request.retryShare()));
        busy = !claims.isEmpty();
        return claims;
    }

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
     * Looks for jobs of the types asked for beside the writer: those of others that come first may be many. True if a look before
     * had found enough.
     */
    private boolean look(ClaimRequest request) {
        FoundJobs.Plan plan = stocks.plan(
                request,
                request.demands().stream().map(ClaimRequest.Demand::queue).toList(),
                request.max());
        if (!plan.isNeeded()) {
            return plan.stocked();
        }
        boolean done = false;
        try {
            Map<String, FoundJobs.Stock> found = new HashMap<>();
            boolean plenty = database.read("look for due jobs", session -> find(session, request, plan, found));
            stocks.scanned(request, plan, found, plenty);
            done = true;
            return false;
        } finally {
            if (!done) {
                stocks.failed(request, plan);
            }
        }
    }

    /** Whether there may be more. */
    private boolean find(Session session, ClaimRequest request, FoundJobs.Plan plan, Map<String, FoundJobs.Stock> found)
            throws SQLException {
        boolean more = false;
        for (String name : plan.queues()) {
            FoundJobs.Stock stock = find(session, request, name, plan.jobs());
            found.put(name, stock);
            more |= stock.size() >= plan.jobs();
        }
        return more;
    }

    private FoundJobs.Stock find(Session session, ClaimRequest request, String queue, int most) throws SQLException {
        long now = session.now();
        FoundJobs.Stock stock = new FoundJobs.Stock();
        find(session, request, queue, StoredLane.FRESH, now, most)
                .forEach(pick -> stock.add(pick.job(), false, () -> turns.took(pick)));
        find(session, request, queue, StoredLane.RETRY, now, most)
                .forEach(pick -> stock.add(pick.job(), true, () -> turns.took(pick)));
        return stock;
    }

    private List<Turns.Pick<Long>> find(
            Session session, ClaimRequest request, String queue, int lane, long now, int most) throws SQLException {
        List<Turns.Pick<Long>> found = new ArrayList<>();
        Optional<Integer> level = level(session, queue, lane, Integer.MAX_VALUE);
        while (level.isPresent() && found.size() < most) {
            int priority = level.get();
            boolean some = !request.types().isEmpty();
            Supplier<Params> params = () -> some
                    ? level(queue, lane, priority, now)
                            .and("types", types(request))
                            .and("wanted", !request.others())
                    : level(queue, lane, priority, now);
            found.addAll(turns.choose(
                    new Turns.Level(queue, lane, priority, request.asked()),
                    most - found.size(),
                    request.rulesOf(queue),
                    limited(
                            session,
                            request,
                            queue,
                            walk(session, params, some ? Words.SOME_IDS : Words.ANY_IDS, SqlRow::number),
                            id -> id)));
            level = level(session, queue, lane, level.get());
        }
        return found;
    }

    /** The statements of a walk. */
    private record Words(String turns, String due, String head) {

        private static final String HEAD = "select " + ClaimedRows.COLUMNS + HEAD_DUE;
        private static final Words ANY = new Words(NEXT_TURNS, ALL_DUE, HEAD.replace("{types}", ""));
        private static final Words SOME = new Words(TURNS_OF_TYPES, SOME_DUE, HEAD.replace("{types}", OF_TYPES));
        private static final Words ANY_IDS =
                new Words(NEXT_TURNS, ANY_DUE, "select j.id\n" + HEAD_DUE.replace("{types}", ""));
        private static final Words SOME_IDS =
                new Words(TURNS_OF_TYPES, SOME_ANY_DUE, "select j.id\n" + HEAD_DUE.replace("{types}", OF_TYPES));
    }

    /** A statement costs no round trip here, so each turn has one of its own. */
    private static <J> Turns.Walk<J, SQLException> walk(
            Session session, Supplier<Params> level, Words words, Session.Reader<J> reader) {
        return new Turns.Walk<>() {
            @Override
            public List<String> turns(String from, @Nullable String before, int most) throws SQLException {
                List<String> found = session.list(
                        words.turns, SqlRow::text, level.get().and("from", from).and("max", most));
                return before == null
                        ? found
                        : found.stream()
                                .filter(turn -> turn.compareTo(before) < 0)
                                .toList();
            }

            @Override
            public int visits() {
                return VISITS;
            }

            @Override
            public Map<String, List<J>> due(Map<String, Integer> most) throws SQLException {
                Map<String, List<J>> jobs = new HashMap<>();
                for (Map.Entry<String, Integer> each : most.entrySet()) {
                    Params turn = level.get().and("turn", each.getKey()).and("max", each.getValue());
                    jobs.put(each.getKey(), session.list(words.due, reader, turn));
                }
                return jobs;
            }

            @Override
            public Map<String, J> heads(Map<String, Long> ids) throws SQLException {
                Map<String, J> jobs = new HashMap<>();
                for (Map.Entry<String, Long> each : ids.entrySet()) {
                    Params head = level.get().and("turn", each.getKey()).and("head", each.getValue());
                    session.first(words.head, reader, head).ifPresent(job -> jobs.put(each.getKey(), job));
                }
                return jobs;
            }
        };
    }

    private static <J> Turns.Walk<J, SQLException> limited(
            Session session,
            ClaimRequest request,
            String queue,
            Turns.Walk<J, SQLException> walk,
            ToLongFunction<J> id) {
        GroupRules rules = request.rulesOf(queue);
        return rules.isLimited() ? Turns.limited(walk, FlowTable.limits(session, queue, rules, id)) : walk;
    }

    private List<Claim> claim(
            Session session, ClaimRequest request, FoundJobs.Taken taken, Map<String, FoundJobs.Stock> found)
            throws SQLException {
        return ClaimPlan.overQueues(
                request,
                (queue, room, suspects) -> ClaimPlan.suspectsFirst(
                        Math.min(room, room(session, queue)),
                        suspects,
                        most -> new Batch(session, request, queue, taken, found).suspects(most, suspects),
                        most -> new Batch(session, request, queue, taken, found).jobs(most)));
    }

    private static int room(Session session, String queue) throws SQLException {
        return session.one(session.dialect().sql(ROOM), SqlRow::integer, queue, Needs.base(queue));
    }

    /** Whether there is work. It runs on a reading connection and does not wait for the writer. */
    private boolean isAnythingDue(Session session, ClaimRequest request, Map<String, FoundJobs.Stock> found)
            throws SQLException {
        long now = session.now();
        for (ClaimRequest.Demand demand : request.demands()) {
            String queue = demand.queue();
            FoundJobs.Stock looked = found.get(queue);
            boolean due = (request.types().isEmpty() && looked == null)
                    ? isAnythingDue(session, queue, now)
                    : (looked == null ? stocks.has(request, queue) : looked.size() > 0)
                            || isAnythingDue(session, queue, StoredLane.SUSPECT, now);
            if (due && room(session, queue) > 0) {
                return true;
            }
        }
        return false;
    }

    private static String types(ClaimRequest request) {
        return "," + String.join(",", request.types()) + ",";
    }

    private static Params level(String queue, int lane, int priority, long now) {
        return Params.of("queue", queue)
                .and("lane", lane)
                .and("priority", priority)
                .and("now", now);
    }

    private static Optional<Integer> level(Session session, String queue, int lane, int above) throws SQLException {
        return session.first(LEVEL, SqlRow::integer, queue, lane, above);
    }

    /** A lease that is being built. */
    private final class Batch {

        private final Session session;
        private final ClaimRequest request;
        private final String queue;
        private final FoundJobs.Taken taken;
        private final FoundJobs.@Nullable Stock looked;
        private final long now;
        private final long token;
        private final ClaimedRows rows;
        private List<ClaimedRows.Due> found = List.of();
        private int together;

        Batch(
                Session session,
                ClaimRequest request,
                String queue,
                FoundJobs.Taken taken,
                Map<String, FoundJobs.Stock> looked)
                throws SQLException {
            this.looked = looked.get(queue);
            this.session = session;
            this.request = request;
            this.queue = queue;
            this.taken = taken;
            this.now = session.now();
            this.token = session.one(NEXT_TOKEN, SqlRow::number);
            this.rows = new ClaimedRows(
                    specs, session, queue, new JobStatus.Holder(request.worker(), token, false), SqlTime.instant(now));
        }

        @Nullable
        Claim suspects(int room, Suspects suspects) throws SQLException {
            List<ClaimedRows.Due> due = jobs(due(StoredLane.SUSPECT, room));
            if (due.isEmpty()) {
                return null;
            }
            SuspectGroups.Group<ClaimedRows.Due> group =
                    SuspectGroups.fitting(session, due, ClaimedRows.Due::id, suspects);
            found = FlowTable.admit(session, queue, request.rulesOf(queue), group.jobs(), ClaimedRows.Due::id);
            together = group.together();
            return found.isEmpty() ? null : lease();
        }

        @Nullable
        Claim jobs(int room) throws SQLException {
            if (!fill(room, share.kept(queue, room, request.retryShare()))) {
                return null;
            }
            found = FlowTable.admit(session, queue, request.rulesOf(queue), found, ClaimedRows.Due::id);
            return found.isEmpty() ? null : lease();
        }

        /**
         * Takes fresh jobs and retries. {@code kept} of the room is reserved for retries; either kind fills the
         * room that the other leaves.
         */
        private boolean fill(int room, int kept) throws SQLException {
            if (!request.types().isEmpty() || looked != null) {
                List<Long> some = looked == null ? taken.take(queue, room, kept) : looked.take(room, kept);
                long[] ids = some.stream().mapToLong(Long::longValue).toArray();
                found = new ArrayList<>(
                        ids.length == 0
                                ? List.of()
                                : session.list(
                                        STILL_DUE,
                                        rows,
                                        Params.of("queue", queue)
                                                .and("ids", ids)
                                                .and("now", now)));
                found.sort(turns.isGrouped(queue) ? ClaimedRows.Due.BY_PRIORITY : ClaimedRows.Due.ORDER);
                return !found.isEmpty();
            }
            List<Turns.Pick<ClaimedRows.Due>> retries = due(StoredLane.RETRY, kept);
            List<Turns.Pick<ClaimedRows.Due>> fresh = due(StoredLane.FRESH, room - retries.size());
            if (retries.size() == kept && kept + fresh.size() < room) {
                retries = due(StoredLane.RETRY, room - fresh.size());
            }
            found = new ArrayList<>(jobs(retries));
            found.addAll(jobs(fresh));
            if (!retries.isEmpty() && !fresh.isEmpty()) {
                found.sort(turns.isGrouped(queue) ? ClaimedRows.Due.BY_PRIORITY : ClaimedRows.Due.ORDER);
            }
            return !found.isEmpty();
        }

        private List<ClaimedRows.Due> jobs(List<Turns.Pick<ClaimedRows.Due>> picks) {
            picks.forEach(turns::took);
            return picks.stream().map(Turns.Pick::job).toList();
        }

        /** Returns the first due jobs of a lane, level by level. */
        private List<Turns.Pick<ClaimedRows.Due>> due(int lane, int max) throws SQLException {
            List<Turns.Pick<ClaimedRows.Due>> due = new ArrayList<>();
            Optional<Integer> level = max == 0 ? Optional.empty() : level(session, queue, lane, Integer.MAX_VALUE);
            while (level.isPresent()) {
                int left = max - due.size();
                due.addAll(due(lane, level.get(), left));
                level = due.size() == max ? Optional.empty() : level(session, queue, lane, level.get());
            }
            return due;
        }

        private List<Turns.Pick<ClaimedRows.Due>> due(int lane, int priority, int max) throws SQLException {
            boolean some = !request.types().isEmpty();
            Turns.Level level = new Turns.Level(queue, lane, priority, request.asked());
            Supplier<Params> params = () -> some
                    ? SqliteClaims.level(queue, lane, priority, now)
                            .and("types", types(request))
                            .and("wanted", !request.others())
                    : SqliteClaims.level(queue, lane, priority, now);
            // Most queues have no groups.
            boolean groups = turn(session, params, Turns.behind(Turns.NONE)).isPresent();
            if (!groups && !request.rulesOf(queue).isLimited()) {
                List<ClaimedRows.Due> due = session.list(
                        some ? SOME_DUE : ALL_DUE,
                        rows,
                        params.get().and("turn", Turns.NONE).and("max", max));
                return turns.pick(
                        level, List.of(new Turns.Waiting<>(Turns.NONE, due.iterator())), max, request.rulesOf(queue));
            }
            return turns.choose(
                    level,
                    max,
                    request.rulesOf(queue),
                    limited(
                            session,
                            request,
                            queue,
                            walk(session, params, some ? Words.SOME : Words.ANY, rows),
                            ClaimedRows.Due::id));
        }

        private Claim lease() throws SQLException {
            boolean alone = together == 1;
            String worker = request.worker();
            long expires = now + SqlTime.of(request.lease());
            long[] ids = found.stream().mapToLong(ClaimedRows.Due::id).toArray();
            int unheard = request.remote() ? ids.length : 0;
            session.update(
                    LEASE,
                    Params.of("token", token)
                            .and("queue", queue)
                            .and("worker", worker)
                            .and("alone", alone)
                            .and("now", now)
                            .and("expires", expires)
                            .and("unheard", unheard)
                            .and("ids", ids));
            Set<JobId> admitted = new HashSet<>();
            Map<JobId, String> damaged = new HashMap<>();
            List<Job> jobs = jobs(admitted, damaged);
            return new Claim(token, queue, SqlTime.instant(now), alone, jobs, admitted, damaged, together);
        }

        /**
         * Admitted jobs have a resource, so they are not plain; damaged jobs are not plain either.
         * Both are read as a whole.
         */
        private List<Job> jobs(Set<JobId> admitted, Map<JobId, String> damaged) throws SQLException {
            long[] others = found.stream()
                    .filter(due -> due.job() == null)
                    .mapToLong(ClaimedRows.Due::id)
                    .toArray();
            Map<Long, Job> whole = new HashMap<>();
            if (others.length > 0) {
                leases.held(session, token, others, admitted, damaged)
                        .forEach(job -> whole.put(job.id().value(), job));
            }
            List<Job> jobs = new ArrayList<>(found.size());
            for (ClaimedRows.Due due : found) {
                Job job = due.job();
                jobs.add(job == null ? Objects.requireNonNull(whole.get(due.id())) : job);
            }
            return jobs;
        }
    }
}
