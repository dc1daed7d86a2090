// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.faults;

import io.reprise.JobRequest;
import io.reprise.JobType;
import io.reprise.PayloadCodec;
import io.reprise.job.Job;
import io.reprise.job.JobState;
import io.reprise.retry.LossRule;
import io.reprise.retry.RetryPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The behaviour of jobs, and how they must end whatever happens to their workers. The payload is the name. */
public enum Work {
    QUICK(JobState.SUCCEEDED),
    /** Fails twice. */
    FLAKY(JobState.SUCCEEDED),
    /** Always fails. */
    DOOMED(JobState.FAILED),
    /** Snoozes twice. */
    SNOOZING(JobState.SUCCEEDED),
    /** Takes longer than a lease. */
    SLOW(JobState.SUCCEEDED),
    /** Completes in its own transaction, with an effect that must happen once. */
    TRANSACTIONAL(JobState.SUCCEEDED),
    /** Runs until the test releases it. */
    HELD(JobState.SUCCEEDED);

    /** The type of all jobs. */
    public static final JobType<String> TYPE = JobType.of("work", String.class);

    public static final int MAX_ATTEMPTS = 3;

    /** No job is quarantined: the test kills the workers. */
    private static final RetryPolicy POLICY =
            RetryPolicy.fixed(Duration.ofMillis(20)).maxAttempts(MAX_ATTEMPTS).losses(new LossRule(false, true, 1_000));

    /** For handlers that meet the same faults as the worker. */
    private static final RetryPolicy PATIENT = POLICY.maxAttempts(1_000);

    private final JobState end;

    Work(JobState end) {
        this.end = end;
    }

    /** Returns the state in which such a job ends. */
    public JobState end() {
        return end;
    }

    public JobRequest<String> job() {
        return TYPE.job(name()).retry(this == TRANSACTIONAL ? PATIENT : POLICY);
    }

    static Work of(Job job) {
        return valueOf(new TextCodec().decode(job.spec().payload(), String.class));
    }

    /** Returns mostly quick jobs, and some of each other kind that ends by itself. */
    public static List<JobRequest<String>> mixture() {
        List<JobRequest<String>> jobs = mixtureWithoutTransactions();
        jobs.add(TRANSACTIONAL.job());
        jobs.add(TRANSACTIONAL.job());
        return jobs;
    }

    /** Returns a mixture for a database without transactions. */
    public static List<JobRequest<String>> mixtureWithoutTransactions() {
        List<JobRequest<String>> jobs = quickOnes();
        for (Work work : List.of(FLAKY, FLAKY, DOOMED, SNOOZING, SNOOZING, SLOW)) {
            jobs.add(work.job());
        }
        return jobs;
    }

    /** Returns quick jobs, so that one is always about to end. */
    public static List<JobRequest<String>> quickOnes() {
        List<JobRequest<String>> jobs = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            jobs.add(QUICK.job());
        }
        return jobs;
    }

    /** Encodes payloads that are texts. */
    public static final class TextCodec implements PayloadCodec {

        @Override
        public String encode(Object value) {
            return "\"" + value + "\"";
        }

        @Override
        public <T> T decode(String json, Class<T> type) {
            return type.cast(json.substring(1, json.length() - 1));
        }
    }
}
