// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DurationsTest {

    @ParameterizedTest
    @CsvSource({
        "500ms, PT0.5S",
        "30s, PT30S",
        "1m30s, PT1M30S",
        "2h, PT2H",
        "1d, PT24H",
        "1d2h3m4s5ms, PT26H3M4.005S",
        "1.5s, PT1.5S",
        "0.25ms, PT0.00025S",
        "5m, PT5M",
        "5ms, PT0.005S",
        "0, PT0S",
        "0s, PT0S",
        "PT1M30S, PT1M30S",
        "pt2h, PT2H",
        "P1D, PT24H",
    })
    void people_write_durations_like_this(String text, Duration duration) {
        assertThat(Durations.parse(text)).isEqualTo(duration);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", " ", "5", "s", "5 s 3", "1s1m", "-5s", "5x", "1.s", "P", "PT", "soon", "9999999999999s"})
    void anything_else_is_refused(String text) {
        assertThatThrownBy(() -> Durations.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("not a duration");
    }

    @ParameterizedTest
    @CsvSource({
        "PT0S, 0s",
        "PT0.0005S, 0.5ms",
        "PT0.5S, 500ms",
        "PT1.25S, 1.25s",
        "PT59.9999S, 59.999s",
        "PT1M, 1m",
        "PT1M30.25S, 1m30.2s",
        "PT1H0M0.4S, 1h",
        "PT26H3M4S, 1d2h3m4s",
        "PT876000H, 36500d",
    })
    void they_are_shown_like_this(Duration duration, String text) {
        assertThat(Durations.text(duration)).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource({"PT1S, 1000", "PT0.0015S, 1.5", "PT0S, 0", "PT0.000000001S, 0.000001", "PT876000H, 3153600000000"})
    void milliseconds_have_a_fraction_only_where_needed(Duration duration, String text) {
        assertThat(Durations.millis(duration).toPlainString()).isEqualTo(text);
    }
}
