// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import static java.time.Duration.ofHours;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.reprise.failure.FailureClass;
import io.reprise.failure.Rule;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

class RetryPolicyTest {

    @Test
    void the_default_is_what_the_documentation_says() {
        RetryPolicy policy = RetryPolicy.DEFAULT;
        assertThat(policy.backoff()).contains(new Backoff.Exponential(ofSeconds(2), 2, 0));
        assertThat(policy.cap()).isEqualTo(Limit.of(ofHours(1)));
        assertThat(policy.jitter()).contains(Jitter.full());
        assertThat(policy.capOrder()).contains(CapOrder.CAP_JITTER_CAP);
        assertThat(policy.maxAttempts()).isEqualTo(Limit.of(20));
        assertThat(policy.deadline()).isEqualTo(Limit.of(ofHours(24)));
        assertThat(policy.retryAfterCap()).contains(ofHours(1));
        assertThat(policy.retryTimeouts()).contains(true);
        assertThat(policy.losses()).contains(new LossRule(false, true, 5));
        assertThat(policy.complete()).isEqualTo(policy);
    }

    @Test
    void retries_and_thresholds_are_sugar_for_attempts() {
        assertThat(RetryPolicy.unset().maxRetries(3))
                .isEqualTo(RetryPolicy.unset().maxAttempts(4));
        assertThat(RetryPolicy.unset().maxRetries(0)).isEqualTo(RetryPolicy.none());
        assertThat(RetryPolicy.unset().failAfterMoreThan(10))
                .isEqualTo(RetryPolicy.unset().maxAttempts(11));
    }

    @Test
    void each_field_comes_from_the_first_layer_that_sets_it() {
        RetryPolicy job = RetryPolicy.unset().maxAttempts(3).noCap();
        RetryPolicy type =
                RetryPolicy.exponential(ofSeconds(5)).cap(ofMinutes(1)).noDeadline();
        RetryPolicy queue = RetryPolicy.unset().deadline(ofHours(2)).unlimited().jitter(Jitter.equal());

        RetryPolicy resolved = job.orElse(type).orElse(queue).complete();

        assertThat(resolved.maxAttempts()).isEqualTo(Limit.of(3));
        assertThat(resolved.cap().isNone()).isTrue();
        assertThat(resolved.backoff()).contains(new Backoff.Exponential(ofSeconds(5), 2, 0));
        assertThat(resolved.deadline().isNone()).isTrue();
        assertThat(resolved.jitter()).contains(Jitter.equal());
        assertThat(resolved.rules()).isEqualTo(RetryPolicy.DEFAULT.rules());
    }

    @Test
    void a_number_of_the_backoff_can_be_set_without_its_kind() {
        RetryPolicy slower = RetryPolicy.unset().factor(3).orElse(RetryPolicy.DEFAULT);
        assertThat(slower.backoff()).contains(new Backoff.Exponential(ofSeconds(2), 3, 0));
    }

    @Test
    void the_delays_of_a_table_do_not_outlive_it() {
        RetryPolicy fixed = RetryPolicy.fixed(ofSeconds(1)).orElse(RetryPolicy.table(ofSeconds(2), ofSeconds(3)));
        assertThat(fixed).isEqualTo(RetryPolicy.fixed(ofSeconds(1)));
        assertThat(RetryPolicy.table(ofSeconds(2)).base(ofSeconds(9)).backoff())
                .contains(new Backoff.Table(List.of(ofSeconds(2))));
    }

    @Test
    void an_incomplete_policy_can_draw_and_decide() {
        RetryPolicy policy = RetryPolicy.fixed(ofSeconds(3)).jitter(Jitter.none());
        assertThat(policy.delay(1, null, new SplittableRandom(1))).isEqualTo(ofSeconds(3));
    }

    @Test
    void rules_of_a_lower_layer_are_asked_after_those_above() {
        Rule upper = Rule.ofCodes("upper", FailureClass.PERMANENT, "a");
        Rule lower = Rule.ofCodes("lower", FailureClass.TRANSIENT, "a", "b");
        RetryPolicy layered =
                RetryPolicy.unset().rule(upper).orElse(RetryPolicy.unset().rule(lower));
        assertThat(layered.rules()).containsExactly(upper, lower);
        assertThat(RetryPolicy.unset()
                        .rule(upper)
                        .onlyTheseRules()
                        .orElse(RetryPolicy.DEFAULT)
                        .rules())
                .containsExactly(upper);
    }

    @Test
    void single_values_out_of_range_are_refused_by_name() {
        RetryPolicy policy = RetryPolicy.unset();
        refused("maxAttempts is 0 but must be 1 to 1000000", () -> policy.maxAttempts(0));
        refused("maxAttempts", () -> policy.maxAttempts(1_000_001));
        refused("maxRetries", () -> policy.maxRetries(-1));
        refused("maxRetries", () -> policy.maxRetries(Integer.MAX_VALUE));
        refused("failAfterMoreThan", () -> policy.failAfterMoreThan(-1));
        refused("deadline", () -> policy.deadline(Duration.ZERO));
        refused("cap", () -> policy.cap(Duration.ZERO));
        refused("cap", () -> policy.cap(ofSeconds(Long.MAX_VALUE)));
        refused("base", () -> policy.base(ofSeconds(-1)));
        refused("factor", () -> policy.factor(0.5));
        refused("offset", () -> policy.offset(-1));
        refused("minDelay", () -> policy.minDelay(ofSeconds(-1)));
        refused("retryAfterCap", () -> policy.retryAfterCap(ofSeconds(-1)));
        refused("unclassified", () -> policy.unclassified(FailureClass.LOST));
        refused("losses.max", () -> policy.losses(new LossRule(true, true, 0)));
        refused("number of delays", RetryPolicy::table);
    }

    @Test
    void contradictions_within_a_policy_are_refused() {
        refused(
                "minDelay is PT10S but must be at most the cap, PT5S",
                () -> RetryPolicy.unset().cap(ofSeconds(5)).minDelay(ofSeconds(10)));
        refused("minDelay", () -> RetryPolicy.unset().minDelay(ofSeconds(10)).cap(ofSeconds(5)));
        refused("jitter is decorrelated", () -> RetryPolicy.table(ofSeconds(1)).jitter(Jitter.decorrelated()));
        refused("jitter is base-to-raw", () -> RetryPolicy.table(ofSeconds(1)).jitter(Jitter.baseToRaw()));
    }

    @Test
    void a_cap_below_the_base_is_legal_and_holds_from_the_first_retry() {
        RetryPolicy policy =
                RetryPolicy.exponential(ofSeconds(10)).cap(ofSeconds(5)).jitter(Jitter.none());
        assertThat(policy.delay(1, null, new SplittableRandom(1))).isEqualTo(ofSeconds(5));
    }

    private static void refused(String words, ThrowingCallable making) {
        assertThatIllegalArgumentException().isThrownBy(making).withMessageContaining(words);
    }

    @Test
    void a_missing_value_is_refused_at_once() {
        List<ThrowingCallable> calls = List.of(
                () -> RetryPolicy.unset().backoff((Backoff) null),
                () -> RetryPolicy.unset().jitter((Jitter) null),
                () -> RetryPolicy.unset().capOrder((CapOrder) null),
                () -> RetryPolicy.unset().rounding((Rounding) null),
                () -> RetryPolicy.unset().losses((LossRule) null));
        for (ThrowingCallable call : calls) {
            assertThatNullPointerException().isThrownBy(call);
        }
    }
}
