// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.reprise.testing.InMemoryJobStore;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ScheduledChainTest {

    private static final JobType<String> JOB = JobType.of("job", String.class);

    @Test
    void a_follower_with_an_idempotency_key_is_refused_because_only_the_first_firing_would_store_it() {
        try (Reprise reprise = Reprise.builder()
                .store(new InMemoryJobStore())
                .codec(new TextCodec())
                .open()) {
            Schedule keyed = Schedule.every(
                    "keyed",
                    Duration.ofHours(1),
                    JOB.job("a").then(JOB.job("b").then(JOB.job("c").idempotencyKey("c"))));
            Schedule idempotent = Schedule.every(
                    "idempotent",
                    Duration.ofHours(1),
                    JOB.job("a")
                            .whenDead(JobType.of("mail", String.class)
                                    .idempotent()
                                    .job("b")));

            assertThatIllegalArgumentException()
                    .isThrownBy(() -> reprise.schedule(keyed))
                    .withMessageContaining("one that follows it");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> reprise.schedule(idempotent))
                    .withMessageContaining("one that follows it");
            assertThat(reprise.schedules()).isEmpty();
        }
    }
}
