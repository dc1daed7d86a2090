// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.failure.Failure;
import io.reprise.retry.RetryPlan.Step;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What holds for every policy, tried on many: the seed of a failing one is the name of its test. */
class RetryPolicyPropertiesTest {

    static LongStream seeds() {
        return LongStream.range(0, 500);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void json_is_read_back_as_the_same_policy(long seed) {
        RetryPolicy policy = new RandomPolicies(seed).policy();
        RetryPolicy read = RetryPolicy.fromJson(policy.toJson());
        assertThat(read).isEqualTo(policy);
        assertThat(read.toJson()).isEqualTo(policy.toJson());
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void layering_is_associative(long seed) {
        RandomPolicies any = new RandomPolicies(seed);
        RetryPolicy a = any.policy();
        RetryPolicy b = any.policy();
        RetryPolicy c = any.policy();
        assertThat(a.orElse(b).orElse(c)).isEqualTo(a.orElse(b.orElse(c)));
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void layering_is_per_field(long seed) {
        RandomPolicies any = new RandomPolicies(seed);
        RetryPolicy a = any.policy();
        RetryPolicy b = any.policy();
        RetryPolicy both = a.orElse(b);
        assertThat(both.cap()).isEqualTo(a.cap().isSet() ? a.cap() : b.cap());
        assertThat(both.maxAttempts()).isEqualTo(a.maxAttempts().isSet() ? a.maxAttempts() : b.maxAttempts());
        assertThat(both.deadline()).isEqualTo(a.deadline().isSet() ? a.deadline() : b.deadline());
        assertThat(both.base()).isEqualTo(a.base().or(b::base));
        assertThat(both.factor()).isEqualTo(a.factor().or(b::factor));
        assertThat(both.jitter()).isEqualTo(a.jitter().or(b::jitter));
        assertThat(both.minDelay()).isEqualTo(a.minDelay().or(b::minDelay));
        assertThat(both.unclassified()).isEqualTo(a.unclassified().or(b::unclassified));
        assertThat(both.losses()).isEqualTo(a.losses().or(b::losses));
        assertThat(both.orElse(RetryPolicy.unset())).isEqualTo(both);
        assertThat(RetryPolicy.unset().orElse(both)).isEqualTo(both);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void a_delay_lies_within_the_plan(long seed) {
        RetryPolicy policy = new RandomPolicies(seed).policy();
        RandomGenerator random = new SplittableRandom(seed);
        Duration last = null;
        for (Step step : RetryPlan.of(policy, 30).steps()) {
            last = policy.delay(step.retry(), last, random);
            assertThat(last).isBetween(step.min(), step.max());
            assertThat(step.mean()).isBetween(step.min(), step.max());
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void the_default_order_never_exceeds_the_cap(long seed) {
        RandomPolicies any = new RandomPolicies(seed);
        RetryPolicy policy = any.policy();
        Duration last = any.duration();
        int retry = 1 + new SplittableRandom(seed).nextInt(1_000_000);
        RetryPolicy capped = policy.capOrder(CapOrder.CAP_JITTER_CAP);
        Duration cap = capped.complete().cap().toOptional().orElse(Backoff.MAX);
        assertThat(capped.delay(retry, last, new SplittableRandom(seed))).isBetween(Duration.ZERO, cap);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void fingerprints_ignore_numbers_and_ids(long seed) {
        RandomGenerator random = new SplittableRandom(seed);
        long a = random.nextLong();
        long b = random.nextLong(1_000);
        String word = new RandomPolicies(seed).word();
        assertThat(fingerprint(word, a)).isEqualTo(fingerprint(word, b));
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void no_text_breaks_a_failure(long seed) {
        String text = new RandomPolicies(seed).text(500);
        Failure failure = Failure.of(new IllegalStateException(text));
        assertThat(failure.message()).isEqualTo(text);
        assertThat(failure.fingerprint()).matches("[0-9a-f]{16}");
    }

    private static String fingerprint(String word, long id) {
        String message = word + " " + id + " of " + new java.util.UUID(id, ~id) + " at 0x" + Long.toHexString(id);
        return Failure.reported("E", null, null, message, null).fingerprint();
    }
}
