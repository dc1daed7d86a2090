// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.JobState;
import io.reprise.store.Note;
import io.reprise.store.QueueState;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Settings and counts of queues. */
final class Queues {

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

    // Reads reprise_job_ready only, every entry of it: the price of counting the backlog, paid by who looks.
    private static final String LIVE = """
            select queue, count(*)
              from reprise_job
             where due_at is not null
             group by queue
            """;

    private static final String RUNNING = """
            select h.queue, count(*)
              from reprise_held h
              join reprise_job j on j.id = h.id
             where j.token < h.token and j.due_at is not null
             group by h.queue
            """;

    private static final String OLDEST = """
            select queue, min(due_at)
              from reprise_job
             where due_at is not null and due_at <= {now} and parked_by is null and id not in (select h.id from reprise_held h)
             group by queue
            """;

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

    private Queues() {}

    static List<String> live(Session session) throws SQLException {
        return session.dialect().names(session, NAMES, NEXT_NAME);
    }

    static void pause(Session session, String queue, Note note) throws SQLException {
        session.dialect().insertUnlessThere(session, CREATE, queue);
        session.update(session.dialect().sql(PAUSE), note.by(), note.why(), queue);
        Audit.write(session, "pause", null, queue, note, null);
    }

    static void resume(Session session, String queue, Note note) throws SQLException {
        session.dialect().insertUnlessThere(session, CREATE, queue);
        session.update(RESUME, queue);
        Audit.write(session, "resume", null, queue, note, null);
    }

    static void limit(Session session, String queue, @Nullable Integer maxRunning, Note note) throws SQLException {
        session.dialect().insertUnlessThere(session, CREATE, queue);
        session.update("update reprise_queue set max_running = ? where name = ?", maxRunning, queue);
        Audit.write(session, "limit", null, queue, note, maxRunning == null ? "no limit" : "at most " + maxRunning);
    }

    /** One queue as it is put together from several answers. */
    private static final class Found {
        private final Map<JobState, Long> counts = new EnumMap<>(JobState.class);
        private QueueState.@Nullable Pause paused;
        private @Nullable Integer maxRunning;
        private @Nullable Instant oldest;

        private void count(JobState state, long n) {
            counts.merge(state, n, Long::sum);
        }

        private QueueState read(String name) {
            counts.values().removeIf(n -> n <= 0);
            return new QueueState(name, paused, maxRunning, counts, oldest);
        }
    }

    static List<QueueState> all(Session session) throws SQLException {
        Map<String, Found> queues = new TreeMap<>();
        session.list(SETTINGS, row -> {
            Found queue = at(queues, row.text());
            Instant since = row.instantOrNull();
            String by = row.textOrNull();
            String why = row.textOrNull();
            queue.paused = since == null || by == null ? null : new QueueState.Pause(since, new Note(by, why));
            queue.maxRunning = row.integerOrNull();
            return queue;
        });
        session.list(session.dialect().sql(ENDED), row -> {
            Found queue = at(queues, row.text());
            queue.count(JobState.valueOf(row.text()), row.number());
            return queue;
        });
        session.list(LIVE, row -> {
            Found queue = at(queues, row.text());
            queue.count(JobState.PENDING, row.number());
            return queue;
        });
        session.list(RUNNING, row -> {
            Found queue = at(queues, row.text());
            long running = row.number();
            queue.count(JobState.RUNNING, running);
            queue.count(JobState.PENDING, -running);
            return queue;
        });
        session.list(session.dialect().sql(OLDEST), row -> {
            Found queue = at(queues, row.text());
            queue.oldest = row.instant();
            return queue;
        });
        List<QueueState> states = new ArrayList<>();
        queues.forEach((name, queue) -> states.add(queue.read(name)));
        return states;
    }

    private static Found at(Map<String, Found> queues, String name) {
        return queues.computeIfAbsent(name, key -> new Found());
    }
}
