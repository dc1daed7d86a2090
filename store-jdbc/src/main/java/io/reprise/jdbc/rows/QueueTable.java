// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.rows;

import io.reprise.jdbc.sql.Params;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.job.AuditNote;
import io.reprise.job.JobSpec.Needs;
import io.reprise.job.JobState;
import io.reprise.job.QueueState;
import io.reprise.job.WaitReason;
import io.reprise.store.DueQueues;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads and writes the settings of queues, and counts their jobs. */
public final class QueueTable {

    private static final String CREATE = "insert into reprise_queue (name) values (?)\n";

    private static final String PAUSE = """
            update reprise_queue
               set paused_at = {now}, paused_by = ?, paused_why = ?
             where name = ? and paused_at is null
            """;

    private static final String RESUME = """
            update reprise_queue
               set paused_at = null, paused_by = null, paused_why = null
             where name = ? and paused_at is not null
            """;

    private static final String SETTINGS = """
            select name, paused_at, paused_by, paused_why, max_running
              from reprise_queue
            """;

    private static final String ENDED = """
            select queue, state, cast(sum(n) as {bigint})
              from reprise_counter
             group by queue, state
            having sum(n) > 0
            """;

    // Reads a limited number of entries of reprise_job_ready. Lanes from 3 on hold parked jobs. One statement reads
    // several queues: # is the number of the queue.
    private static final String LIVE = """
            select cast(:queue# as {text}) as queue, count(*) as jobs,
                   min(case when j.lane < 3 and j.due_at <= {now}
                             and j.id not in (select h.id from reprise_held h where h.queue = :queue#)
                            then j.due_at end) as oldest
              from (select id, lane, due_at
                      from reprise_job
                     where queue = :queue# and due_at is not null
                     limit :max) j
            """;

    private static final String ALL_LIVE = """
            select count(*)
              from (select 1 as one
                      from reprise_job
                     where queue >= ? and queue < ? and due_at is not null
                     limit ?) j
            """;

    // Reads entries of reprise_job_ready, as many as are counted.
    private static final String DEPTH = """
            select count(*)
              from (select 1 as one
                      from reprise_job
                     where queue = ? and due_at is not null
                     limit ?) j
            """;

    // Reads as many live jobs of the queue as are counted.
    private static final String GROUPS = """
            select j.job_group, count(*)
              from (select job_group
                      from reprise_job
                     where queue = ? and due_at is not null
                     limit ?) j
             where j.job_group is not null
             group by j.job_group
            """;

    // Looks up each job that a lease lists. The planner could begin a join with all jobs.
    private static final String RUNNING = """
            select h.queue, count(*)
              from reprise_held h
             where (select j.token from reprise_job j where j.id = h.id and j.due_at is not null) < h.token
             group by h.queue
            """;

    // Reads the first entry of each level, for a queue with more jobs than are counted.
    private static final String OLDEST = """
            select min(due_at) as oldest
              from (select j.due_at
                      from reprise_job j
                     where j.queue = :queue and j.lane = {lane} and j.priority = {priority} and j.turn = ''
                       and j.due_at is not null and j.due_at <= {now}
                       and j.id not in (select h.id from reprise_held h where h.queue = :queue)
                     order by j.due_at
                     limit 1) level
            """;

    // The first job of the next turn of a level.
    private static final String NEXT_TURN = """
            select turn, due_at
              from reprise_job {by reprise_job_ready}
             where queue = :queue and lane = :lane and priority = :priority and due_at is not null and turn > :turn
             order by turn, due_at
             limit 1
            """;

    // The first turn of a level. One statement asks for all levels, most of which have none.
    private static final String FIRST_TURN = """
            select {lane} as lane, {priority} as priority, first.turn, first.due_at
              from (select turn, due_at
                      from reprise_job {by reprise_job_ready}
                     where queue = :queue and lane = {lane} and priority = {priority} and due_at is not null and turn > ''
                     order by turn, due_at
                     limit 1) first
            """;

    // The two are compared here: a database that joined them read all that is held for each of the jobs.
    private static final String SOME_LIVE = """
            select id, token, wait_reason
              from reprise_job
             where due_at is not null
             limit ?
            """;

    private static final String HELD = """
            select id, token
              from reprise_held
            """;

    private static final int READY_LANES = 3;

    /** Lanes whose groups take turns. */
    private static final int TURN_LANES = 2;

    /** Turns of a level whose first jobs are compared: a group that waits is served within a round. */
    private static final int MAX_TURNS = 100;

    private static final int MAX_PRIORITY = 9;

    /** Jobs of a queue of which each is looked at. Of a longer queue only the number is counted, which costs far less. */
    private static final int SCANNED = 1_000;

    /** Queues in one statement. */
    private static final int PIECE = 50;

    private static final String OLDEST_OF_ALL_LEVELS = levels(OLDEST, READY_LANES);
    private static final String FIRST_TURNS = levels(FIRST_TURN, TURN_LANES);
    private static final String LIVE_IN_PIECE = union(liveOf(PIECE));
    private static final String LIVE_OF_ONE = union(liveOf(1));

    // Jumps from name to name through reprise_job_ready, however long the backlog is.
    private static final String NAMES = """
            with recursive found (queue) as (
              select (select queue from reprise_job where due_at is not null order by queue limit 1)
              union all
              select (select j.queue from reprise_job j
                       where j.queue > f.queue and j.due_at is not null
                       order by j.queue limit 1)
                from found f
               where f.queue is not null)
            select queue from found where queue is not null
            """;

    private static final String NEXT_NAME = "select min(queue) from reprise_job where queue > ?";

    private QueueTable() {}

    /** Returns a statement for every level of the lanes. */
    private static String levels(String statement, int lanes) {
        List<String> levels = new ArrayList<>();
        for (int lane = 0; lane < lanes; lane++) {
            for (int priority = -MAX_PRIORITY; priority <= MAX_PRIORITY; priority++) {
                levels.add(statement
                        .replace("{lane}", Integer.toString(lane))
                        .replace("{priority}", Integer.toString(priority)));
            }
        }
        return union(levels);
    }

    private static List<String> liveOf(int queues) {
        return IntStream.range(0, queues)
                .mapToObj(n -> LIVE.replace("#", Integer.toString(n)))
                .toList();
    }

    private static String union(List<String> parts) {
        return String.join("union all\n", parts);
    }

    public static List<String> live(Session session) throws SQLException {
        return session.dialect().names(session, NAMES, NEXT_NAME);
    }

    /** Counts waiting jobs by their reason, among so many live ones. */
    public static Map<WaitReason, Long> waiting(Session session, int rows) throws SQLException {
        Map<Long, Long> held = new HashMap<>();
        session.list(HELD, row -> held.merge(row.number(), row.number(), Math::max));
        Map<WaitReason, Long> counts = new EnumMap<>(WaitReason.class);
        session.list(
                SOME_LIVE,
                row -> {
                    long id = row.number();
                    boolean waits = row.number() >= held.getOrDefault(id, Long.MIN_VALUE);
                    String reason = row.text();
                    return waits ? counts.merge(WaitReason.valueOf(reason), 1L, Long::sum) : 0;
                },
                rows);
        return counts;
    }

    /** Counts live jobs of a queue by their group, among so many of them. */
    public static Map<String, Long> groups(Session session, String queue, int rows) throws SQLException {
        Map<String, Long> counts = new HashMap<>();
        session.list(GROUPS, row -> counts.put(row.text(), row.number()), queue, rows);
        return counts;
    }

    public static void pause(Session session, String queue, AuditNote note) throws SQLException {
        session.dialect().insertUnlessThere(session, CREATE, queue);
        session.update(session.dialect().sql(PAUSE), note.by(), note.why(), queue);
        AuditTable.write(session, "pause", null, queue, note, null);
    }

    public static void resume(Session session, String queue, AuditNote note) throws SQLException {
        session.dialect().insertUnlessThere(session, CREATE, queue);
        session.update(RESUME, queue);
        AuditTable.write(session, "resume", null, queue, note, null);
    }

    public static void limit(Session session, String queue, @Nullable Integer maxRunning, AuditNote note)
            throws SQLException {
        session.dialect().insertUnlessThere(session, CREATE, queue);
        session.update("update reprise_queue set max_running = ? where name = ?", maxRunning, queue);
        AuditTable.write(
                session, "limit", null, queue, note, maxRunning == null ? "no limit" : "at most " + maxRunning);
    }

    /** One queue, collected from several answers. */
    private static final class Found {
        private final Map<JobState, Long> counts = new EnumMap<>(JobState.class);
        private QueueState.@Nullable Pause paused;
        private @Nullable Integer maxRunning;
        private @Nullable Instant oldest;
        private boolean more;

        private void count(JobState state, long n) {
            counts.merge(state, n, Long::sum);
        }

        /** Reads a queue; {@code named} is the one that its jobs name. */
        private QueueState read(String name, Found named) {
            counts.values().removeIf(n -> n <= 0);
            Set<JobState> atLeast = more ? Set.of(JobState.PENDING) : Set.of();
            return new QueueState(
                    name,
                    paused == null ? named.paused : paused,
                    maxRunning == null ? named.maxRunning : maxRunning,
                    counts,
                    atLeast,
                    oldest);
        }
    }

    public static List<QueueState> all(Session session) throws SQLException {
        Map<String, Found> queues = new TreeMap<>();
        session.list(SETTINGS, row -> {
            Found queue = at(queues, row.text());
            Instant since = row.instantOrNull();
            String by = row.textOrNull();
            String why = row.textOrNull();
            queue.paused = since == null || by == null ? null : new QueueState.Pause(since, new AuditNote(by, why));
            queue.maxRunning = row.integerOrNull();
            return queue;
        });
        session.list(session.dialect().sql(ENDED), row -> {
            Found queue = at(queues, row.text());
            queue.count(JobState.valueOf(row.text()), row.number());
            return queue;
        });
        live(session, queues);
        session.list(RUNNING, row -> {
            Found queue = at(queues, row.text());
            long running = row.number();
            queue.count(JobState.RUNNING, running);
            queue.count(JobState.PENDING, -running);
            return queue;
        });
        // The empty name only filled the last statement.
        queues.remove("");
        List<QueueState> states = new ArrayList<>();
        queues.forEach((name, queue) -> states.add(queue.read(name, queues.getOrDefault(Needs.base(name), queue))));
        return states;
    }

    private static void live(Session session, Map<String, Found> queues) throws SQLException {
        List<String> names = live(session);
        for (int from = 0; from < names.size(); from += PIECE) {
            List<String> piece = names.subList(from, Math.min(names.size(), from + PIECE));
            session.list(
                    session.dialect().sql(piece.size() == 1 ? LIVE_OF_ONE : LIVE_IN_PIECE),
                    row -> {
                        Found queue = at(queues, row.text());
                        long jobs = row.number();
                        queue.count(JobState.PENDING, jobs);
                        queue.more = jobs == SCANNED;
                        queue.oldest = row.instantOrNull();
                        return queue;
                    },
                    counted(piece));
        }
        int most = QueueState.countable(names.size());
        for (String name : names) {
            Found queue = at(queues, name);
            if (queue.more) {
                int jobs = most > SCANNED ? depth(session, name, most) : SCANNED;
                queue.count(JobState.PENDING, jobs - SCANNED);
                queue.more = jobs == most;
                queue.oldest = Stream.of(oldest(session, name), oldestInTurns(session, name))
                        .flatMap(Optional::stream)
                        .min(Comparator.naturalOrder())
                        .orElse(null);
            }
        }
    }

    /** Returns the values for {@link #LIVE}, once or for a whole piece. Empty names fill the piece. */
    private static Params counted(List<String> names) {
        Params params = Params.of("max", SCANNED);
        for (int n = 0; n < PIECE; n++) {
            params.and("queue" + n, n < names.size() ? names.get(n) : "");
        }
        return params;
    }

    /** The job of a turn that has waited longest, among the first turns of each level. */
    private static Optional<Instant> oldestInTurns(Session session, String queue) throws SQLException {
        record First(int lane, int priority, String turn, Instant dueAt) {}
        List<Instant> found = new ArrayList<>();
        for (First level : session.list(
                session.dialect().sql(FIRST_TURNS),
                row -> new First(row.integer(), row.integer(), row.text(), row.instant()),
                Params.of("queue", queue))) {
            Optional<First> next = Optional.of(level);
            for (int turns = 1; next.isPresent() && turns <= MAX_TURNS; turns++) {
                found.add(next.get().dueAt);
                next = session.first(
                        session.dialect().sql(NEXT_TURN),
                        row -> new First(level.lane, level.priority, row.text(), row.instant()),
                        Params.of("queue", queue)
                                .and("lane", level.lane)
                                .and("priority", level.priority)
                                .and("turn", next.get().turn));
            }
        }
        return found.stream().min(Comparator.naturalOrder());
    }

    private static Optional<Instant> oldest(Session session, String queue) throws SQLException {
        return session
                .list(
                        session.dialect().sql(OLDEST_OF_ALL_LEVELS),
                        row -> Optional.ofNullable(row.instantOrNull()),
                        Params.of("queue", queue))
                .stream()
                .flatMap(Optional::stream)
                .min(Comparator.naturalOrder());
    }

    public static int live(Session session, String prefix, int most) throws SQLException {
        return Math.toIntExact(session.one(ALL_LIVE, SqlRow::number, prefix, prefix + DueQueues.END, most));
    }

    public static int depth(Session session, String queue, int most) throws SQLException {
        return Math.toIntExact(session.one(DEPTH, SqlRow::number, queue, most));
    }

    private static Found at(Map<String, Found> queues, String name) {
        return queues.computeIfAbsent(name, key -> new Found());
    }
}
