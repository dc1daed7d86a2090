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
        assertThat(ramp.rate()).isEqualTo(20);
        for (int second = 1; second <= 3; second++) {
            ramp = after(ramp, ok(ramp.rate(), 0.01), second);
        }
        assertThat(ramp.rate()).isEqualTo(50);
        ramp = after(ramp, ok(50, 0.01), 4);
        assertThat(ramp.rate()).isCloseTo(52.5, within(1e-9));
        for (int second = 5; second <= 100; second++) {
            ramp = after(ramp, ok(ramp.rate(), 0.01), second);
        }
        assertThat(ramp.rate()).isEqualTo(100);
    }

    @Test
    void a_low_base_is_no_reason_to_stand_still() {
        assertThat(Ramp.none(T0).start(0, T0).rate()).isEqualTo(2);
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

    private static Ramp throttled(Ramp ramp, int allowed, double took, int second) {
        double inFlight = ramp.pace() * took;
        int ended = (int) Math.round(ramp.pace());
        int refused = inFlight > allowed ? (int) Math.ceil(ended * (1 - allowed / inFlight)) : 0;
        int served = Math.max(0, ended - refused);
        return ramp.after(new Counts(served, 0, refused, 0, served * took), 0.5, 200, T0.plusSeconds(second));
    }

    @Test
    void back_pressure_limits_the_calls_in_flight() {
        Ramp ramp = Ramp.none(T0).throttled(140, 2, T0);
        assertThat(ramp.inFlight()).isEqualTo(280);
        assertThat(ramp.pace()).isEqualTo(140);
        for (int second = 1; second <= 600; second++) {
            ramp = throttled(ramp, 50, 2, second);
            if (second > 120) {
                assertThat(ramp.pace() * 2).as("in flight after %s s", second).isBetween(30.0, 60.0);
            }
        }
        assertThat(ramp.inFlight()).isBetween(30.0, 60.0);
    }

    @Test
    void slower_calls_are_let_go_more_slowly() {
        Ramp ramp = Ramp.none(T0).throttled(100, 1, T0);
        double before = ramp.inFlight();
        for (int second = 1; second <= 20; second++) {
            int ended = Math.max(1, (int) Math.round(ramp.pace()));
            ramp = ramp.after(new Counts(ended, 0, 0, 0, ended * 10.0), 0.5, 200, T0.plusSeconds(second));
        }
        assertThat(ramp.took()).isCloseTo(10, within(0.1));
        assertThat(ramp.inFlight()).as("one more per second").isBetween(before, before + 20);
        assertThat(ramp.pace()).isLessThan(13);
    }

    @Test
    void one_call_at_a_time_is_the_fewest() {
        Ramp ramp = Ramp.none(T0).throttled(2, 10, T0);
        for (int second = 1; second <= 200; second += 3) {
            ramp = ramp.after(new Counts(1, 0, 9, 0, 10), 0.5, 2, T0.plusSeconds(second));
        }
        assertThat(ramp.inFlight()).isEqualTo(1);
        assertThat(ramp.pace()).isEqualTo(0.1);
        assertThat(ramp.take(1).accrue(T0.plusSeconds(400)).permits()).isEqualTo(1);
        ramp = ramp.after(new Counts(1, 0, 0, 0, 10), 0.5, 2, T0.plusSeconds(300));
        assertThat(ramp.inFlight()).as("and it grows again").isGreaterThan(1);
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
