// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SamplesTest {

    private static final long SECOND = 1_000_000_000;

    private final Samples samples = new Samples();

    @Test
    void a_rate_is_what_was_done_between_two_times() {
        done(0, 100, 300, 300);

        assertThat(samples.rate(0, SECOND)).isEqualTo(100);
        assertThat(samples.rate(0, 2 * SECOND)).isEqualTo(150);
        assertThat(samples.rate(2 * SECOND, 3 * SECOND)).isZero();
    }

    @Test
    void the_best_rate_is_that_of_the_best_window_only() {
        done(0, 100, 300, 300, 1000);

        assertThat(samples.bestRate(0, 3 * SECOND, SECOND)).isEqualTo(200);
        assertThat(samples.bestRate(0, 4 * SECOND, SECOND)).isEqualTo(700);
    }

    @Test
    void the_best_rate_of_less_than_a_window_is_that_of_all_of_it() {
        done(0, 100, 300);

        assertThat(samples.bestRate(0, 2 * SECOND, 10 * SECOND)).isEqualTo(150);
    }

    @Test
    void values_and_picture_show_calls_successes_parked_jobs_and_phase() {
        samples.add(new Samples.Sample(0, 0, 0, 0, ""));
        samples.add(new Samples.Sample(SECOND, 10, 10, 0, "CLOSED"));
        samples.add(new Samples.Sample(2 * SECOND, 30, 10, 7, "OPEN"));
        var slices = RecoveryPicture.slices(samples.all());

        assertThat(RecoveryPicture.csv(slices))
                .isEqualTo("seconds,calls,successes,parked,phase\n1.00,10,10,0,CLOSED\n2.00,20,0,7,OPEN\n");
        assertThat(RecoveryPicture.svg(slices))
                .startsWith("<svg ")
                .endsWith("</svg>\n")
                .contains(">OPEN<");
    }

    private void done(long... each) {
        for (int second = 0; second < each.length; second++) {
            samples.add(new Samples.Sample(second * SECOND, each[second], each[second], 0, ""));
        }
    }
}
