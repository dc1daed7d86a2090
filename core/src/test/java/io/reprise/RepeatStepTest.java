// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.job.RefusedException;
import io.reprise.step.Step;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.InlineWorker;
import io.reprise.testing.ManualClock;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RepeatStepTest {

    private static final JobType<String> JOB = JobType.of("job", String.class);

    @Test
    void a_step_whose_outcome_is_known_is_not_repeated_and_stays() {
        List<String> effects = new ArrayList<>();
        ManualClock clock = new ManualClock();
        RepriseBuilder builder = Reprise.builder()
                .store(new InMemoryJobStore(clock))
                .codec(new TextCodec())
                .handle(JOB, (payload, job) -> {
                    job.step("charge", () -> effects.add("charge"));
                    job.step(Step.of("ship", String.class).atMostOnce(), () -> {
                        effects.add("ship");
                        if (effects.size() == 2) {
                            throw new IllegalStateException("no answer");
                        }
                        return "done";
                    });
                });
        try (InlineWorker worker = InlineWorker.start(builder, clock)) {
            JobId id = worker.reprise().enqueue(JOB.job("p"));
            worker.runDue();
            Operations ada = worker.reprise().as("ada", "nothing arrived");

            assertThatThrownBy(() -> ada.repeatStep(id, "charge"))
                    .isInstanceOf(RefusedException.class)
                    .hasMessageContaining("without an end");
            assertThat(worker.reprise().steps(id)).hasSize(2);

            ada.repeatStep(id, "ship");
            worker.runDue();
            assertThat(effects).containsExactly("charge", "ship", "ship");
            assertThat(worker.reprise().find(id).orElseThrow().state()).isEqualTo(JobState.SUCCEEDED);
        }
    }
}
