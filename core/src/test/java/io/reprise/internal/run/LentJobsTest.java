// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.Job;
import io.reprise.job.JobCounts;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.JobStatus;
import io.reprise.job.JobTimes;
import io.reprise.remote.RemoteLease;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class LentJobsTest {

    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 1);
    private final LentJobs lent = new LentJobs(nanos::get);

    private static RemoteLease.Key key(long id) {
        return new RemoteLease.Key(7, new JobId(id), false);
    }

    private static Job job(long id, int chars) {
        JobStatus status =
                new JobStatus(JobState.RUNNING, null, null, null, null, null, new JobStatus.Holder("worker", 7, false));
        JobTimes times = new JobTimes(Instant.EPOCH, Instant.EPOCH, null, null, Instant.EPOCH, null, null);
        String payload = "\"" + "x".repeat(chars) + "\"";
        return new Job(new JobId(id), JobSpec.builder("work", payload).build(), status, JobCounts.NONE, times);
    }

    @Test
    void a_job_is_given_once() {
        Job job = job(1, 1);
        lent.add(key(1), job);
        assertThat(lent.take(key(1))).isSameAs(job);
        assertThat(lent.take(key(1))).isNull();
    }

    /** With several servers most reports about the jobs of one server may go to the others. */
    @Test
    void jobs_whose_report_never_comes_are_forgotten_with_time() {
        lent.add(key(1), job(1, 1));
        nanos.addAndGet(LentJobs.KEPT.toNanos());
        lent.add(key(2), job(2, 1));
        nanos.addAndGet(1);
        lent.add(key(3), job(3, 1));
        assertThat(lent.take(key(1))).isNull();
        assertThat(lent.take(key(2))).isNotNull();
        assertThat(lent.take(key(3))).isNotNull();
    }

    @Test
    void the_oldest_are_forgotten_if_all_together_are_too_long() {
        int most = LentJobs.MAX_CHARS / 1_000_000;
        lent.add(key(1), job(1, 1_000_000));
        lent.add(key(2), job(2, 1_000_000));
        lent.add(key(1), job(1, 1_000_000));
        for (int n = 3; n <= most + 1; n++) {
            lent.add(key(n), job(n, 1_000_000));
        }
        assertThat(lent.take(key(2))).isNull();
        assertThat(lent.take(key(1))).as("it was lent again").isNotNull();
        assertThat(lent.take(key(most + 1))).isNotNull();
    }
}
