// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.InlineWorker;
import io.reprise.testing.ManualClock;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class VoidEventTest {

    private static final JobType<String> JOB = JobType.of("job", String.class);

    @Test
    void a_handler_can_wait_for_an_event_whose_value_does_not_matter() {
        ManualClock clock = new ManualClock();
        RepriseBuilder builder = Reprise.builder()
                .store(new InMemoryJobStore(clock))
                .codec(new TextCodec())
                .handle(JOB, (payload, job) -> job.await("go", Void.class, Duration.ofHours(1)));
        try (InlineWorker worker = InlineWorker.start(builder, clock)) {
            JobId id = worker.reprise().enqueue(JOB.job("p"));
            worker.runDue();

            assertThat(worker.reprise().tell(id, "go", "now")).isTrue();
            worker.runDue();

            assertThat(worker.reprise().find(id).orElseThrow().state()).isEqualTo(JobState.SUCCEEDED);
        }
    }
}
