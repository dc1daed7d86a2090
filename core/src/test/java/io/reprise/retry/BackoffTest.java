// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BackoffTest {

    private final Backoff doubling = new Backoff.Exponential(ofSeconds(1), 2, 0);

    @Test
    void exponential_starts_at_the_base_and_multiplies() {
        assertThat(first(5, doubling))
                .containsExactly(ofSeconds(1), ofSeconds(2), ofSeconds(4), ofSeconds(8), ofSeconds(16));
    }

    @Test
    void offset_one_starts_at_base_times_factor() {
        assertThat(first(3, new Backoff.Exponential(ofSeconds(1), 2, 1)))
                .containsExactly(ofSeconds(2), ofSeconds(4), ofSeconds(8));
    }

    @Test
    void a_fractional_factor_is_exact_to_the_nanosecond() {
        assertThat(first(9, new Backoff.Exponential(ofMillis(500), 1.5, 0)))
                .extracting(Duration::toNanos)
                .containsExactly(
                        500_000_000L,
                        750_000_000L,
                        1_125_000_000L,
                        1_687_500_000L,
                        2_531_250_000L,
                        3_796_875_000L,
                        5_695_312_500L,
                        8_542_968_750L,
                        12_814_453_125L);
    }

    @Test
    void linear_grows_by_the_step() {
        assertThat(first(3, new Backoff.Linear(ofSeconds(5))))
                .containsExactly(ofSeconds(5), ofSeconds(10), ofSeconds(15));
    }

    @Test
    void fixed_stays() {
        assertThat(first(3, new Backoff.Fixed(ofSeconds(7)))).containsOnly(ofSeconds(7));
    }

    @Test
    void the_last_entry_of_a_table_repeats() {
        Backoff table = new Backoff.Table(List.of(ofSeconds(1), ofSeconds(5)));
        assertThat(first(4, table)).containsExactly(ofSeconds(1), ofSeconds(5), ofSeconds(5), ofSeconds(5));
        assertThat(table.raw(Integer.MAX_VALUE)).isEqualTo(ofSeconds(5));
    }

    @ParameterizedTest
    @ValueSource(ints = {63, 64, 310, 1_000_000, Integer.MAX_VALUE})
    void exponential_saturates_instead_of_overflowing(int retry) {
        assertThat(doubling.raw(retry)).isEqualTo(Backoff.MAX);
        assertThat(new Backoff.Exponential(Duration.ofNanos(1), 1000, 1).raw(retry))
                .isEqualTo(Backoff.MAX);
        assertThat(new Backoff.Exponential(Backoff.MAX, 1, 1).raw(retry)).isEqualTo(Backoff.MAX);
        assertThat(new Backoff.Exponential(Duration.ZERO, 2, 1).raw(retry)).isZero();
        assertThat(new Backoff.Exponential(ofSeconds(3), 1, 0).raw(retry)).isEqualTo(ofSeconds(3));
    }

    @ParameterizedTest
    @ValueSource(ints = {310, 1_000_000, Integer.MAX_VALUE})
    void linear_saturates_instead_of_overflowing(int retry) {
        assertThat(new Backoff.Linear(ofSeconds(1)).raw(retry)).isEqualTo(ofSeconds(retry));
        assertThat(new Backoff.Linear(Backoff.MAX).raw(retry)).isEqualTo(Backoff.MAX);
    }

    @Test
    void retries_are_numbered_from_one() {
        assertThatIllegalArgumentException().isThrownBy(() -> doubling.raw(0)).withMessageContaining("retry is 0");
    }

    @Test
    void values_out_of_range_are_refused_by_name() {
        refused("base", () -> new Backoff.Exponential(ofSeconds(-1), 2, 0));
        refused("base", () -> new Backoff.Exponential(Backoff.MAX.plusNanos(1), 2, 0));
        refused("factor", () -> new Backoff.Exponential(ofSeconds(1), 0.99, 0));
        refused("factor", () -> new Backoff.Exponential(ofSeconds(1), Double.NaN, 0));
        refused("factor", () -> new Backoff.Exponential(ofSeconds(1), Double.POSITIVE_INFINITY, 0));
        refused("offset", () -> new Backoff.Exponential(ofSeconds(1), 2, 2));
        refused("step", () -> new Backoff.Linear(ofSeconds(-1)));
        refused("delay", () -> new Backoff.Fixed(ofSeconds(-1)));
        refused("number of delays is 0", () -> new Backoff.Table(List.of()));
        refused("number of delays is 1001", () -> new Backoff.Table(Collections.nCopies(1001, ofSeconds(1))));
        refused("delays", () -> new Backoff.Table(List.of(ofSeconds(-1))));
    }

    private static void refused(String words, org.assertj.core.api.ThrowableAssert.ThrowingCallable making) {
        assertThatIllegalArgumentException().isThrownBy(making).withMessageContaining(words);
    }

    private static List<Duration> first(int retries, Backoff backoff) {
        return IntStream.rangeClosed(1, retries).mapToObj(backoff::raw).toList();
    }
}
