// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DelayTest {

    private final RandomGenerator random = new SplittableRandom(1);

    private final RetryPolicy policy =
            RetryPolicy.fixed(ofSeconds(100)).cap(ofSeconds(100)).jitter(Jitter.proportional(0.2));

    @Test
    void cap_then_jitter_may_pass_the_cap() {
        assertThat(draws(policy.capOrder(CapOrder.CAP_THEN_JITTER)))
                .anyMatch(delay -> delay.compareTo(ofSeconds(118)) > 0)
                .anyMatch(delay -> delay.compareTo(ofSeconds(82)) < 0)
                .allMatch(delay -> between(delay, 80, 120));
    }

    @Test
    void jitter_then_cap_piles_up_at_the_cap() {
        long atCap = draws(policy.capOrder(CapOrder.JITTER_THEN_CAP))
                .filter(ofSeconds(100)::equals)
                .count();
        assertThat(atCap).isBetween(4_700L, 5_300L);
    }

    @Test
    void the_default_order_spreads_below_the_cap_without_a_pile() {
        assertThat(draws(policy)).allMatch(delay -> between(delay, 80, 100));
        assertThat(draws(policy).distinct().count()).isGreaterThan(9_990);
    }

    @Test
    void the_raw_delay_is_the_curve_held_at_the_cap() {
        RetryPolicy doubling = RetryPolicy.exponential(ofSeconds(30)).cap(ofSeconds(50));
        assertThat(doubling.draw(1, null, random).raw()).isEqualTo(ofSeconds(30));
        assertThat(doubling.draw(2, null, random).raw()).isEqualTo(ofSeconds(50));
    }

    @Test
    void rounding_is_down_and_the_minimum_comes_after_it() {
        RetryPolicy fixed = RetryPolicy.fixed(Duration.ofNanos(1_999_999_999)).jitter(Jitter.none());
        assertThat(delay(fixed)).isEqualTo(Duration.ofNanos(1_999_999_000));
        assertThat(delay(fixed.rounding(Rounding.MILLIS))).isEqualTo(ofMillis(1999));
        assertThat(delay(fixed.rounding(Rounding.FLOOR_SECONDS))).isEqualTo(ofSeconds(1));
        assertThat(delay(fixed.rounding(Rounding.FLOOR_SECONDS).minDelay(ofMillis(1500))))
                .isEqualTo(ofMillis(1500));
    }

    @Test
    void decorrelated_grows_from_the_previous_delay() {
        RetryPolicy decorrelated =
                RetryPolicy.exponential(ofSeconds(1)).cap(ofSeconds(60)).jitter(Jitter.decorrelated());
        for (int i = 0; i < 10_000; i++) {
            assertThat(decorrelated.delay(1, null, random)).isBetween(ofSeconds(1), ofSeconds(3));
            assertThat(decorrelated.delay(9, ofSeconds(5), random)).isBetween(ofSeconds(1), ofSeconds(15));
            assertThat(decorrelated.delay(9, ofSeconds(50), random)).isBetween(ofSeconds(1), ofSeconds(60));
        }
    }

    @Test
    void decorrelated_before_the_cap_is_cut_by_it() {
        RetryPolicy aws = RetryPolicy.exponential(ofSeconds(1))
                .cap(ofSeconds(60))
                .jitter(Jitter.decorrelated())
                .capOrder(CapOrder.JITTER_THEN_CAP);
        long atCap = Stream.generate(() -> aws.delay(9, ofSeconds(60), random))
                .limit(10_000)
                .filter(ofSeconds(60)::equals)
                .count();
        assertThat(atCap).isBetween(6_450L, 6_950L); // 120 of 179 seconds lie above the cap
    }

    @ParameterizedTest
    @ValueSource(ints = {63, 64, 310, 1_000_000, Integer.MAX_VALUE})
    void no_retry_number_overflows(int retry) {
        for (Jitter jitter : Stream.of("none", "full", "equal", "proportional:1", "decorrelated", "base-to-raw")
                .map(Jitter::parse)
                .toList()) {
            for (CapOrder order : CapOrder.values()) {
                RetryPolicy endless = RetryPolicy.exponential(ofSeconds(1))
                        .noCap()
                        .jitter(jitter)
                        .capOrder(order);
                assertThat(endless.delay(retry, Backoff.MAX, random)).isBetween(Duration.ZERO, Backoff.MAX);
            }
        }
    }

    @Test
    void the_same_seed_draws_the_same_delays() {
        assertThat(RetryPolicy.DEFAULT.delay(5, null, new SplittableRandom(7)))
                .isEqualTo(RetryPolicy.DEFAULT.delay(5, null, new SplittableRandom(7)));
    }

    @Test
    void a_minimum_above_the_cap_of_another_layer_gives_way() {
        RetryPolicy layered = RetryPolicy.unset()
                .minDelay(ofSeconds(10))
                .orElse(RetryPolicy.fixed(ofSeconds(1)).cap(ofSeconds(5)));
        assertThat(delay(layered)).isEqualTo(ofSeconds(5));
    }

    private Duration delay(RetryPolicy policy) {
        return policy.delay(1, null, random);
    }

    private Stream<Duration> draws(RetryPolicy policy) {
        return Stream.generate(() -> delay(policy)).limit(10_000);
    }

    private static boolean between(Duration delay, int min, int max) {
        return delay.compareTo(ofSeconds(min)) >= 0 && delay.compareTo(ofSeconds(max)) <= 0;
    }
}
