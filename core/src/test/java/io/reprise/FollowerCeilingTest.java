// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.reprise.job.JobQuery;
import io.reprise.settings.CeilingException;
import io.reprise.settings.FleetSettings;
import io.reprise.testing.InMemoryJobStore;
import org.junit.jupiter.api.Test;

/** The ceiling of payloads holds for the jobs of a chain. */
class FollowerCeilingTest {

    private static final JobType<String> JOB = JobType.of("job", String.class);

    @Test
    void a_chain_with_a_large_payload_is_refused() {
        FleetSettings settings =
                FleetSettings.fromJson("{\"queues\":{\"small\":{\"ceilings\":{\"payloadBytes\":1000}}}}");
        try (Reprise reprise = Reprise.builder()
                .store(new InMemoryJobStore())
                .codec(new TextCodec())
                .fleetSettings(settings)
                .open()) {
            String large = "a".repeat(2_000);

            assertThatThrownBy(() -> reprise.enqueue(JOB.job("first")
                            .then(JOB.job(large).then(JOB.job(large).queue("small")))))
                    .isInstanceOf(CeilingException.class)
                    .hasMessageContaining("'small'");
            assertThat(reprise.find(JobQuery.all()).items()).isEmpty();

            reprise.enqueue(JOB.job("first").then(JOB.job(large)));
            assertThat(reprise.find(JobQuery.all()).items()).hasSize(1);
        }
    }
}
