// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import static java.time.Duration.ZERO;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.reprise.retry.RetryPlan.Step;
import java.time.Duration;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RetryPlanTest {

    @Test
    void a_plan_lists_each_retry() {
        RetryPolicy policy =
                RetryPolicy.exponential(ofSeconds(10)).cap(ofSeconds(30)).jitter(Jitter.full());
        assertThat(RetryPlan.of(policy, 3).steps())
                .containsExactly(
                        new Step(1, ofSeconds(10), ZERO, ofSeconds(10), ofSeconds(5), ofSeconds(10)),
                        new Step(2, ofSeconds(20), ZERO, ofSeconds(20), ofSeconds(10), ofSeconds(30)),
                        new Step(3, ofSeconds(30), ZERO, ofSeconds(30), ofSeconds(15), ofSeconds(60)));
    }

    @Test
    void rounding_minimum_and_cap_are_part_of_the_plan() {
        RetryPolicy policy = RetryPolicy.fixed(ofMillis(2500))
                .jitter(Jitter.full())
                .rounding(Rounding.FLOOR_SECONDS)
                .minDelay(ofSeconds(1));
        Step step = RetryPlan.of(policy, 1).steps().get(0);
        assertThat(step.min()).isEqualTo(ofSeconds(1));
        assertThat(step.max()).isEqualTo(ofSeconds(2));
        assertThat(step.mean()).isEqualTo(ofMillis(1450)); // 0.4 at 1 s, the rest evenly between 1 and 2.5 s
    }

    @Test
    void retries_past_the_limit_are_shown_when_asked_for() {
        assertThat(RetryPlan.of(RetryPolicy.none(), 3).steps()).hasSize(3);
        assertThat(RetryPlan.of(RetryPolicy.none(), 0).steps()).isEmpty();
    }

    @Test
    void decorrelated_widens_threefold_each_time() {
        RetryPolicy policy =
                RetryPolicy.exponential(ofSeconds(1)).cap(ofSeconds(60)).jitter(Jitter.decorrelated());
        assertThat(RetryPlan.of(policy, 5).steps())
                .extracting(Step::max)
                .containsExactly(ofSeconds(3), ofSeconds(9), ofSeconds(27), ofSeconds(60), ofSeconds(60));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "default",
                "omniq",
                "conduit",
                "conduit-service",
                "mongo-decorrelated",
                "weave",
                "stent-aggressive"
            })
    void what_is_drawn_agrees_with_the_arithmetic(String preset) {
        RetryPolicy policy = Presets.get(preset);
        RetryPlan analytic = RetryPlan.of(policy, 10);
        RetryPlan sampled = RetryPlan.sampled(policy, 10, 20_000, new SplittableRandom(3));
        for (int i = 0; i < 10; i++) {
            Step said = analytic.steps().get(i);
            Step drawn = sampled.steps().get(i);
            assertThat(drawn.raw()).isEqualTo(said.raw());
            assertThat(drawn.min()).isBetween(said.min(), said.max());
            assertThat(drawn.max()).isBetween(said.min(), said.max());
            long tolerance = said.max()
                    .minus(said.min())
                    .dividedBy(50)
                    .plusSeconds(said.max().compareTo(ofSeconds(20)) > 0 ? 1 : 0)
                    .plusMillis(1)
                    .toNanos();
            assertThat(drawn.mean().minus(said.mean()).abs()).isLessThanOrEqualTo(Duration.ofNanos(tolerance));
        }
    }

    @Test
    void numbers_out_of_range_are_refused() {
        RetryPolicy policy = RetryPolicy.DEFAULT;
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RetryPlan.of(policy, -1))
                .withMessageContaining("retries");
        assertThatIllegalArgumentException().isThrownBy(() -> RetryPlan.of(policy, 10_001));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RetryPlan.sampled(policy, 1, 0, new SplittableRandom(1)))
                .withMessageContaining("samples");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RetryPlan.sampled(policy, 10_000, 1_000_000, new SplittableRandom(1)))
                .withMessageContaining("retries times samples");
    }
}
