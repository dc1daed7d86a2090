// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.Job;
import io.reprise.JobId;
import io.reprise.JobSpec;
import io.reprise.JobState;
import io.reprise.JobStatus;
import io.reprise.store.Note;
import io.reprise.store.QueueState;
import io.reprise.store.Standing;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Finds where a job stands in its queue. It runs several small statements, which may see different moments. */
final class Standings {

    private static final String PLACE = """
            select lane, parked_by, due_at
              from reprise_job
             where id = ? and due_at is not null
            """;

    private static final String QUEUE = """
            select paused_at, paused_by, paused_why, max_running
              from reprise_queue
             where name = ?
            """;

    // Starts from the leases, which are few.
    private static final String RUNNING = """
            select count(*)
              from reprise_held h
              join reprise_job j on j.id = h.id
             where h.queue = ? and j.token < h.token and j.due_at is not null
            """;

    // One priority is one range of reprise_job_ready, and the limit ends the scan. The "order by" matches the index;
    // without it the planner may read all jobs.
    static final String DUE = """
            select count(*)
              from (
                select 1
                  from reprise_job {by reprise_job_ready}
                 where queue = ? and lane = ? and priority = ? and due_at is not null and due_at <= ?
                   and id not in (select h.id from reprise_held h)
                 order by due_at, id
                 limit ?) x
            """;

    static final String EARLIER = """
            select count(*)
              from (
                select 1
                  from reprise_job {by reprise_job_ready}
                 where queue = ? and lane = ? and priority = ? and due_at is not null and due_at <= ?
                   and (due_at < ? or id < ?) and id not in (select h.id from reprise_held h)
                 order by due_at, id
                 limit ?) x
            """;

    private record Place(int lane, @Nullable String parkedBy, long dueAt) {}

    private record Settings(
            QueueState.@Nullable Pause paused, @Nullable Integer maxRunning) {}

    private final Jobs jobs;

    Standings(Jobs jobs) {
        this.jobs = jobs;
    }

    Optional<Standing> find(Session session, JobId id, int most) throws SQLException {
        Optional<Job> found = jobs.find(session, id);
        return found.isEmpty() ? Optional.empty() : Optional.of(standing(session, found.get(), most));
    }

    private static Standing standing(Session session, Job job, int most) throws SQLException {
        long now = session.now();
        boolean pending = job.state() == JobState.PENDING;
        Place place = pending ? session.first(PLACE, Standings::place, job.id()).orElse(null) : null;
        Place waits = place != null && place.parkedBy == null && place.dueAt <= now ? place : null;
        Settings queue = session.first(QUEUE, Standings::settings, job.queue()).orElse(new Settings(null, null));
        return new Standing(
                job,
                Micros.instant(now),
                leaseUntil(session, job.status().holder()),
                place == null ? null : place.parkedBy,
                queue.paused,
                queue.maxRunning,
                session.one(RUNNING, Row::integer, job.queue()),
                waits == null ? 0 : higher(session, job, waits, now, most),
                waits == null ? 0 : earlier(session, job, waits, most));
    }

    private static Place place(Row row) throws SQLException {
        return new Place(row.integer(), row.textOrNull(), row.number());
    }

    private static Settings settings(Row row) throws SQLException {
        Instant since = row.instantOrNull();
        String by = row.textOrNull();
        String why = row.textOrNull();
        QueueState.Pause pause = since == null || by == null ? null : new QueueState.Pause(since, new Note(by, why));
        return new Settings(pause, row.integerOrNull());
    }

    private static @Nullable Instant leaseUntil(Session session, JobStatus.@Nullable Holder holder)
            throws SQLException {
        return holder == null
                ? null
                : session.first(
                                session.dialect().sql("select expires_at from {expiry} where id = ?"),
                                Row::instant,
                                holder.token())
                        .orElse(null);
    }

    private static int higher(Session session, Job job, Place place, long now, int most) throws SQLException {
        int found = 0;
        for (int level = JobSpec.MAX_PRIORITY; level > job.spec().priority() && found < most; level--) {
            found += session.one(
                    session.dialect().sql(DUE), Row::integer, job.queue(), place.lane, level, now, most - found);
        }
        return found;
    }

    private static int earlier(Session session, Job job, Place place, int most) throws SQLException {
        long due = place.dueAt;
        return session.one(
                session.dialect().sql(EARLIER),
                Row::integer,
                job.queue(),
                place.lane,
                job.spec().priority(),
                due,
                due,
                job.id(),
                most);
    }
}
