// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.reprise.control.BreakerPhase;
import io.reprise.control.BreakerSettings;
import io.reprise.control.BudgetSettings;
import io.reprise.control.ForcedBy;
import io.reprise.failure.FailureClass;
import io.reprise.internal.control.CallCounts.Counts;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

class BreakerTest {

    private static final BreakerSettings SETTINGS = BreakerSettings.DEFAULT;
    private static final Instant T0 = Instant.parse("2026-01-01T00:00:00Z");
    private final RandomGenerator random = new SplittableRandom(1);

    private static Counts counts(int successes, int failures) {
        return new Counts(successes, failures, 0, 0, successes * 0.01, 0.01);
    }

    private static CallCounts ran(int successes, int failures) {
        return new CallCounts(counts(successes, failures), Counts.NONE, successes > 0 ? 0 : failures, 0, 0);
    }

    private static CallCounts admitted(int successes, int failures) {
        return new CallCounts(Counts.NONE, counts(successes, failures), 0, 0, 0);
    }

    private static CallCounts rate(double perSecond) {
        return new CallCounts(Counts.NONE, Counts.NONE, 0, perSecond, 0.01);
    }

    private Breaker after(Breaker breaker, CallCounts tally, Instant now) {
        return breaker.after(tally, SETTINGS, now, random);
    }

    private Breaker open() {
        return after(Breaker.closed(T0), ran(0, 10), T0);
    }

    private Breaker halfOpen() {
        Breaker open = open();
        return open.at(SETTINGS, open.nextProbe());
    }

    private Breaker ramping() {
        Breaker known = after(Breaker.closed(T0), rate(50), T0);
        Breaker open = after(known, ran(0, 10), T0);
        Breaker probing = open.at(SETTINGS, open.nextProbe()).letThrough(1);
        return after(probing, admitted(1, 0), open.nextProbe());
    }

    @Test
    void failures_in_a_row_open_it() {
        Breaker nine = after(Breaker.closed(T0), ran(0, 9), T0);
        assertThat(nine.phase()).isEqualTo(BreakerPhase.CLOSED);
        Breaker ten = after(nine, ran(0, 1), T0);
        assertThat(ten.phase()).isEqualTo(BreakerPhase.OPEN);
        assertThat(ten.why()).isEqualTo("10 failures in a row");
        assertThat(ten.holds()).isTrue();
        assertThat(ten.permits()).isZero();
    }

    @Test
    void a_success_breaks_the_row() {
        Breaker nine = after(Breaker.closed(T0), ran(0, 9), T0);
        assertThat(after(after(nine, ran(1, 0), T0), ran(0, 9), T0).phase()).isEqualTo(BreakerPhase.CLOSED);
    }

    @Test
    void the_share_of_failures_opens_it_once_there_are_enough_calls() {
        Breaker few = after(Breaker.closed(T0), ran(9, 9), T0);
        assertThat(few.phase()).isEqualTo(BreakerPhase.CLOSED);
        Breaker enough = after(few, ran(1, 1), T0);
        assertThat(enough.phase()).isEqualTo(BreakerPhase.OPEN);
        assertThat(enough.why()).isEqualTo("10 of 20 calls failed within PT10S");
    }

    @Test
    void failures_out_of_the_window_do_not_count() {
        Breaker old = after(Breaker.closed(T0), ran(1, 9), T0);
        Breaker later = after(old, ran(12, 2), T0.plusSeconds(10));
        assertThat(later.phase()).isEqualTo(BreakerPhase.CLOSED);
    }

    @Test
    void failures_that_say_nothing_about_the_resource_do_not_count() {
        CallCounts others = new CallCounts(new Counts(0, 0, 0, 1_000, 0, 0), Counts.NONE, 0, 0, 0);
        assertThat(after(Breaker.closed(T0), others, T0).phase()).isEqualTo(BreakerPhase.CLOSED);
    }

    @Test
    void probes_follow_after_a_while_and_only_so_many() {
        Breaker open = open();
        assertThat(Duration.between(T0, open.nextProbe())).isBetween(Duration.ofMillis(500), Duration.ofSeconds(1));
        assertThat(open.at(SETTINGS, open.nextProbe().minusNanos(1)).phase()).isEqualTo(BreakerPhase.OPEN);
        Breaker halfOpen = open.at(SETTINGS, open.nextProbe());
        assertThat(halfOpen.phase()).isEqualTo(BreakerPhase.HALF_OPEN);
        assertThat(halfOpen.permits()).isEqualTo(1);
        Breaker first = halfOpen.letThrough(1);
        assertThat(first.permits()).isZero();
        assertThat(first.at(SETTINGS, first.nextProbe().minusNanos(1)).permits())
                .isZero();
        Breaker second = first.at(SETTINGS, first.nextProbe());
        assertThat(second.permits()).as("the first does not end").isEqualTo(1);
        Breaker third = second.letThrough(1);
        third = third.at(SETTINGS, third.nextProbe()).letThrough(1);
        assertThat(third.waiting()).isEqualTo(3);
        assertThat(third.at(SETTINGS, open.nextProbe().plusSeconds(9)).permits())
                .isZero();
    }

    @Test
    void probes_that_died_with_their_worker_are_followed_by_others_ever_more_rarely() {
        Breaker breaker = open();
        breaker = breaker.at(SETTINGS, breaker.nextProbe());
        Duration interval = breaker.interval();
        for (int i = 0; i < 10; i++) {
            Breaker lost = breaker.letThrough(1);
            while (lost.waiting() < SETTINGS.probes()) {
                lost = lost.at(SETTINGS, lost.nextProbe()).letThrough(1);
            }
            Instant since = lost.since();
            assertThat(lost.at(SETTINGS, since.plusSeconds(9)).permits()).isZero();
            breaker = lost.at(SETTINGS, since.plus(SETTINGS.longestProbe()));
            assertThat(breaker.phase()).isEqualTo(BreakerPhase.HALF_OPEN);
            assertThat(breaker.permits()).isEqualTo(1);
            assertThat(breaker.waiting()).isZero();
            assertThat(breaker.interval()).isGreaterThanOrEqualTo(interval);
            interval = breaker.interval();
        }
        assertThat(interval).isEqualTo(SETTINGS.longestProbe());
    }

    @Test
    void probes_that_fail_make_the_next_ones_wait_longer_up_to_a_limit() {
        Breaker breaker = open();
        Duration last = Duration.ZERO;
        for (int i = 0; i < 150; i++) {
            Instant now = breaker.nextProbe();
            breaker = after(breaker.at(SETTINGS, now).letThrough(1), admitted(0, 1), now);
            assertThat(breaker.phase()).isEqualTo(BreakerPhase.OPEN);
            assertThat(breaker.interval()).isGreaterThanOrEqualTo(last);
            Duration rest = Duration.between(now, breaker.nextProbe());
            assertThat(rest)
                    .as("three probes follow each other in an interval")
                    .isBetween(
                            breaker.interval().dividedBy(6), breaker.interval().dividedBy(3));
            last = breaker.interval();
        }
        assertThat(last).isEqualTo(Duration.ofSeconds(60));
    }

    @Test
    void it_stays_half_open_until_the_last_probe_has_failed() {
        Breaker probing = halfOpen().letThrough(3);
        Breaker two = after(probing, admitted(0, 2), probing.since());
        assertThat(two.phase()).isEqualTo(BreakerPhase.HALF_OPEN);
        assertThat(after(two, admitted(0, 1), probing.since()).phase()).isEqualTo(BreakerPhase.OPEN);
    }

    @Test
    void one_probe_that_succeeds_is_enough() {
        Breaker probing = halfOpen().letThrough(3);
        Breaker two = after(probing, admitted(0, 2), probing.since());
        assertThat(after(two, admitted(1, 0), probing.since()).phase()).isEqualTo(BreakerPhase.RAMPING);
    }

    @Test
    void a_probe_that_says_nothing_is_made_up_for() {
        Breaker probing = halfOpen().letThrough(1);
        CallCounts other = new CallCounts(Counts.NONE, new Counts(0, 0, 0, 1, 0, 0), 0, 0, 0);
        assertThat(after(probing, other, probing.since()).permits()).isEqualTo(1);
    }

    /** A worker that stood still for long gives back a permit of an earlier probing. */
    @Test
    void a_permit_that_was_never_taken_is_not_given_back() {
        Breaker late = halfOpen().letThrough(-1);
        assertThat(late.permits()).isEqualTo(1);
        assertThat(late.waiting()).isZero();
        Breaker probing = late.letThrough(1);
        assertThat(probing.waiting()).isEqualTo(1);
        assertThat(probing.at(SETTINGS, probing.nextProbe()).permits()).isEqualTo(1);
    }

    @Test
    void a_half_open_breaker_without_a_probe_and_without_a_permit_begins_again() {
        Breaker probing = halfOpen().letThrough(1);
        Breaker stuck = Breaker.parse(probing.text().replace("waiting=1", "waiting=0"), T0);
        assertThat(stuck.permits()).isZero();
        assertThat(stuck.at(SETTINGS, stuck.nextProbe()).permits()).isEqualTo(1);
    }

    @Test
    void probes_that_never_end_are_followed_by_others() {
        Breaker probing = halfOpen().letThrough(3);
        Breaker later = probing.at(SETTINGS, probing.since().plusSeconds(60));
        assertThat(later.phase()).isEqualTo(BreakerPhase.HALF_OPEN);
        assertThat(later.permits()).isEqualTo(1);
    }

    @Test
    void runs_that_began_before_it_opened_do_not_close_it() {
        assertThat(after(open(), ran(100, 0), T0).phase()).isEqualTo(BreakerPhase.OPEN);
        assertThat(after(halfOpen(), ran(100, 0), T0).phase()).isEqualTo(BreakerPhase.HALF_OPEN);
    }

    @Test
    void the_ramp_begins_at_a_part_of_the_good_rate() {
        assertThat(ramping().ramp().rate()).isEqualTo(0.4 * 50);
    }

    @Test
    void a_worker_may_run_some_of_the_jobs_that_are_not_parked_while_it_ramps() {
        Breaker ramping = ramping();
        Instant now = ramping.since();
        Breaker asked = ramping.pass(100, 0, false, SETTINGS, now).breaker();
        Breaker.Passed passed = asked.pass(100, 0, false, SETTINGS, now.plusMillis(500));
        assertThat(passed.jobs()).as("three tenths of 20/s").isEqualTo(3);
        assertThat(passed.breaker()
                        .pass(100, 0, false, SETTINGS, now.plusMillis(500))
                        .jobs())
                .isZero();
        Breaker.Passed again = passed.breaker().pass(100, 2, false, SETTINGS, now.plusMillis(500));
        assertThat(again.jobs()).as("what it did not need").isEqualTo(2);
        assertThat(again.breaker().ramp().released()).isEqualTo(3);
        double parked = 1 - asked.freshShare(SETTINGS, now);
        assertThat((1 - 0.3) * parked).as("what is left to the backlog").isCloseTo(0.6, within(1e-9));
        assertThat(Breaker.parse(asked.text(), now)).isEqualTo(asked);
    }

    @Test
    void if_they_waited_in_the_trouble_a_worker_may_run_most_of_them() {
        Breaker ramping = ramping();
        Instant now = ramping.since();
        assertThat(ramping.isBacklog(ramping.failed().minusMillis(1))).isTrue();
        assertThat(ramping.isBacklog(ramping.failed())).isFalse();
        Breaker asked = ramping.pass(100, 0, true, SETTINGS, now).breaker();
        Breaker.Passed passed = asked.pass(100, 0, true, SETTINGS, now.plusMillis(500));
        assertThat(passed.jobs()).as("nine tenths of 20/s").isEqualTo(9);
        assertThat(passed.breaker().freshShare(SETTINGS, now)).isEqualTo(SETTINGS.freshShare());
        assertThat(Breaker.parse(asked.text(), now)).isEqualTo(asked);
        Breaker later = passed.breaker().at(SETTINGS, now.plusSeconds(3));
        Breaker.Passed fresh = later.pass(100, 0, false, SETTINGS, now.plusSeconds(3));
        assertThat(fresh.breaker()
                        .pass(100, fresh.jobs(), false, SETTINGS, now.plusMillis(3_500))
                        .jobs())
                .as("only fresh jobs ask now")
                .isEqualTo(fresh.jobs() + 3);
        Breaker strict = ramping.pass(100, 0, true, SETTINGS.freshShare(0), now).breaker();
        assertThat(strict.pass(100, 0, true, SETTINGS.freshShare(0), now.plusMillis(500))
                        .jobs())
                .as("the oldest first")
                .isZero();
    }

    @Test
    void while_it_is_open_no_worker_may() {
        assertThat(open().pass(100, 0, false, SETTINGS, T0.plusSeconds(100)).jobs())
                .isZero();
        assertThat(halfOpen().pass(100, 0, false, SETTINGS, T0.plusSeconds(100)).jobs())
                .isZero();
    }

    @Test
    void the_ramp_ends_when_nothing_is_parked_any_more() {
        Breaker ramping = ramping();
        Instant now = ramping.since();
        assertThat(ramping.drained(now.plusSeconds(1)).phase()).isEqualTo(BreakerPhase.RAMPING);
        assertThat(ramping.drained(now.plusSeconds(2)).phase()).isEqualTo(BreakerPhase.CLOSED);
        assertThat(open().drained(now.plusSeconds(2)).phase()).isEqualTo(BreakerPhase.OPEN);
    }

    @Test
    void a_few_failures_on_the_ramp_do_not_open_it_but_an_outage_does() {
        Breaker breaker = ramping();
        Instant now = breaker.since();
        for (int second = 1; second < 100; second++) {
            breaker = after(breaker, admitted(80, 20), now.plusSeconds(second));
            assertThat(breaker.phase()).isEqualTo(BreakerPhase.RAMPING);
        }
        for (int second = 100; second < 110; second++) {
            breaker = after(breaker, admitted(0, 5), now.plusSeconds(second));
        }
        assertThat(breaker.phase()).isEqualTo(BreakerPhase.OPEN);
    }

    @Test
    void back_pressure_limits_the_rate_without_opening_it() {
        Breaker known = after(Breaker.closed(T0), rate(100), T0);
        CallCounts throttled = new CallCounts(new Counts(20, 0, 10, 0, 0.2, 0.01), Counts.NONE, 0, 0, 0);
        Breaker limited = after(known, throttled, T0);
        assertThat(limited.phase()).isEqualTo(BreakerPhase.RAMPING);
        assertThat(limited.ramp().rate()).isEqualTo(70);
        assertThat(limited.why()).isEqualTo("10 of 30 calls were throttled");
    }

    @Test
    void a_forced_breaker_stays_whatever_happens() {
        ForcedBy ada = new ForcedBy("ada", "maintenance");
        Breaker open = Breaker.closed(T0).forced(true, ada, T0);
        assertThat(open.at(SETTINGS, T0.plusSeconds(10_000))).isEqualTo(open);
        assertThat(after(open, admitted(100, 0), T0).phase()).isEqualTo(BreakerPhase.OPEN);
        assertThat(open.why()).isEqualTo("kept open by ada: maintenance");
        Breaker closed = open.forced(false, ada, T0);
        assertThat(after(closed, ran(0, 100), T0).phase()).isEqualTo(BreakerPhase.CLOSED);
        assertThat(closed.isAtRest(SETTINGS, T0.plusSeconds(10_000))).isFalse();
        Breaker automatic = open.automatic(T0);
        assertThat(automatic.at(SETTINGS, T0).phase()).isEqualTo(BreakerPhase.HALF_OPEN);
        assertThat(after(closed.automatic(T0), ran(0, 10), T0).phase()).isEqualTo(BreakerPhase.OPEN);
    }

    @Test
    void it_is_at_rest_when_closed_and_quiet() {
        Breaker breaker = after(Breaker.closed(T0), ran(5, 1), T0);
        assertThat(breaker.isAtRest(SETTINGS, T0.plusSeconds(19))).isFalse();
        assertThat(breaker.isAtRest(SETTINGS, T0.plusSeconds(20))).isTrue();
        assertThat(open().isAtRest(SETTINGS, T0.plusSeconds(1_000))).isFalse();
    }

    @Test
    void settings_refuse_what_makes_no_sense() {
        assertThatThrownBy(() -> SETTINGS.opensAt(0, 20, Duration.ofSeconds(10)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("failureRate");
        assertThatThrownBy(() -> SETTINGS.counted(Set.of(FailureClass.PERMANENT)))
                .hasMessageContaining("PERMANENT");
        assertThatThrownBy(() -> SETTINGS.probes(0, Duration.ofSeconds(1), Duration.ofSeconds(1)))
                .hasMessageContaining("probes");
        assertThatThrownBy(() -> SETTINGS.probes(1, Duration.ofSeconds(2), Duration.ofSeconds(1)))
                .hasMessageContaining("longestProbe");
        assertThatThrownBy(() -> BudgetSettings.OF_ALL.capacity(1)).hasMessageContaining("capacity");
    }

    @Test
    void long_calls_that_end_together_are_no_higher_rate() {
        // 300 calls of 30 s end within a second: 10 per second, and not 300.
        CallCounts together = new CallCounts(new Counts(300, 0, 100, 0, 9_000, 30), Counts.NONE, 0, 0, 0);
        Breaker limited = after(Breaker.closed(T0), together, T0);
        assertThat(limited.phase()).isEqualTo(BreakerPhase.RAMPING);
        assertThat(limited.flow().rate()).isCloseTo(10, within(1e-9));
    }

    @Test
    void the_limit_that_a_collapse_has_shown_is_known_to_the_next_ramp() {
        Breaker begun = ramping();
        Breaker ramp = after(begun, admitted(30, 0), begun.since().plusSeconds(1));
        // Calls queued up at the resource until nearly all of them failed.
        CallCounts collapse = new CallCounts(Counts.NONE, new Counts(2, 98, 0, 0, 1.6, 0.8), 0, 0, 0);
        Breaker open = after(ramp, collapse, begun.since().plusSeconds(2));
        assertThat(open.phase()).isEqualTo(BreakerPhase.OPEN);
        assertThat(open.ramp().ceiling()).isCloseTo(30, within(1e-9));
    }
}
