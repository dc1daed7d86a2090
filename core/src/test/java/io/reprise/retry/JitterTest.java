// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.reprise.text.Bounds;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JitterTest {

    @Test
    void each_kind_draws_from_its_range() {
        assertThat(range(Jitter.none())).isEqualTo(new DelayRange(1000, 1000));
        assertThat(range(Jitter.full())).isEqualTo(new DelayRange(0, 1000));
        assertThat(range(Jitter.equal())).isEqualTo(new DelayRange(500, 1000));
        assertThat(range(Jitter.proportional(0.25))).isEqualTo(new DelayRange(750, 1250));
        assertThat(range(Jitter.decorrelated())).isEqualTo(new DelayRange(100, 900));
        assertThat(range(Jitter.baseToRaw())).isEqualTo(new DelayRange(100, 1000));
    }

    @Test
    void base_to_raw_never_starts_above_its_end() {
        assertThat(DelayRange.of(Jitter.baseToRaw(), 50, 100, 0)).isEqualTo(new DelayRange(100, 100));
    }

    @Test
    void ranges_do_not_overflow() {
        long max = Bounds.MAX_NANOS;
        assertThat(DelayRange.of(Jitter.proportional(1), max, max, max)).isEqualTo(new DelayRange(0, max));
        assertThat(DelayRange.of(Jitter.decorrelated(), max, 1, max)).isEqualTo(new DelayRange(1, max));
        assertThat(DelayRange.of(Jitter.decorrelated(), max, 1, max / 2)).isEqualTo(new DelayRange(1, max));
    }

    @Test
    void the_mean_of_a_clamped_draw_is_exact() {
        DelayRange range = new DelayRange(0, 100);
        assertThat(range.mean(0, 1000)).isEqualTo(50);
        assertThat(range.mean(0, 50)).isEqualTo(38); // 37.5: half lie evenly below 50, half are 50
        assertThat(range.mean(50, 1000)).isEqualTo(63); // 62.5
        assertThat(range.mean(200, 1000)).isEqualTo(200);
        assertThat(new DelayRange(200, 300).mean(0, 100)).isEqualTo(100);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"none", "full", "equal", "proportional:0.25", "proportional:1", "decorrelated", "base-to-raw"})
    void the_text_of_a_jitter_is_read_back(String text) {
        assertThat(Jitter.parse(text).text()).isEqualTo(text);
    }

    @Test
    void case_and_underscores_do_not_matter() {
        assertThat(Jitter.parse("BASE_TO_RAW")).isEqualTo(Jitter.baseToRaw());
        assertThat(Jitter.parse("Proportional:.5")).isEqualTo(Jitter.proportional(0.5));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "ful", "random", "proportional", "proportional:", "proportional:x", "full:0.5"})
    void an_unknown_jitter_is_refused_with_the_allowed_names(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Jitter.parse(text))
                .withMessageContaining("jitter is \"" + text + "\"")
                .withMessageContaining("none, full, equal, proportional:<0..1>, decorrelated, base-to-raw");
    }

    @ParameterizedTest
    @ValueSource(doubles = {-0.01, 1.01, Double.NaN})
    void a_ratio_outside_zero_to_one_is_refused(double ratio) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Jitter.proportional(ratio))
                .withMessageContaining("jitter ratio");
    }

    private static DelayRange range(Jitter jitter) {
        return DelayRange.of(jitter, 1000, 100, 300);
    }
}
