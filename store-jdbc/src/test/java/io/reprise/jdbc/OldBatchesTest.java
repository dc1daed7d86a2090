// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.batch.BatchState;
import io.reprise.job.AuditNote;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.store.Claim;
import io.reprise.store.RequeueResult;
import io.reprise.store.Settlement;
import io.reprise.testkit.batches.BatchContract;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestJobs;
import io.reprise.testkit.fixture.TestSettlements;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What becomes of the jobs of a batch that is deleted by age. */
class OldBatchesTest {

    private static final AuditNote NOTE = new AuditNote("ada", "because");

    @TempDir
    Path directory;

    @AutoClose
    private JdbcJobStore store;

    @BeforeEach
    void open() {
        store = JdbcJobStore.sqlite(directory.resolve("jobs.db"));
        store.prepare();
    }

    private static JobSpec follower() {
        return JobSpec.builder("report", "null").dueAt(JobSpec.MAX_DUE).build();
    }

    private void growOld() {
        Sqlite.execute(
                directory.resolve("jobs.db"),
                "update reprise_batch set ended_at = 1",
                "update reprise_job set created_at = 1");
        store.maintain();
        assertThat(store.batch("import-7")).isEmpty();
    }

    @Test
    void a_job_for_the_success_that_came_outlives_its_batch() {
        store.createBatch("import-7", follower(), null);
        store.closeBatch("import-7");
        JobId report =
                Objects.requireNonNull(store.batch("import-7").orElseThrow().onSuccess());
        // Nobody serves its queue all the while.
        growOld();
        assertThat(store.find(report).map(Job::state)).contains(JobState.PENDING);
    }

    private JobId deadMember() {
        store.createBatch("import-7", follower(), null);
        JobId id = store.insert(List.of(TestJobs.spec("part").batch("import-7").build()))
                .get(0)
                .id();
        store.closeBatch("import-7");
        end(false);
        return id;
    }

    private void end(boolean well) {
        Claim claim = store.claim(TestClaims.upTo(1).build()).get(0);
        Job job = claim.jobs().get(0);
        Settlement outcome = well ? TestSettlements.success(claim, job) : TestSettlements.fail(claim, job);
        assertThat(store.settle(List.of(BatchContract.counted(outcome, job)), List.of())
                        .stale())
                .isEmpty();
    }

    @Test
    void a_job_for_a_success_that_did_not_come_goes_with_its_batch() {
        deadMember();
        JobId report =
                Objects.requireNonNull(store.batch("import-7").orElseThrow().onSuccess());
        growOld();
        assertThat(store.find(report).map(Job::state)).contains(JobState.CANCELLED);
    }

    @Test
    void a_batch_with_a_member_that_was_put_back_stays_until_that_ends() {
        JobId id = deadMember();
        store.requeue(id, BatchContract.AGAIN, NOTE);
        Sqlite.execute(directory.resolve("jobs.db"), "update reprise_batch set ended_at = 1");
        store.maintain();
        assertThat(store.batch("import-7")).isPresent();
        end(true);
        assertThat(store.batch("import-7").orElseThrow().succeededAt()).isNotNull();
        store.maintain();
        assertThat(store.batch("import-7")).isEmpty();
    }

    @Test
    void a_dead_letter_that_outlived_its_batch_is_no_member_of_a_later_one() {
        JobId id = deadMember();
        growOld();
        assertThat(store.requeue(id, BatchContract.AGAIN, NOTE).result()).isEqualTo(RequeueResult.Result.DONE);
        store.createBatch("import-7", null, null);
        end(true);
        assertThat(store.find(id).map(Job::state)).contains(JobState.SUCCEEDED);
        assertThat(store.batch("import-7").orElseThrow().succeeded()).isZero();
    }

    @Test
    void a_batch_that_nobody_closes_is_given_up_with_the_jobs_that_wait_for_it() {
        store.createBatch("import-7", follower(), follower());
        store.createBatch("import-8", null, null);
        store.insert(List.of(TestJobs.spec("part").batch("import-8").build()));
        BatchState batch = store.batch("import-7").orElseThrow();
        Sqlite.execute(directory.resolve("jobs.db"), "update reprise_batch set created_at = 1");
        store.maintain();
        assertThat(store.batch("import-7")).isEmpty();
        assertThat(store.batch("import-8")).as("with an open member").isPresent();
        for (JobId waiting :
                List.of(Objects.requireNonNull(batch.onSuccess()), Objects.requireNonNull(batch.onEnd()))) {
            assertThat(store.find(waiting).map(Job::state)).contains(JobState.CANCELLED);
        }
    }

    @Test
    void a_dead_letter_of_an_old_batch_is_no_member_of_the_next_one_of_its_name() {
        JobId id = deadMember();
        growOld();
        store.createBatch("import-7", null, null);
        assertThat(store.requeue(id, BatchContract.AGAIN, NOTE).result()).isEqualTo(RequeueResult.Result.DONE);
        end(true);
        assertThat(store.find(id).map(Job::state)).contains(JobState.SUCCEEDED);
        assertThat(store.batch("import-7").orElseThrow().succeeded()).isZero();
    }
}
