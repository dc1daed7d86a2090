// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.jobs;

import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.job.Job;
import io.reprise.job.JobCounts;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.JobStatus;
import io.reprise.job.JobTimes;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Comparator;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reads the jobs of a claim from SQLite, where reading each value is a call into native code. Most jobs are plain: all
 * their optional columns are empty. The statement marks plain jobs, and this class reads only their few columns. The
 * other jobs are read as a whole later. Not thread-safe.
 */
public final class ClaimedRows implements Session.Reader<ClaimedRows.Due> {

    /** Columns of a job {@code j}: its place in the queue, whether it is plain, and the values of a plain job. */
    public static final String COLUMNS = """
            j.id, j.priority, j.due_at,
                   coalesce({optional}, j.last_delay_us, j.progress, j.error_type) is null
                   and j.attempts + j.losses + j.interruptions + j.snoozes + j.granted + j.cancel_requested = 0
                   and j.first_due_at = j.created_at,
                   j.type, j.payload, j.policy, j.deadline, j.created_at
            """.replace("{optional}", "j." + String.join(", j.", SpecColumns.OPTIONAL));

    /**
     * An entry of the queue.
     *
     * @param job null unless the job is plain
     */
    public record Due(
            long id, int priority, long dueAt, @Nullable Job job) {

        public static final Comparator<Due> BY_PRIORITY = Comparator.comparingInt((Due due) -> -due.priority);

        public static final Comparator<Due> ORDER =
                BY_PRIORITY.thenComparingLong(Due::dueAt).thenComparingLong(Due::id);
    }

    private final SpecColumns specs;
    private final Session session;
    private final String queue;
    private final Instant claimedAt;
    private final JobStatus running;
    private @Nullable JobSpec last;
    private @Nullable Long lastPolicy;

    public ClaimedRows(SpecColumns specs, Session session, String queue, JobStatus.Holder holder, Instant claimedAt) {
        this.specs = specs;
        this.session = session;
        this.queue = queue;
        this.claimedAt = claimedAt;
        this.running = new JobStatus(JobState.RUNNING, null, null, null, null, null, holder);
    }

    @Override
    public Due read(SqlRow row) throws SQLException {
        long id = row.number();
        int priority = row.integer();
        long dueAt = row.number();
        return new Due(id, priority, dueAt, row.flag() ? plain(row, id, priority) : null);
    }

    /** Returns null if the row cannot be read as a job. */
    private @Nullable Job plain(SqlRow row, long id, int priority) throws SQLException {
        JobSpec spec;
        try {
            spec = spec(row.text(), row.text(), row.numberOrNull(), priority);
        } catch (IllegalArgumentException e) {
            return null;
        }
        Instant deadline = row.instantOrNull();
        Instant created = row.instant();
        JobTimes times = new JobTimes(created, created, null, deadline, claimedAt, null, null);
        return new Job(new JobId(id), spec, running, JobCounts.NONE, times);
    }

    /** Jobs of a batch often differ only in the payload. Then the checked spec of the last job is reused. */
    private JobSpec spec(String type, String payload, @Nullable Long policy, int priority) throws SQLException {
        JobSpec like = last;
        JobSpec spec = like != null
                        && like.type().equals(type)
                        && like.priority() == priority
                        && Objects.equals(lastPolicy, policy)
                ? like.toBuilder().payload(payload).build()
                : specs.plain(session, queue, type, payload, policy, priority);
        last = spec;
        lastPolicy = policy;
        return spec;
    }
}
