// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.testing.ManualClock;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class StoreClockTest {

    private final ManualClock time = new ManualClock();
    private final VirtualDriver driver = new VirtualDriver(time, time::advance);
    private final Instant start = time.instant();
    private final StoreClock clock = new StoreClock(driver, start);

    @Test
    void an_answer_that_was_long_on_its_way_does_not_set_the_clock_back() {
        long sent = driver.nanos();
        time.advance(Duration.ofSeconds(40));
        clock.heard(start, sent);
        assertThat(clock.now()).isEqualTo(start.plusSeconds(40));
    }

    @Test
    void it_sets_the_clock_forward_all_the_same() {
        long sent = driver.nanos();
        time.advance(Duration.ofSeconds(40));
        clock.heard(start.plusSeconds(100), sent);
        assertThat(clock.now()).isEqualTo(start.plusSeconds(100));
    }

    @Test
    void a_prompt_answer_is_believed_in_either_direction() {
        time.advance(Duration.ofSeconds(40));
        clock.heard(start.plusSeconds(10), driver.nanos());
        assertThat(clock.now()).isEqualTo(start.plusSeconds(10));
        time.advance(Duration.ofSeconds(5));
        assertThat(clock.now()).isEqualTo(start.plusSeconds(15));
    }
}
