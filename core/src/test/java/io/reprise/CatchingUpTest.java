// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.WORK;
import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.Schedule.MissedFire;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class CatchingUpTest {

    @Test
    void a_schedule_that_makes_up_for_every_firing_waits_for_the_previous_job_without_spinning() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {})) {
            engine.reprise.schedule(
                    Schedule.every("hourly", Duration.ofHours(1), WORK.job("a")).missed(MissedFire.ALL));
            engine.clock.advance(Duration.ofHours(3).plusMinutes(30));
            engine.worker.runDue();
            engine.worker.advance(Duration.ofMinutes(1));
            assertThat(engine.ran).hasSize(3);
        }
    }
}
