// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.testing.ManualClock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class VirtualDriverTest {

    /** Counts its steps and rests for as long each time. */
    private static final class Counting implements Role {
        private final Duration rest;
        private int steps;

        Counting(Duration rest) {
            this.rest = rest;
        }

        @Override
        public String name() {
            return "counting";
        }

        @Override
        public Duration step() {
            steps++;
            return rest;
        }
    }

    @Test
    void a_role_that_is_woken_on_the_way_to_its_step_takes_that_step_once_and_the_others_keep_their_times() {
        ManualClock clock = new ManualClock();
        Instant start = clock.instant();
        Counting woken = new Counting(Duration.ofSeconds(10));
        VirtualDriver[] driver = new VirtualDriver[1];
        driver[0] = new VirtualDriver(clock, time -> {
            Instant end = clock.instant().plus(time);
            if (Duration.between(start, end).toSeconds() % 10 == 0) {
                clock.advance(time.dividedBy(2));
                driver[0].wake(woken);
            }
            clock.advance(Duration.between(clock.instant(), end));
        });
        List<Counting> others = Stream.of(3, 7, 11)
                .map(seconds -> new Counting(Duration.ofSeconds(seconds)))
                .toList();
        others.forEach(driver[0]::start);
        driver[0].start(woken);
        driver[0].advance(Duration.ofSeconds(25));
        assertThat(woken.steps).as("at 0, 10 and 20 s").isEqualTo(3);
        assertThat(others).extracting(other -> other.steps).containsExactly(9, 4, 3);
    }
}
