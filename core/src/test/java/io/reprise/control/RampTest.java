// SPDX-License-Identifier: Apache-2.0
package io.reprise.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.reprise.control.Tally.Counts;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class RampTest {

    private static final Instant T0 = Instant.parse("2026-01-01T00:00:00Z");
    private static final double BASE = 50;

    private static Counts ok(double calls, double secondsEach) {
        return new Counts((int) calls, 0, 0, 0, calls * secondsEach);
    }

    private static Ramp after(Ramp ramp, Counts counts, int second) {
        return ramp.after(counts, 0.5, BASE, T0.plusSeconds(second));
    }

    /** A service that takes 100 calls per second and rejects the rest. */
    private static Counts limited(double rate) {
        int calls = (int) Math.round(rate);
        int served = Math.min(calls, 100);
        return new Counts(served, calls - served, 0, 0, served * 0.01);
    }

    @Test
    void it_climbs_fast_to_the_base_and_slowly_to_twice_of_it() {
        Ramp ramp = Ramp.none(T0).start(BASE, T0);
        assertThat(ramp.rate()).isEqualTo(15);
        for (int second = 1; second <= 4; second++) {
            ramp = after(ramp, ok(ramp.rate(), 0.01), second);
        }
        assertThat(ramp.rate()).isEqualTo(55);
        ramp = after(ramp, ok(55, 0.01), 5);
        assertThat(ramp.rate()).isCloseTo(57.5, within(1e-9));
        for (int second = 6; second <= 100; second++) {
            ramp = after(ramp, ok(ramp.rate(), 0.01), second);
        }
        assertThat(ramp.rate()).isEqualTo(100);
    }

    @Test
    void a_low_base_is_no_reason_to_stand_still() {
        assertThat(Ramp.none(T0).start(0, T0).rate()).isEqualTo(1.5);
        assertThat(Ramp.none(T0).at(0, T0).rate()).isEqualTo(1);
    }

    @Test
    void permits_accrue_at_the_rate_and_do_not_pile_up() {
        Ramp ramp = Ramp.none(T0).at(100, T0).take(1);
        assertThat(ramp.accrue(T0.plusMillis(100)).permits()).isCloseTo(10, within(1e-6));
        assertThat(ramp.accrue(T0.plusSeconds(100)).permits()).isEqualTo(50);
        assertThat(ramp.accrue(T0.minusSeconds(1)).permits()).isZero();
    }

    @Test
    void it_settles_near_what_a_limited_service_takes() {
        Ramp ramp = Ramp.none(T0).start(200, T0);
        int rejected = 0;
        int calls = 0;
        for (int second = 1; second <= 600; second++) {
            Counts counts = limited(ramp.rate());
            ramp = ramp.after(counts, 0.5, 200, T0.plusSeconds(second));
            if (second > 60) {
                rejected += counts.failures();
                calls += counts.calls();
            }
        }
        assertThat((double) rejected / calls).isLessThan(0.05);
        assertThat((double) calls / 540).isBetween(85.0, 110.0);
        assertThat(ramp.collapsed()).isFalse();
    }

    @Test
    void it_stops_climbing_when_calls_take_longer() {
        Ramp ramp = Ramp.none(T0).at(60, T0);
        ramp = after(ramp, ok(60, 0.01), 1);
        double before = ramp.rate();
        ramp = after(ramp, ok(60, 0.3), 2);
        assertThat(ramp.rate()).isLessThan(before).isGreaterThanOrEqualTo(0.9 * BASE);
    }

    @Test
    void outcomes_of_before_a_fall_do_not_cause_the_next() {
        Ramp ramp = Ramp.none(T0).at(100, T0);
        Ramp fallen = after(ramp, new Counts(50, 50, 0, 0, 0.5), 1);
        assertThat(fallen.rate()).isLessThan(100);
        assertThat(after(fallen, new Counts(0, 100, 0, 0, 0), 2)).isEqualTo(fallen);
    }

    @Test
    void it_collapses_after_three_judgements_in_which_most_calls_failed() {
        Ramp ramp = Ramp.none(T0).at(100, T0);
        for (int i = 0; i < 3; i++) {
            assertThat(ramp.collapsed()).isFalse();
            ramp = after(ramp, new Counts(0, 10, 0, 0, 0), 1 + 4 * i);
        }
        assertThat(ramp.collapsed()).isTrue();
    }
}
