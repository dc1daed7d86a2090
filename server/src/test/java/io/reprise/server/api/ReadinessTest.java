// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.testing.InMemoryJobStore;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ReadinessTest {

    private volatile Duration working = Duration.ZERO;

    @Test
    void a_part_that_does_not_come_back_makes_the_server_unready_and_then_dead() {
        try (Readiness readiness = new Readiness(new InMemoryJobStore(), () -> Map.of("sweeper", working))) {
            assertThat(readiness.problems().join()).isEmpty();
            working = Duration.ofSeconds(130);
            assertThat(readiness.problems().join())
                    .containsExactly("the sweeper has been at one piece of work for 130 s");
            assertThat(readiness.deadlocks()).isEmpty();
            working = Duration.ofSeconds(601);
            assertThat(readiness.deadlocks()).hasSize(1);
        }
    }
}
