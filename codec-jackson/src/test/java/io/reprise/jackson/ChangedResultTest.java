// SPDX-License-Identifier: Apache-2.0
package io.reprise.jackson;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.JobHandler;
import io.reprise.JobType;
import io.reprise.ManualRetry;
import io.reprise.Reprise;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSignal;
import io.reprise.job.JobState;
import io.reprise.retry.FailReason;
import io.reprise.retry.RetryPolicy;
import io.reprise.step.Step;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.InlineWorker;
import io.reprise.testing.ManualClock;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Steps whose results were stored by code that a deploy has replaced. */
class ChangedResultTest {

    record Payment(String charge, int cents) {}

    record Receipt(String number, int cents) {}

    record Detailed(String charge, int cents, String note) {}

    private static final JobType<String> ORDER =
            JobType.of("order", String.class).retry(RetryPolicy.none());

    private final ManualClock clock = new ManualClock();
    private final InMemoryJobStore store = new InMemoryJobStore(clock);
    private final List<Object> read = new ArrayList<>();

    /** Runs the job in a process with this code. */
    private Job run(JobId job, JobHandler<String> code) {
        try (InlineWorker worker = InlineWorker.start(
                Reprise.builder().store(store).codec(new JacksonCodec()).handle(ORDER, code), clock)) {
            worker.reprise().as("ada", null).retry(job, ManualRetry.NOW.forced());
            worker.runDue();
            return worker.reprise().find(job).orElseThrow();
        }
    }

    private JobId paid() {
        try (InlineWorker worker = InlineWorker.start(
                Reprise.builder().store(store).codec(new JacksonCodec()).handle(ORDER, (order, job) -> {
                    Payment paid = job.step(Step.of("charge", Payment.class), () -> new Payment("ch_1", 500));
                    throw JobSignal.fail("after " + paid);
                }),
                clock)) {
            JobId job = worker.reprise().enqueue(ORDER.job("7"));
            worker.runDue();
            return job;
        }
    }

    @Test
    void a_result_of_another_class_fails_the_job_and_names_both() {
        JobId job = paid();
        Job after = run(
                job,
                (order, run) -> read.add(run.step(Step.of("charge", Receipt.class), () -> new Receipt("again", 1))));
        assertThat(read).isEmpty();
        assertThat(after.state()).isEqualTo(JobState.FAILED);
        assertThat(after.failReason()).isEqualTo(FailReason.UNREADABLE);
        assertThat(after.status().lastError().message())
                .contains("step charge of job " + job, Payment.class.getName(), Receipt.class.getName())
                .contains("charge", "number");
    }

    @Test
    void a_field_more_is_no_reason_to_fail() {
        Job after = run(
                paid(),
                (order, run) ->
                        read.add(run.step(Step.of("charge", Detailed.class), () -> new Detailed("again", 1, "no"))));
        assertThat(after.state()).isEqualTo(JobState.SUCCEEDED);
        assertThat(read).containsExactly(new Detailed("ch_1", 500, null));
    }
}
