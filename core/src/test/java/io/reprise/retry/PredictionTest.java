// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import io.reprise.failure.Failure;
import io.reprise.retry.Prediction.Basis;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PredictionTest {

    private static final Failure FAILURE = Failure.of(new java.io.IOException("busy"));
    private static final RetryPolicy GIVES_UP = RetryPolicy.unset().giveUpBelow(0.05, 50);

    private static Prediction of(double successes, double tries) {
        return new Prediction(successes, tries, Basis.ATTEMPT);
    }

    @Test
    void the_interval_is_wilsons() {
        Prediction some = of(10, 100);
        assertThat(some.probability()).isEqualTo(0.1);
        assertThat(some.low()).isCloseTo(0.05523, within(1e-5));
        assertThat(some.high()).isCloseTo(0.17437, within(1e-5));
        Prediction none = of(0, 50);
        assertThat(none.low()).isZero();
        assertThat(none.high()).isCloseTo(0.07135, within(1e-5));
        Prediction all = of(3, 3);
        assertThat(all.high()).isEqualTo(1);
        assertThat(all.low()).isCloseTo(0.43850, within(1e-5));
    }

    @Test
    void the_interval_holds_the_estimate_and_stays_within_bounds() {
        SplittableRandom random = new SplittableRandom(7);
        for (int i = 0; i < 10_000; i++) {
            double tries = Math.pow(10, random.nextDouble(-3, 6));
            Prediction any = of(tries * random.nextDouble(), tries);
            assertThat(any.low()).isBetween(0.0, any.probability());
            assertThat(any.high()).isBetween(any.probability(), 1.0);
        }
    }

    @Test
    void a_prediction_needs_evidence() {
        assertThatIllegalArgumentException().isThrownBy(() -> of(0, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> of(3, 2));
        assertThatIllegalArgumentException().isThrownBy(() -> of(Double.NaN, 2));
    }

    @Test
    void every_decision_carries_it() {
        Prediction likely = of(90, 100);
        Decision retry = RetryPolicy.DEFAULT.decide(FAILURE, AttemptHistory.FIRST, likely, new SplittableRandom(1));
        assertThat(retry).isInstanceOf(Decision.Retry.class);
        assertThat(retry.prediction()).isEqualTo(likely);
        Decision fail = RetryPolicy.none().decide(FAILURE, AttemptHistory.FIRST, likely, new SplittableRandom(1));
        assertThat(fail).isInstanceOf(Decision.Fail.class);
        assertThat(fail.prediction()).isEqualTo(likely);
    }

    @Test
    void it_changes_nothing_unless_the_policy_says_so() {
        Decision without = RetryPolicy.DEFAULT.decide(FAILURE, AttemptHistory.FIRST, new SplittableRandom(1));
        Decision with = RetryPolicy.DEFAULT.decide(FAILURE, AttemptHistory.FIRST, of(0, 1e6), new SplittableRandom(1));
        assertThat(((Decision.Retry) with).delay()).isEqualTo(((Decision.Retry) without).delay());
    }

    private static long givenUp(RetryPolicy policy, Prediction prediction) {
        SplittableRandom random = new SplittableRandom(3);
        return IntStream.range(0, 1_000)
                .mapToObj(i -> policy.decide(FAILURE, AttemptHistory.FIRST, prediction, random))
                .filter(decision -> decision instanceof Decision.Fail fail && fail.reason() == FailReason.HOPELESS)
                .count();
    }

    @Test
    void hopeless_retries_are_given_up_but_for_canaries() {
        assertThat(givenUp(GIVES_UP, of(1, 100))).isBetween(900L, 990L);
    }

    @Test
    void nothing_is_given_up_on_too_little_evidence() {
        assertThat(givenUp(GIVES_UP, of(0, 49))).isZero();
        assertThat(givenUp(GIVES_UP, of(5, 100))).isZero();
        assertThat(givenUp(GIVES_UP, new Prediction(0, 1000, Basis.TYPE))).isZero();
        assertThat(givenUp(GIVES_UP, new Prediction(0, 1000, Basis.ERROR))).isPositive();
        assertThat(givenUp(RetryPolicy.DEFAULT, of(0, 1000))).isZero();
    }

    @Test
    void an_upper_layer_can_take_it_back() {
        assertThat(givenUp(RetryPolicy.unset().neverGiveUp().orElse(GIVES_UP), of(0, 1000)))
                .isZero();
        assertThat(givenUp(RetryPolicy.unset().maxAttempts(9).orElse(GIVES_UP), of(0, 1000)))
                .isPositive();
    }

    @Test
    void it_survives_json() {
        assertThat(GIVES_UP.toJson()).isEqualTo("{\"giveUpBelow\":{\"probability\":0.05,\"minSamples\":50}}");
        assertThat(RetryPolicy.fromJson(GIVES_UP.toJson())).isEqualTo(GIVES_UP);
        RetryPolicy never = RetryPolicy.unset().neverGiveUp();
        assertThat(never.toJson()).isEqualTo("{\"giveUpBelow\":null}");
        assertThat(RetryPolicy.fromJson(never.toJson())).isEqualTo(never).isNotEqualTo(RetryPolicy.unset());
    }

    @Test
    void bad_values_are_refused_by_name() {
        RetryPolicy policy = RetryPolicy.unset();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> policy.giveUpBelow(1.1, 50))
                .withMessageContaining("giveUpBelow.probability");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> policy.giveUpBelow(0.1, 0))
                .withMessageContaining("giveUpBelow.minSamples");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RetryPolicy.fromJson("{\"giveUpBelow\":{\"probability\":0.1}}"))
                .withMessageContaining("minSamples");
    }

    @Test
    void lint_warns_of_rash_rules() {
        assertThat(RetryPlan.of(RetryPolicy.unset().giveUpBelow(0.01, 5), 3).warnings())
                .extracting(RetryPlan.Warning::code)
                .contains("give-up-on-few-samples");
        assertThat(RetryPlan.of(RetryPolicy.unset().giveUpBelow(0.6, 100), 3).warnings())
                .extracting(RetryPlan.Warning::code)
                .contains("give-up-on-likely-success");
        assertThat(RetryPlan.of(RetryPolicy.unset().deadline(Duration.ofDays(9)).giveUpBelow(0.01, 100), 3)
                        .warnings())
                .isEmpty();
    }
}
