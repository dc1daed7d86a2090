// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.sqlite;

import io.reprise.jdbc.jobs.JobInserts;
import io.reprise.jdbc.jobs.SpecColumns;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlTime;
import io.reprise.job.Enqueued;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Stores many jobs in SQLite. Jobs that differ only in the payload go many to a statement. SQLite copies the pages that
 * a statement changes, so one statement per job would cost several pages per job.
 */
public final class SqliteBulk implements JobInserts.Bulk {

    static final int ROWS = 100;
    private static final int SHARED = 6;

    // sqlite_sequence gives the jobs of one statement consecutive ids. No conflict is possible: the jobs have no keys.
    static final String ALIKE = """
            insert into reprise_job (
              created_at, due_at, first_due_at, deadline, wait_reason, queue, type, priority, policy, payload)
            values
            """
            + IntStream.range(0, ROWS)
                    .mapToObj(row -> "(?1, ?1, ?1, ?2, 'NEW', ?3, ?4, ?5, ?6, ?" + (SHARED + 1 + row) + ")")
                    .collect(Collectors.joining(",\n"));

    @Override
    public boolean isOneStatement(int jobs) {
        return jobs == 1;
    }

    @Override
    public List<Enqueued> insert(JobInserts inserts, Session session, List<JobSpec> jobs, boolean tells)
            throws SQLException {
        List<Enqueued> answers = new ArrayList<>(jobs.size());
        while (answers.size() < jobs.size()) {
            List<JobSpec> left = jobs.subList(answers.size(), jobs.size());
            answers.addAll(
                    areAlike(inserts.specs(), left)
                            ? insertAlike(inserts, session, left.subList(0, ROWS))
                            : inserts.insertEach(session, left.subList(0, 1)));
        }
        return answers;
    }

    /** There is one writer. */
    @Override
    public boolean locksKeys() {
        return false;
    }

    /**
     * Stores jobs that differ only in payload and keys, many to a statement. Returns null if there are too few of them.
     */
    @Override
    public JobInserts.@Nullable Tried insertKeyed(JobInserts inserts, Session session, List<JobSpec> jobs, int[] places)
            throws SQLException {
        if (jobs.size() < ROWS) {
            return null;
        }
        SqliteKeyed keyed = new SqliteKeyed(inserts, session, jobs.size());
        int from = 0;
        while (jobs.size() - from >= ROWS) {
            List<JobSpec> left = jobs.subList(from, jobs.size());
            boolean alike = areAlike(inserts.specs(), left);
            if (alike) {
                keyed.insert(left.subList(0, ROWS), from);
            }
            from += alike ? ROWS : 1;
        }
        return keyed.tried();
    }

    /** Whether the first {@code ROWS} jobs exist and differ only in the payload. */
    private static boolean areAlike(SpecColumns specs, List<JobSpec> jobs) {
        if (jobs.size() < ROWS || !specs.isPlain(jobs.get(0))) {
            return false;
        }
        JobSpec first = jobs.get(0);
        return jobs.subList(1, ROWS).stream().allMatch(job -> specs.isPlain(job) && isAlike(job, first));
    }

    private static boolean isAlike(JobSpec one, JobSpec other) {
        return one.type().equals(other.type())
                && one.queue().equals(other.queue())
                && one.priority() == other.priority()
                && one.policy().equals(other.policy());
    }

    private static List<Enqueued> insertAlike(JobInserts inserts, Session session, List<JobSpec> jobs)
            throws SQLException {
        JobSpec first = jobs.get(0);
        long now = session.now();
        Long deadline = SpecColumns.deadline(first);
        @Nullable Object[] values = new @Nullable Object[SHARED + ROWS];
        values[0] = now;
        values[1] = deadline == null ? null : now + deadline;
        values[2] = first.queue();
        values[3] = first.type();
        values[4] = first.priority();
        values[5] = inserts.specs().values(first)[SpecColumns.POLICY];
        for (int row = 0; row < ROWS; row++) {
            values[SHARED + row] = jobs.get(row).payload();
        }
        session.update(ALIKE, values);
        long last = session.dialect().nextId(session) - 1;
        Instant due = SqlTime.instant(now);
        return IntStream.range(0, ROWS)
                .mapToObj(row -> new Enqueued(new JobId(last - ROWS + 1 + row), true, due))
                .toList();
    }
}
