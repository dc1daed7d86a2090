// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.jobs;

import io.reprise.insight.QueuePosition;
import io.reprise.jdbc.sql.Params;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.jdbc.sql.SqlTime;
import io.reprise.job.AuditNote;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.JobSpec.Needs;
import io.reprise.job.JobState;
import io.reprise.job.JobStatus;
import io.reprise.job.QueueState;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Finds where a job stands in its queue. It runs several small statements, which may see different moments. */
public final class QueuePositions {

    private static final String PLACE = """
            select lane, parked_by, due_at, turn
              from reprise_job
             where id = ? and due_at is not null
            """;

    private static final String QUEUE = """
            select paused_at, paused_by, paused_why, max_running
              from reprise_queue
             where name = ?
            """;

    // Starts from the leases, which are few, and looks up each of their jobs. The planner could begin a join with all
    // jobs.
    private static final String RUNNING = """
            select count(*)
              from reprise_held h
             where ? in (h.queue, {base h.queue})
               and (select j.token from reprise_job j where j.id = h.id and j.due_at is not null) < h.token
            """;

    // The jobs of one priority without a turn are one range of reprise_job_ready, and the limit ends the scan. The
    // "order by" matches the index; without it the planner may read all jobs.
    public static final String DUE = """
            select count(*)
              from (
                select 1
                  from reprise_job {by reprise_job_ready}
                 where queue = :queue and lane = :lane and priority = :priority and turn = ''
                   and due_at is not null and due_at <= :due
                   and id not in (select h.id from reprise_held h)
                 order by due_at, id
                 limit :max) x
            """;

    // Jobs with a turn are due.
    public static final String DUE_IN_TURNS = """
            select count(*)
              from (
                select 1
                  from reprise_job {by reprise_job_ready}
                 where queue = :queue and lane = :lane and priority = :priority and turn > ''
                   and due_at is not null and due_at <= :due
                   and id not in (select h.id from reprise_held h)
                 order by turn, due_at, id
                 limit :max) x
            """;

    public static final String EARLIER = """
            select count(*)
              from (
                select 1
                  from reprise_job {by reprise_job_ready}
                 where queue = :queue and lane = :lane and priority = :priority and turn = :turn
                   and due_at is not null and due_at <= :due
                   and (due_at < :due or id < :id) and id not in (select h.id from reprise_held h)
                 order by due_at, id
                 limit :max) x
            """;

    private record Place(int lane, @Nullable String parkedBy, long dueAt, String turn) {}

    private record Settings(
            QueueState.@Nullable Pause paused, @Nullable Integer maxRunning) {}

    private final JobRows jobs;

    public QueuePositions(JobRows jobs) {
        this.jobs = jobs;
    }

    public Optional<QueuePosition> find(Session session, JobId id, int most) throws SQLException {
        Optional<Job> found = jobs.find(session, id);
        return found.isEmpty() ? Optional.empty() : Optional.of(queuePosition(session, found.get(), most));
    }

    private static QueuePosition queuePosition(Session session, Job job, int most) throws SQLException {
        long now = session.now();
        boolean pending = job.state() == JobState.PENDING;
        Place place =
                pending ? session.first(PLACE, QueuePositions::place, job.id()).orElse(null) : null;
        Place waits = place != null && place.parkedBy == null && place.dueAt <= now ? place : null;
        Settings queue = settings(session, job.queue());
        Room room = room(session, job.queue(), queue.maxRunning);
        return new QueuePosition(
                job,
                SqlTime.instant(now),
                leaseUntil(session, job.status().holder()),
                place == null ? null : place.parkedBy,
                queue.paused == null ? pauseOfNamed(session, job.queue()) : queue.paused,
                room.limit,
                room.running,
                waits == null ? 0 : higher(session, job, waits, now, most),
                waits == null ? 0 : earlier(session, job, waits, most));
    }

    private static Place place(SqlRow row) throws SQLException {
        return new Place(row.integer(), row.textOrNull(), row.number(), row.text());
    }

    /** The limit of a queue, and how many jobs it counts. */
    private record Room(@Nullable Integer limit, int running) {

        int left() {
            return limit == null ? Integer.MAX_VALUE : limit - running;
        }
    }

    /** Returns the limit that leaves less room: that of the queue, or of the one that its jobs name. */
    private static Room room(Session session, String queue, @Nullable Integer limit) throws SQLException {
        Room own = new Room(limit, running(session, queue));
        String base = Needs.base(queue);
        Integer ofNamed = base.equals(queue) ? null : settings(session, base).maxRunning;
        if (ofNamed == null) {
            return own;
        }
        Room named = new Room(ofNamed, running(session, base));
        return named.left() < own.left() ? named : own;
    }

    private static int running(Session session, String queue) throws SQLException {
        return session.one(session.dialect().sql(RUNNING), SqlRow::integer, queue);
    }

    private static Settings settings(Session session, String queue) throws SQLException {
        return session.first(QUEUE, QueuePositions::settings, queue).orElse(new Settings(null, null));
    }

    /** Returns the pause of the queue that the jobs of this queue name. */
    private static QueueState.@Nullable Pause pauseOfNamed(Session session, String queue) throws SQLException {
        String named = Needs.base(queue);
        return named.equals(queue) ? null : settings(session, named).paused;
    }

    private static Settings settings(SqlRow row) throws SQLException {
        Instant since = row.instantOrNull();
        String by = row.textOrNull();
        String why = row.textOrNull();
        QueueState.Pause pause =
                since == null || by == null ? null : new QueueState.Pause(since, new AuditNote(by, why));
        return new Settings(pause, row.integerOrNull());
    }

    private static @Nullable Instant leaseUntil(Session session, JobStatus.@Nullable Holder holder)
            throws SQLException {
        return holder == null
                ? null
                : session.first(
                                session.dialect().sql("select expires_at from {expiry} where id = ?"),
                                SqlRow::instant,
                                holder.token())
                        .orElse(null);
    }

    private static int higher(Session session, Job job, Place place, long now, int most) throws SQLException {
        int found = 0;
        for (int level = JobSpec.MAX_PRIORITY; level > job.spec().priority() && found < most; level--) {
            for (String due : List.of(DUE, DUE_IN_TURNS)) {
                found += session.one(
                        session.dialect().sql(due),
                        SqlRow::integer,
                        level(job, place, level).and("due", now).and("max", most - found));
            }
        }
        return found;
    }

    private static int earlier(Session session, Job job, Place place, int most) throws SQLException {
        return session.one(
                session.dialect().sql(EARLIER),
                SqlRow::integer,
                level(job, place, job.spec().priority())
                        .and("turn", place.turn)
                        .and("due", place.dueAt)
                        .and("id", job.id())
                        .and("max", most));
    }

    private static Params level(Job job, Place place, int priority) {
        return Params.of("queue", job.queue()).and("lane", place.lane).and("priority", priority);
    }
}
