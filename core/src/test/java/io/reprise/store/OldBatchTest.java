// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.batch.BatchState;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.ManualClock;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** What becomes of the jobs of a batch that is deleted by age. */
class OldBatchTest {

    private final ManualClock clock = new ManualClock();
    private final JobStore store = new InMemoryJobStore(clock);

    private static JobSpec follower() {
        return JobSpec.builder("report", "null").dueAt(JobSpec.MAX_DUE).build();
    }

    @Test
    void a_job_for_the_success_that_came_outlives_its_batch() {
        store.createBatch("import-7", follower(), null);
        store.closeBatch("import-7");
        JobId report =
                Objects.requireNonNull(store.batch("import-7").orElseThrow().onSuccess());
        // Nobody serves its queue all the while.
        clock.advance(BatchState.KEPT.plus(Duration.ofDays(1)));
        store.maintain();
        assertThat(store.batch("import-7")).isEmpty();
        assertThat(store.find(report).map(Job::state)).contains(JobState.PENDING);
    }

    @Test
    void a_batch_that_nobody_closes_is_given_up_with_the_jobs_that_wait_for_it() {
        store.createBatch("import-7", follower(), follower());
        BatchState batch = store.batch("import-7").orElseThrow();
        clock.advance(BatchState.KEPT.plus(Duration.ofDays(1)));
        store.maintain();
        assertThat(store.batch("import-7")).isEmpty();
        assertThat(store.find(Objects.requireNonNull(batch.onSuccess())).map(Job::state))
                .contains(JobState.CANCELLED);
        assertThat(store.find(Objects.requireNonNull(batch.onEnd())).map(Job::state))
                .contains(JobState.CANCELLED);
    }
}
