// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.jobs;

import io.reprise.jdbc.sql.Dialect;
import io.reprise.jdbc.sql.Params;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.job.Job;
import io.reprise.job.JobCounts;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.JobStatus;
import io.reprise.job.JobTimes;
import io.reprise.job.Progress;
import io.reprise.job.WaitReason;
import io.reprise.retry.FailReason;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Reads jobs from the views that show them. */
public final class JobRows {

    // The primary key of reprise_job serves it.
    private static final String LIVE = """
            select id
              from reprise_job
             where id {in ?} and due_at is not null
            """;

    private final SpecColumns specs;

    public JobRows(SpecColumns specs) {
        this.specs = specs;
    }

    Session.Reader<Job> reader(Session session) {
        return row -> read(row, session, new HashMap<>());
    }

    /**
     * Returns a reader of claimed jobs. It adds jobs that a breaker admitted to {@code admitted}, and jobs that cannot
     * be read to {@code damaged}.
     */
    Session.Reader<Job> reader(Session session, Set<JobId> admitted, Map<JobId, String> damaged) {
        return row -> {
            Job job = read(row, session, damaged);
            if (WaitReason.BREAKER.name().equals(row.textOrNull())) {
                admitted.add(job.id());
            }
            return job;
        };
    }

    public Optional<Job> find(Session session, JobId id) throws SQLException {
        return session.first(select(session, "{show}", "id = :id"), reader(session), Params.of("id", id));
    }

    /** Returns the existing jobs with these ids, in the order of the ids. */
    public List<Job> find(Session session, Collection<Long> ids) throws SQLException {
        return find(session, "{show}", ids);
    }

    /** Returns the existing jobs with these ids without payload and result. */
    List<Job> findBrief(Session session, Collection<Long> ids) throws SQLException {
        return find(session, "{brief}", ids);
    }

    private List<Job> find(Session session, String columns, Collection<Long> ids) throws SQLException {
        long[] wanted = ids.stream().mapToLong(Long::longValue).toArray();
        List<Job> jobs = new ArrayList<>(
                session.list(select(session, columns, "id {in :ids}"), reader(session), Params.of("ids", wanted)));
        Map<Long, Integer> places = new HashMap<>();
        ids.forEach(id -> places.putIfAbsent(id, places.size()));
        jobs.sort(Comparator.comparingInt(job -> places.getOrDefault(job.id().value(), 0)));
        return jobs;
    }

    private static String select(Session session, String columns, String condition) {
        Dialect dialect = session.dialect();
        return dialect.sql(dialect.shown().stream()
                .map(part -> "select " + columns + " from " + part.view() + " and " + condition)
                .collect(Collectors.joining(" union all ")));
    }

    private Job read(SqlRow row, Session session, Map<JobId, String> damaged) throws SQLException {
        JobId id = new JobId(row.number());
        SpecColumns.Read read = specs.read(row, session);
        JobSpec spec = read.spec();
        if (read.damage() != null) {
            damaged.put(id, read.damage());
        }
        JobStatus status = status(row);
        JobCounts counts = new JobCounts(row.integer(), row.integer(), row.integer(), row.integer(), row.integer());
        JobTimes times = new JobTimes(
                row.instant(),
                row.instant(),
                row.instantOrNull(),
                row.instantOrNull(),
                row.instantOrNull(),
                row.instantOrNull(),
                row.durationOrNull());
        return new Job(id, spec, status, counts, times);
    }

    public static Set<JobId> live(Session session, Collection<JobId> ids) throws SQLException {
        Set<JobId> live = new HashSet<>();
        for (long[] piece : session.dialect()
                .pieces(ids.stream().mapToLong(JobId::value).sorted().toArray())) {
            live.addAll(session.list(session.dialect().sql(LIVE), row -> new JobId(row.number()), (Object) piece));
        }
        return live;
    }

    /** Reads a job under the lease that has just claimed it. */
    public ClaimCursor.Taken claimed(Session session, SqlRow row, String worker, long token, Instant claimedAt)
            throws SQLException {
        int lane = row.integer();
        long dueAt = row.number();
        JobId id = new JobId(row.number());
        SpecColumns.Read read = specs.read(row, session);
        JobSpec spec = read.spec();
        JobStatus.LastError error = error(row.textOrNull(), row.textOrNull(), row.textOrNull());
        Integer percent = row.integerOrNull();
        String message = row.textOrNull();
        JobStatus status = new JobStatus(
                JobState.RUNNING,
                null,
                null,
                error,
                percent == null ? null : new Progress(percent, message),
                null,
                new JobStatus.Holder(worker, token, row.flag()));
        JobCounts counts = new JobCounts(row.integer(), row.integer(), row.integer(), row.integer(), row.integer());
        JobTimes times = new JobTimes(
                row.instant(), row.instant(), null, row.instantOrNull(), claimedAt, null, row.durationOrNull());
        return new ClaimCursor.Taken(
                new Job(id, spec, status, counts, times),
                new ClaimCursor.Level(lane, spec.priority()),
                new ClaimCursor.Position(dueAt, id.value()),
                WaitReason.BREAKER.name().equals(row.textOrNull()),
                read.damage());
    }

    private static JobStatus status(SqlRow row) throws SQLException {
        JobState state = JobState.valueOf(row.text());
        WaitReason waitReason = row.constantOrNull(WaitReason.class, WaitReason.DELAYED);
        FailReason failReason = row.constantOrNull(FailReason.class, FailReason.PERMANENT);
        JobStatus.LastError error = error(row.textOrNull(), row.textOrNull(), row.textOrNull());
        Integer percent = row.integerOrNull();
        String message = row.textOrNull();
        String result = row.textOrNull();
        String worker = row.textOrNull();
        Long token = row.numberOrNull();
        boolean cancel = row.flag();
        return new JobStatus(
                state,
                waitReason,
                failReason,
                error,
                percent == null ? null : new Progress(percent, message),
                result,
                token == null || worker == null ? null : new JobStatus.Holder(worker, token, cancel));
    }

    private static JobStatus.@Nullable LastError error(
            @Nullable String type, @Nullable String message, @Nullable String fingerprint) {
        return type == null || fingerprint == null ? null : new JobStatus.LastError(type, message, fingerprint);
    }
}
