// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.measure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class StatisticsTest {

    @Test
    void the_median_is_in_the_middle() {
        assertThat(Statistics.median(List.of(3.0, 1.0, 2.0))).isEqualTo(2.0);
        assertThat(Statistics.median(List.of(4.0, 1.0, 2.0, 3.0))).isEqualTo(2.5);
        assertThat(Statistics.median(List.of(7.0))).isEqualTo(7.0);
    }

    @Test
    void a_percentile_is_one_of_the_values() {
        List<Double> values = List.of(5.0, 1.0, 4.0, 2.0, 3.0);

        assertThat(Statistics.percentile(values, 0.5)).isEqualTo(3.0);
        assertThat(Statistics.percentile(values, 0.99)).isEqualTo(5.0);
        assertThat(Statistics.percentile(values, 0.0)).isEqualTo(1.0);
    }

    @Test
    void the_spread_is_from_the_least_to_the_most() {
        assertThat(Statistics.min(List.of(2.0, 1.0, 3.0))).isEqualTo(1.0);
        assertThat(Statistics.max(List.of(2.0, 3.0, 1.0))).isEqualTo(3.0);
    }

    @Test
    void nothing_has_no_median() {
        assertThatThrownBy(() -> Statistics.median(List.of())).isInstanceOf(IllegalArgumentException.class);
    }
}
