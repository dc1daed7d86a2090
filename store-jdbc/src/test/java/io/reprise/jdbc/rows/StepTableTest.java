// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.rows;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.jdbc.JdbcJobStore;
import io.reprise.jdbc.Sqlite;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sqlite.SqliteDialect;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.step.Checkpoint;
import io.reprise.step.StepList;
import io.reprise.step.StepWrite;
import io.reprise.step.StoredStep;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StepTableTest {

    @TempDir
    Path directory;

    @Test
    void jobs_are_read_together_as_long_as_their_steps_are_no_more_than_one_job_may_have() throws Exception {
        Path file = directory.resolve("jobs.db");
        int most = StoredStep.MAX_JOB_BYTES;
        List<JobId> jobs = stored(file, List.of(0, most / 2, most / 2, 1, most, 0, 0, 1));
        try (Connection connection = Sqlite.connection(file)) {
            Session session = new Session(connection, new SqliteDialect(), 0, Session.Use.POOLED);
            assertThat(lengths(session, jobs)).containsExactly(0, most / 2, most / 2);
            assertThat(lengths(session, jobs.subList(3, 8))).containsExactly(1);
            assertThat(lengths(session, jobs.subList(4, 8))).containsExactly(most, 0, 0);
            assertThat(lengths(session, jobs.subList(4, 5))).containsExactly(most);
            JobId half = jobs.get(1);
            assertThat(lengths(session, List.of(half, half, half, half)))
                    .as("one job that many ask for")
                    .containsExactly(most / 2, most / 2, most / 2, most / 2);
        }
    }

    private static List<Integer> lengths(Session session, List<JobId> jobs) throws Exception {
        List<Integer> lengths = new ArrayList<>();
        for (StepList steps : StepTable.findFirst(session, jobs)) {
            lengths.add(steps.steps().stream()
                    .mapToInt(step -> String.valueOf(step.value()).length())
                    .sum());
        }
        return lengths;
    }

    /** Stores a job for each length, with that many characters in a step. */
    private static List<JobId> stored(Path file, List<Integer> lengths) {
        List<JobId> jobs = new ArrayList<>();
        try (JdbcJobStore store = JdbcJobStore.sqlite(file)) {
            store.prepare();
            store.insert(lengths.stream()
                    .map(length -> JobSpec.builder("a", "{}").build())
                    .toList());
            ClaimRequest.Demand demand = new ClaimRequest.Demand(JobSpec.DEFAULT_QUEUE, lengths.size());
            for (Claim claim : store.claim(
                    new ClaimRequest("w", Duration.ofHours(1), lengths.size(), List.of(demand), 0.2, true))) {
                for (Job job : claim.jobs()) {
                    int length = lengths.get(jobs.size());
                    if (length > 0) {
                        StepWrite done = StepWrite.done("a", null, "7".repeat(length));
                        store.checkpoint(List.of(new Checkpoint(job.id(), claim.token(), done)));
                    }
                    jobs.add(job.id());
                }
            }
        }
        return jobs;
    }
}
