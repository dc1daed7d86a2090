// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.reprise.internal.control.CallCounts.Counts;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class RampTest {

    private static final Instant T0 = Instant.parse("2026-01-01T00:00:00Z");
    private static final RateView KNOWN = new RateView(50, 0.01);

    private static Counts ok(double calls, double secondsEach) {
        return new Counts((int) Math.round(calls), 0, 0, 0, Math.round(calls) * secondsEach, secondsEach);
    }

    private static Counts bad(int successes, int failures) {
        return new Counts(successes, failures, 0, 0, successes * 0.01, successes > 0 ? 0.01 : 0);
    }

    /** A second in which all permits were used and these calls ended. */
    private static Ramp after(Ramp ramp, Counts counts, RateView known, int second) {
        int used = (int) Math.ceil(ramp.pace());
        return ramp.take(used).after(counts, 0.5, known, T0.plusSeconds(second));
    }

    private static Ramp start(RateView known) {
        return Ramp.none(T0).start(known, T0);
    }

    /** A service that takes so many calls per second and rejects the rest. */
    private static Counts limited(double rate, int capacity) {
        int calls = (int) Math.round(rate);
        int served = Math.min(calls, capacity);
        return bad(served, calls - served);
    }

    @Test
    void it_doubles_up_to_the_known_rate_and_grows_faster_and_faster_above() {
        Ramp ramp = start(KNOWN);
        assertThat(ramp.rate()).isEqualTo(20);
        ramp = after(ramp, ok(20, 0.01), KNOWN, 1);
        assertThat(ramp.rate()).isEqualTo(40);
        ramp = after(ramp, ok(40, 0.01), KNOWN, 2);
        assertThat(ramp.rate()).isEqualTo(50);
        ramp = after(ramp, ok(50, 0.01), KNOWN, 3);
        assertThat(ramp.rate()).isCloseTo(52.5, within(1e-9));
        for (int second = 4; second <= 15; second++) {
            ramp = after(ramp, ok(ramp.rate(), 0.01), KNOWN, second);
        }
        assertThat(ramp.rate()).as("sixty times what was known").isGreaterThan(3_000);
    }

    @Test
    void without_a_known_rate_it_doubles_every_second() {
        Ramp ramp = start(RateView.UNKNOWN);
        assertThat(ramp.rate()).isEqualTo(Ramp.FIRST_RATE);
        for (int second = 1; second <= 14; second++) {
            ramp = after(ramp, ok(ramp.rate(), 0.01), RateView.UNKNOWN, second);
        }
        assertThat(ramp.rate()).isCloseTo(Ramp.FIRST_RATE * Math.pow(2, 14), within(1.0));
    }

    @Test
    void without_a_known_rate_it_begins_at_a_tenth_of_the_calls_that_were_tried() {
        assertThat(start(new RateView(0, 0, 2_000)).rate()).isEqualTo(200);
        assertThat(start(new RateView(0, 0, 20)).rate()).isEqualTo(Ramp.FIRST_RATE);
        assertThat(start(new RateView(50, 0.01, 2_000)).rate())
                .as("a known rate is better")
                .isEqualTo(20);
    }

    @Test
    void calls_that_begin_to_queue_up_bring_it_back_to_what_comes_through() {
        RateView known = new RateView(100, 0.5);
        Ramp ramp = start(known);
        for (int second = 1; second <= 5; second++) {
            ramp = after(ramp, ok(Math.min(100, ramp.rate()), 0.5), known, second);
        }
        double above = ramp.rate();
        assertThat(above).isGreaterThan(110);
        ramp = after(ramp, ok(100, 0.7), known, 6);
        assertThat(ramp.rate()).as("no more than end").isLessThanOrEqualTo(100);
        assertThat(ramp.permits()).as("those that wait there first").isNegative();
        assertThat(ramp.why()).contains("700 ms").contains("fewer end than begin");
        Ramp still = after(ramp, ok(ramp.rate(), 0.7), known, 7);
        assertThat(still.rate()).as("does not grow while they wait").isEqualTo(ramp.rate());
    }

    @Test
    void a_few_calls_of_different_length_do_not_show_that_calls_queue_up() {
        RateView known = new RateView(8, 0.005);
        Ramp ramp = start(known);
        for (int second = 1; second <= 3; second++) {
            ramp = after(ramp, ok(Math.ceil(ramp.pace()), 0.005), known, second);
        }
        assertThat(ramp.rate()).isGreaterThan(8);
        Ramp varied = after(ramp, new Counts(6, 0, 0, 0, 6 * 0.275, 0.05), known, 4);
        assertThat(varied.rate())
                .as("some take 500 ms, and none is a quick one by chance")
                .isGreaterThan(ramp.rate());
        Ramp queued = after(ramp, ok(6, 0.05), known, 4);
        assertThat(queued.rate()).as("all take 50 ms").isLessThan(ramp.rate());
        assertThat(queued.why()).contains("fewer end than begin");
    }

    @Test
    void a_few_calls_less_may_be_chance_and_many_are_not() {
        for (int times : new int[] {1, 1_000}) {
            RateView known = new RateView(10 * times, 0.01);
            Ramp ramp = start(known);
            for (int second = 1; second <= 4; second++) {
                ramp = after(ramp, ok(Math.min(ramp.rate(), 12 * times), 0.01), known, second);
            }
            Ramp next = after(ramp, ok(0.75 * ramp.rate(), 0.01), known, 5);
            assertThat(next.rate() > ramp.rate()).as(next.why()).isEqualTo(times == 1);
        }
    }

    @Test
    void it_grows_although_calls_end_and_are_reported_a_little_later() {
        RateView known = new RateView(10_000, 0.5);
        Ramp ramp = start(known);
        double before = ramp.rate();
        for (int second = 1; second <= 10; second++) {
            // Half a second for the call, and a quarter until it is reported.
            double ended = 0.25 * ramp.rate() + 0.75 * before;
            before = ramp.rate();
            ramp = after(ramp, ok(ended, 0.5), known, second);
            assertThat(ramp.why()).as("at %s s", second).doesNotContain("as many calls end as begin");
        }
        assertThat(ramp.rate()).isGreaterThan(50_000);
    }

    @Test
    void jobs_that_died_with_their_worker_do_not_count_as_waiting_for_workers() {
        Ramp ramp = start(new RateView(10, 0.01)).take(200);
        for (int second = 1; second <= 6; second++) {
            ramp = after(ramp, ok(Math.ceil(ramp.pace()), 0.01), KNOWN, second);
        }
        assertThat(ramp.rate()).isGreaterThan(40);
        assertThat(ramp.late()).isZero();
    }

    @Test
    void it_grows_to_the_known_rate_although_long_calls_have_not_ended() {
        Ramp ramp = start(KNOWN);
        for (int second = 1; second <= 3; second++) {
            ramp = ramp.take((int) Math.ceil(ramp.pace())).accrue(KNOWN, 0, T0.plusSeconds(second));
        }
        assertThat(ramp.rate()).isEqualTo(50);
        ramp = ramp.take(50).accrue(KNOWN, 0, T0.plusSeconds(4));
        assertThat(ramp.rate()).as("but not beyond").isEqualTo(50);
    }

    @Test
    void a_rate_that_is_not_used_does_not_grow() {
        Ramp ramp = start(KNOWN).after(ok(2, 0.01), 0.5, KNOWN, T0.plusSeconds(1));
        assertThat(ramp.rate()).isEqualTo(20);
        assertThat(ramp.why()).isEqualTo("no more jobs wait than are let go");
    }

    @Test
    void permits_accrue_at_the_rate_and_do_not_pile_up() {
        RateView known = new RateView(250, 0.01);
        Ramp ramp = start(known).take(1);
        assertThat(ramp.accrue(known, 0, T0.plusMillis(100)).permits()).isCloseTo(10, within(1e-6));
        assertThat(ramp.accrue(known, 0, T0.plusSeconds(100)).permits()).isEqualTo(50);
        assertThat(ramp.accrue(known, 0, T0.minusSeconds(1)).permits()).isZero();
    }

    @Test
    void a_share_is_kept_for_jobs_that_are_not_parked_while_workers_ask_for_such() {
        RateView known = new RateView(250, 0.01);
        Ramp ramp = start(known).take(1);
        assertThat(ramp.accrue(known, 0.4, T0.plusMillis(100)).direct())
                .as("nobody asked")
                .isZero();
        ramp = ramp.pass(1, 0, false, T0).accrue(known, 0.4, T0.plusMillis(100));
        assertThat(ramp.direct()).isCloseTo(4, within(1e-6));
        assertThat(ramp.permits()).isCloseTo(6, within(1e-6));
        ramp = ramp.pass(4, 4, false, T0.plusMillis(100));
        assertThat(ramp.direct()).isCloseTo(0, within(1e-6));
        assertThat(ramp.permits()).isCloseTo(6, within(1e-6));
        assertThat(ramp.released()).isEqualTo(5);
    }

    @Test
    void what_workers_do_not_take_of_their_share_goes_to_parked_jobs() {
        RateView known = new RateView(250, 0.01);
        Ramp ramp = start(known).take(1).pass(1, 0, false, T0).accrue(known, 0.4, T0.plusMillis(500));
        assertThat(ramp.direct()).as("half a second's").isCloseTo(20, within(1e-6));
        double permits = ramp.permits();
        ramp = ramp.accrue(known, 0.4, T0.plusMillis(600));
        assertThat(ramp.direct()).isCloseTo(20, within(1e-6));
        assertThat(ramp.permits() - permits).isCloseTo(10, within(1e-6));
    }

    @Test
    void but_not_while_jobs_that_were_let_go_wait_for_workers() {
        RateView known = new RateView(250, 0.01);
        Ramp ramp = start(known).pass(1, 0, false, T0).accrue(known, 0.4, T0.plusMillis(500));
        double prompt = permitsAfterTenth(ramp.take(49), known);
        double waitedFor = permitsAfterTenth(ramp.take(60), known);
        assertThat(prompt).as("all of 100/s").isCloseTo(10, within(1e-6));
        assertThat(waitedFor).as("the rest beside the share").isCloseTo(6, within(1e-6));
        assertThat(permitsAfterTenth(ramp.take(60), new RateView(250, 1)))
                .as("calls take so long")
                .isCloseTo(10, within(1e-6));
    }

    private static double permitsAfterTenth(Ramp ramp, RateView known) {
        return ramp.accrue(known, 0.4, T0.plusMillis(600)).permits() - ramp.permits();
    }

    @Test
    void it_settles_near_what_a_limited_service_takes() {
        RateView known = new RateView(200, 0.01);
        Ramp ramp = start(known);
        int rejected = 0;
        int calls = 0;
        for (int second = 1; second <= 600; second++) {
            Counts counts = limited(ramp.rate(), 100);
            ramp = after(ramp, counts, known, second);
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
    void it_finds_out_when_a_limited_service_takes_more_again() {
        RateView known = new RateView(1_000, 0.01);
        Ramp ramp = start(known);
        for (int second = 1; second <= 120; second++) {
            ramp = after(ramp, limited(ramp.rate(), 100), known, second);
        }
        assertThat(ramp.rate()).isBetween(70.0, 130.0);
        for (int second = 121; second <= 180; second++) {
            ramp = after(ramp, limited(ramp.rate(), 1_000), known, second);
        }
        assertThat(ramp.rate()).isGreaterThan(800);
    }

    @Test
    void it_stops_growing_when_even_the_quickest_call_takes_longer() {
        Ramp ramp = after(start(new RateView(150, 0.01)), ok(60, 0.01), KNOWN, 1);
        double before = ramp.rate();
        ramp = after(ramp, ok(60, 0.3), KNOWN, 2);
        assertThat(ramp.rate()).isLessThan(before).isGreaterThanOrEqualTo(0.8 * 60);
        assertThat(ramp.why()).startsWith("calls take 300 ms, usually");
    }

    @Test
    void calls_that_take_longer_at_any_rate_are_accepted() {
        Ramp ramp = start(KNOWN);
        for (int second = 1; second <= 60; second++) {
            ramp = after(ramp, ok(ramp.rate(), 0.5), KNOWN, second);
        }
        assertThat(ramp.rate()).as("it does not fall for ever").isGreaterThan(50);
    }

    @Test
    void a_mix_of_long_and_short_calls_does_not_look_slower() {
        Ramp ramp = start(KNOWN);
        for (int second = 1; second <= 5; second++) {
            Counts mixed = new Counts(50, 0, 0, 0, second % 2 == 0 ? 100 : 1, 0.01);
            ramp = after(ramp, mixed, KNOWN, second);
            assertThat(ramp.why()).doesNotContain("usually");
        }
    }

    @Test
    void outcomes_of_before_a_fall_do_not_cause_the_next() {
        Ramp ramp = start(new RateView(250, 0.01));
        Ramp fallen = after(ramp, bad(50, 50), KNOWN, 1);
        assertThat(fallen.rate()).isLessThan(100);
        assertThat(fallen.why()).isEqualTo("50 % of 100 calls failed");
        assertThat(fallen.after(bad(0, 100), 0.5, KNOWN, T0.plusSeconds(2)).rate())
                .isEqualTo(fallen.rate());
    }

    @Test
    void a_few_failures_among_few_calls_are_chance() {
        Ramp ramp = after(start(KNOWN), bad(9, 1), KNOWN, 1);
        assertThat(ramp.falls()).isZero();
        assertThat(after(start(KNOWN), bad(6, 4), KNOWN, 1).falls()).isEqualTo(1);
    }

    @Test
    void a_part_that_fails_at_any_rate_is_no_reason_to_fall_for_ever() {
        RateView known = new RateView(1_000, 0.01);
        Ramp ramp = start(known);
        for (int second = 1; second <= 120; second++) {
            int calls = (int) Math.round(ramp.rate());
            int failed = (int) Math.round(0.3 * calls);
            ramp = after(ramp, bad(calls - failed, failed), known, second);
        }
        assertThat(ramp.rate()).isGreaterThan(200);
    }

    @Test
    void workers_that_do_not_keep_up_are_noticed() {
        Ramp ramp = start(KNOWN);
        for (int second = 1; second <= 20 && !ramp.saturated(KNOWN); second++) {
            ramp = after(ramp, ok(Math.min(ramp.rate(), 30), 0.01), KNOWN, second);
        }
        assertThat(ramp.saturated(KNOWN)).isTrue();
        assertThat(ramp.why()).isEqualTo("workers do not keep up with what is let go");
        assertThat(ramp.saturated(new RateView(100, 0.01)))
                .as("not if they do much less than before: something else may keep them busy")
                .isFalse();
    }

    private static Ramp throttled(Ramp ramp, int allowed, double took, int second) {
        double inFlight = ramp.pace() * took;
        int ended = (int) Math.round(ramp.pace());
        int refused = inFlight > allowed ? (int) Math.ceil(ended * (1 - allowed / inFlight)) : 0;
        int served = Math.max(0, ended - refused);
        return after(ramp, new Counts(served, 0, refused, 0, served * took, took), new RateView(200, took), second);
    }

    @Test
    void back_pressure_limits_the_calls_in_flight() {
        Ramp ramp = Ramp.none(T0).throttled(140, 2, new RateView(200, 2), T0);
        assertThat(ramp.inFlight()).isEqualTo(280);
        assertThat(ramp.pace()).isEqualTo(140);
        for (int second = 1; second <= 600; second++) {
            ramp = throttled(ramp, 50, 2, second);
            if (second > 120) {
                assertThat(ramp.pace() * 2).as("in flight after %s s", second).isBetween(30.0, 70.0);
            }
        }
        assertThat(ramp.inFlight()).isBetween(30.0, 70.0);
    }

    @Test
    void slower_calls_are_let_go_more_slowly() {
        Ramp ramp = Ramp.none(T0).throttled(100, 1, new RateView(200, 1), T0);
        for (int second = 1; second <= 20; second++) {
            ramp = after(ramp, ok(Math.max(1, ramp.pace()), 10), new RateView(200, 1), second);
        }
        assertThat(ramp.took()).isCloseTo(10, within(0.1));
        assertThat(ramp.pace()).isLessThan(30);
    }

    @Test
    void one_call_at_a_time_is_the_fewest() {
        RateView known = new RateView(2, 10);
        Ramp ramp = Ramp.none(T0).throttled(2, 10, known, T0);
        for (int second = 4; second <= 400; second += 4) {
            ramp = ramp.take(3).after(new Counts(1, 0, 6, 0, 10, 10), 0.5, known, T0.plusSeconds(second));
        }
        assertThat(ramp.inFlight()).isEqualTo(1);
        assertThat(ramp.pace()).isCloseTo(0.1, within(0.001));
    }

    @Test
    void it_collapses_after_three_judgements_in_which_most_calls_failed() {
        Ramp ramp = start(new RateView(250, 0.01));
        for (int i = 0; i < 3; i++) {
            assertThat(ramp.collapsed()).isFalse();
            ramp = ramp.after(bad(2, 8), 0.5, KNOWN, T0.plusSeconds(1 + 4L * i));
        }
        assertThat(ramp.collapsed()).isTrue();
    }

    @Test
    void it_collapses_at_once_when_all_of_many_calls_fail_and_learns_no_ceiling_from_that() {
        Ramp ramp = after(start(new RateView(250, 0.01)), bad(0, 100), KNOWN, 1);
        assertThat(ramp.collapsed()).isTrue();
        assertThat(ramp.ceiling()).isZero();
    }

    @Test
    void it_says_how_long_jobs_have_to_wait() {
        RateView known = new RateView(250, 0.01);
        Ramp ramp = start(known);
        assertThat(ramp.aim(known)).isEqualTo(250);
        // It doubles from 100/s to 250/s in 1.3 s, in which 216 jobs go; the rest goes at 250/s.
        assertThat(ramp.timeFor(1_000, known)).isBetween(Duration.ofMillis(4_400), Duration.ofMillis(4_500));
        assertThat(ramp.timeFor(100, known)).isBetween(Duration.ofMillis(700), Duration.ofMillis(800));
        assertThat(ramp.timeFor(1_000, RateView.UNKNOWN)).hasSeconds(10);
        assertThat(ramp.aim(RateView.UNKNOWN)).isNull();
    }

    @Test
    void above_the_known_rate_it_grows_only_as_calls_end() {
        Ramp ramp = after(start(new RateView(50, 0.01)), ok(20, 0.01), KNOWN, 1);
        ramp = after(after(ramp, ok(40, 0.01), KNOWN, 2), ok(50, 0.01), KNOWN, 3);
        double before = ramp.rate();
        assertThat(before).isGreaterThan(50);
        ramp = after(after(ramp, ok(25, 0.01), KNOWN, 4), ok(25, 0.01), KNOWN, 5);
        assertThat(ramp.rate()).isLessThanOrEqualTo(before * 1.1);
        assertThat(ramp.why()).isEqualTo("waits until as many calls end as begin");
    }

    @Test
    void what_was_let_go_before_a_fall_is_taken_off_what_is_let_go_next() {
        Ramp ramp =
                after(start(new RateView(250, 0.01)), ok(100, 0.01), KNOWN, 1).take(2_000);
        Ramp fallen = after(ramp, bad(50, 50), KNOWN, 2);
        assertThat(fallen.permits()).isNegative();
        assertThat(fallen.permits()).as("for five seconds at most").isGreaterThanOrEqualTo(-5 * fallen.rate());
    }

    @Test
    void it_doubles_no_further_than_twice_what_ends() {
        RateView known = new RateView(1_000, 0.001);
        Ramp ramp = after(start(known), ok(150, 0.001), known, 1);
        assertThat(ramp.rate()).as("the rest may wait at the resource").isEqualTo(400);
        ramp = after(ramp, ok(300, 0.001), known, 2);
        assertThat(ramp.rate()).isCloseTo(600, within(2.0));
    }

    @Test
    void it_learns_a_ceiling_from_a_collapse_if_the_last_calls_took_longer() {
        RateView known = new RateView(250, 0.01);
        Ramp ramp = after(start(known), ok(60, 0.01), known, 1);
        Ramp collapsed = after(ramp, new Counts(6, 94, 0, 0, 4.8, 0.8), known, 2);
        assertThat(collapsed.collapsed()).isTrue();
        assertThat(collapsed.ceiling()).as("what came through").isCloseTo(60, within(1e-9));
        assertThat(collapsed.start(known, T0.plusSeconds(5)).rate())
                .as("the next ramp begins below it")
                .isLessThan(60);
    }

    @Test
    void near_a_low_ceiling_it_grows_by_one_call_a_second() {
        RateView known = new RateView(50, 0.01);
        Ramp fallen = after(start(known), bad(2, 18), known, 1);
        assertThat(fallen.rate()).isLessThan(3);
        Ramp ramp = fallen;
        for (int second = 4; second <= 7; second++) {
            ramp = after(ramp, ok(Math.ceil(ramp.rate()), 0.01), known, second);
        }
        assertThat(ramp.rate()).isGreaterThan(fallen.rate() + 3);
    }

    @Test
    void far_above_a_ceiling_the_limit_of_calls_in_flight_is_forgotten_too() {
        RateView known = new RateView(200, 0.001);
        Ramp ramp = Ramp.none(T0).throttled(140, 0.001, known, T0);
        ramp = after(ramp, new Counts(20, 0, 120, 0, 0.02, 0.001), known, 1);
        assertThat(ramp.inFlight()).isEqualTo(1);
        for (int second = 4; second <= 20; second++) {
            ramp = after(ramp, ok(Math.ceil(ramp.rate()), 0.001), known, second);
        }
        assertThat(ramp.ceiling()).isZero();
        assertThat(ramp.inFlight()).as("or slower calls would be limited by it").isZero();
    }
}
