// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import io.reprise.job.Job;
import io.reprise.job.JobCounts;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.JobStatus;
import io.reprise.job.JobTimes;
import io.reprise.store.Claim;
import java.time.Instant;
import java.util.List;
import java.util.stream.LongStream;

/** Jobs and claims to race for. */
public final class Samples {

    private Samples() {}

    public static Job job(long id) {
        JobStatus status =
                new JobStatus(JobState.RUNNING, null, null, null, null, null, new JobStatus.Holder("worker", 1, false));
        JobTimes times = new JobTimes(Instant.EPOCH, Instant.EPOCH, null, null, Instant.EPOCH, null, null);
        return new Job(new JobId(id), JobSpec.builder("work", "1").build(), status, JobCounts.NONE, times);
    }

    public static Claim claim(long token, long... ids) {
        List<Job> jobs = LongStream.of(ids).mapToObj(Samples::job).toList();
        return new Claim(token, JobSpec.DEFAULT_QUEUE, Instant.EPOCH, false, jobs);
    }
}
