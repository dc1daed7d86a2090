// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.reprise.failure.Failure;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.job.PayloadException;
import io.reprise.remote.RemoteLease;
import io.reprise.remote.RemoteReport;
import io.reprise.retry.RetryPolicy;
import io.reprise.step.Step;
import io.reprise.step.StoredStep;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.InlineWorker;
import io.reprise.testing.ManualClock;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A remote worker cannot give a job more steps than a local one. */
class RemoteStepsBoundTest {

    private static final JobType<String> JOB = JobType.of("remote", String.class);

    @Test
    void a_sleep_and_an_event_beyond_the_last_step_are_refused() {
        ManualClock clock = new ManualClock();
        try (InlineWorker worker = InlineWorker.start(
                Reprise.builder()
                        .store(new InMemoryJobStore(clock))
                        .codec(new TextCodec())
                        .remoteWorkers()
                        .queues(Queue.of("other")),
                clock)) {
            Reprise reprise = worker.reprise();
            RemoteWorkers remote = reprise.remoteWorkers();
            JobId id = reprise.enqueue(JOB.job("p").queue("far"));
            RemoteLease.Key key = lease(remote);
            for (int i = 0; i < StoredStep.MAX_STEPS; i++) {
                remote.checkpoint(key, "step" + i, null);
            }

            assertThatThrownBy(() -> remote.sleep(key, "sleep", Duration.ZERO))
                    .isInstanceOf(PayloadException.class)
                    .hasMessageContaining("would be one more");
            assertThatThrownBy(() -> remote.await(key, "event", Duration.ZERO))
                    .isInstanceOf(PayloadException.class)
                    .hasMessageContaining("would be one more");
            assertThat(reprise.steps(id)).hasSize(StoredStep.MAX_STEPS);
            remote.complete(key, null);
        }
    }

    @Test
    void a_failure_in_a_step_beyond_the_last_one_is_one_of_the_job() {
        ManualClock clock = new ManualClock();
        try (InlineWorker worker = InlineWorker.start(
                Reprise.builder()
                        .store(new InMemoryJobStore(clock))
                        .codec(new TextCodec())
                        .remoteWorkers()
                        .queues(Queue.of("other")),
                clock)) {
            Reprise reprise = worker.reprise();
            RemoteWorkers remote = reprise.remoteWorkers();
            JobId id = reprise.enqueue(JOB.job("p").queue("far").retry(RetryPolicy.none()));
            RemoteLease.Key key = lease(remote);
            for (int i = 0; i < StoredStep.MAX_STEPS; i++) {
                remote.checkpoint(key, "step" + i, null);
            }

            Failure down = Failure.reported("Down", null, null, "it is down", null);
            remote.report(List.of(RemoteReport.failed(key, down).in(Step.of("extra"))));

            assertThat(reprise.steps(id)).hasSize(StoredStep.MAX_STEPS);
            assertThat(reprise.find(id).orElseThrow().state()).isEqualTo(JobState.FAILED);
        }
    }

    private static RemoteLease.Key lease(RemoteWorkers remote) {
        return remote.lease(new RemoteLease.LeaseRequest(
                        "remote", List.of("far"), Set.of(JOB.name()), 1, Duration.ofMinutes(1)))
                .get(0)
                .key();
    }
}
