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
    static final String NEXT_TURNS = """
            with recursive found (turn) as (
              select (select j.turn from reprise_job j
                       where j.queue = :queue and j.lane = :lane and j.priority = :priority and j.due_at is not null
                         and j.turn >= :from
                       order by j.turn limit 1)
              union all
              select (select j.turn from reprise_job j
                       where j.queue = :queue and j.lane = :lane and j.priority = :priority and j.due_at is not null
                         and j.turn > f.turn
                       order by j.turn limit 1)
                from found f
               where f.turn is not null)
            select turn from found where turn is not null limit :max
            """;

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

    static final String ANY_DUE = "select j.id\n" + DUE.replace("{types}", "");

    static final String ALL_DUE = "select " + ClaimedRows.COLUMNS + DUE.replace("{types}", "");

    // Some types only. They are listed between commas, and no type contains a comma.
    private static final String OF_TYPES = "\n               and (instr(:types, ',' || j.type || ',') > 0) = :wanted";

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
            return claimFound(request);
        }
        List<Claim> claims = List.of();
        boolean again = true;
        for (int turn = 0; again && turn < TURNS; turn++) {
            boolean stocked = look(request);
            claims = claimFound(request);
            // Other threads may have taken all that was found before.
            again = stocked
                    && claims.isEmpty()
                    && request.demands().stream().noneMatch(demand -> stocks.has(request, demand.queue()));
        }
        return claims;
    }

    private List<Claim> claimFound(ClaimRequest request) {
        if (!busy && !database.read("look for due jobs", session -> isAnythingDue(session, request))) {
            return List.of();
        }
        List<Claim> claims;
        try (FoundJobs.Taken taken = stocks.taken(request)) {
            claims = database.write("claim jobs", Refusal.never(), session -> claim(session, request, taken));
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
        long now = session.now();
        for (String name : plan.queues()) {
            FoundJobs.Stock stock = new FoundJobs.Stock();
            find(session, request, name, StoredLane.FRESH, now, plan.jobs())
                    .forEach(pick -> stock.add(pick.job(), false, () -> turns.took(pick)));
            find(session, request, name, StoredLane.RETRY, now, plan.jobs())
                    .forEach(pick -> stock.add(pick.job(), true, () -> turns.took(pick)));
            found.put(name, stock);
            more |= stock.size() >= plan.jobs();
        }
        return more;
    }

    private List<Turns.Pick<Long>> find(
            Session session, ClaimRequest request, String queue, int lane, long now, int most) throws SQLException {
        List<Turns.Pick<Long>> found = new ArrayList<>();
        Optional<Integer> level = level(session, queue, lane, Integer.MAX_VALUE);
        while (level.isPresent() && found.size() < most) {
            int priority = level.get();
            Supplier<Params> params = () -> level(queue, lane, priority, now)
                    .and("types", types(request))
                    .and("wanted", !request.others());
            found.addAll(turns.choose(
                    new Turns.Level(queue, lane, priority),
                    most - found.size(),
                    request.rulesOf(queue),
                    limited(session, request, queue, walk(session, params, SOME_ANY_DUE, SqlRow::number), id -> id)));
            level = level(session, queue, lane, level.get());
        }
        return found;
    }

    /** A statement costs no round trip here, so each turn has one of its own. */
    private static <J> Turns.Walk<J, SQLException> walk(
            Session session, Supplier<Params> level, String due, Session.Reader<J> reader) {
        return new Turns.Walk<>() {
            @Override
            public List<String> turns(String from, @Nullable String before, int most) throws SQLException {
                List<String> found = session.list(
                        NEXT_TURNS, SqlRow::text, level.get().and("from", from).and("max", most));
                return before == null
                        ? found
                        : found.stream()
                                .filter(turn -> turn.compareTo(before) < 0)
                                .toList();
            }

            @Override
            public Map<String, List<J>> due(Map<String, Integer> most) throws SQLException {
                Map<String, List<J>> jobs = new HashMap<>();
                for (Map.Entry<String, Integer> each : most.entrySet()) {
                    Params turn = level.get().and("turn", each.getKey()).and("max", each.getValue());
                    jobs.put(each.getKey(), session.list(due, reader, turn));
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

    private List<Claim> claim(Session session, ClaimRequest request, FoundJobs.Taken taken) throws SQLException {
        return ClaimPlan.overQueues(
                request,
                (queue, room, suspects) -> ClaimPlan.suspectsFirst(
                        Math.min(room, room(session, queue)),
                        suspects,
                        most -> new Batch(session, request, queue, taken).suspects(most, suspects),
                        most -> new Batch(session, request, queue, taken).jobs(most)));
    }

    private static int room(Session session, String queue) throws SQLException {
        return session.first(ROOM, SqlRow::integer, queue).orElse(Integer.MAX_VALUE);
    }

    /** Whether there is work. It runs on a reading connection and does not wait for the writer. */
    private boolean isAnythingDue(Session session, ClaimRequest request) throws SQLException {
        long now = session.now();
        for (ClaimRequest.Demand demand : request.demands()) {
            String queue = demand.queue();
            boolean due = request.types().isEmpty()
                    ? isAnythingDue(session, queue, now)
                    : stocks.has(request, queue) || isAnythingDue(session, queue, StoredLane.SUSPECT, now);
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
        private final long now;
        private final long token;
        private final ClaimedRows rows;
        private List<ClaimedRows.Due> found = List.of();
        private int together;

        Batch(Session session, ClaimRequest request, String queue, FoundJobs.Taken taken) throws SQLException {
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
            if (!request.types().isEmpty()) {
                long[] ids = taken.take(queue, room, kept).stream()
                        .mapToLong(Long::longValue)
                        .toArray();
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
            Turns.Level level = new Turns.Level(queue, lane, priority);
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
                            walk(session, params, some ? SOME_DUE : ALL_DUE, rows),
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
