// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.retry.RetryPlan.Step;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;

class RetryPolicyPropertiesTest {

    @Property(tries = 500)
    void json_is_read_back_as_the_same_policy(@ForAll("policies") RetryPolicy policy) {
        RetryPolicy read = RetryPolicy.fromJson(policy.toJson());
        assertThat(read).isEqualTo(policy);
        assertThat(read.toJson()).isEqualTo(policy.toJson());
    }

    @Property(tries = 500)
    void layering_is_associative(
            @ForAll("policies") RetryPolicy a, @ForAll("policies") RetryPolicy b, @ForAll("policies") RetryPolicy c) {
        assertThat(a.orElse(b).orElse(c)).isEqualTo(a.orElse(b.orElse(c)));
    }

    @Property(tries = 500)
    void layering_is_per_field(@ForAll("policies") RetryPolicy a, @ForAll("policies") RetryPolicy b) {
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

    @Property(tries = 500)
    void a_delay_lies_within_the_plan(@ForAll("policies") RetryPolicy policy, @ForAll long seed) {
        RandomGenerator random = new SplittableRandom(seed);
        Duration last = null;
        for (Step step : RetryPlan.of(policy, 30).steps()) {
            last = policy.delay(step.retry(), last, random);
            assertThat(last).isBetween(step.min(), step.max());
            assertThat(step.mean()).isBetween(step.min(), step.max());
        }
    }

    @Property(tries = 500)
    void the_default_order_never_exceeds_the_cap(
            @ForAll("policies") RetryPolicy policy,
            @ForAll @IntRange(min = 1) int retry,
            @ForAll("durations") Duration last,
            @ForAll long seed) {
        RetryPolicy capped = policy.capOrder(CapOrder.CAP_JITTER_CAP);
        Duration cap = capped.complete().cap().toOptional().orElse(Backoff.MAX);
        assertThat(capped.delay(retry, last, new SplittableRandom(seed))).isBetween(Duration.ZERO, cap);
    }

    @Property(tries = 300)
    void fingerprints_ignore_numbers_and_ids(@ForAll long a, @ForAll long b, @ForAll("words") String word) {
        assertThat(fingerprint(word, a)).isEqualTo(fingerprint(word, b));
    }

    @Property(tries = 300)
    void no_text_breaks_a_failure(@ForAll String text) {
        Failure failure = Failure.of(new IllegalStateException(text));
        assertThat(failure.message()).isEqualTo(text);
        assertThat(failure.fingerprint()).matches("[0-9a-f]{16}");
    }

    private static String fingerprint(String word, long id) {
        String message = word + " " + id + " of " + new java.util.UUID(id, ~id) + " at 0x" + Long.toHexString(id);
        return Failure.reported("E", null, null, message, null).fingerprint();
    }

    @Provide
    Arbitrary<String> words() {
        return Arbitraries.strings().alpha().ofMinLength(1).ofMaxLength(10);
    }

    @Provide
    Arbitrary<Duration> durations() {
        return Arbitraries.longs().between(0, Bounds.MAX_NANOS).map(Duration::ofNanos);
    }

    @Provide
    Arbitrary<RetryPolicy> policies() {
        return change().list().ofMaxSize(12).map(changes -> {
            RetryPolicy policy = RetryPolicy.unset();
            for (RetryPolicy change : changes) {
                policy = change.orElse(policy);
            }
            return policy;
        });
    }

    private Arbitrary<RetryPolicy> change() {
        RetryPolicy unset = RetryPolicy.unset();
        Arbitrary<Duration> positive = durations().map(d -> d.isZero() ? Duration.ofNanos(1) : d);
        Arbitrary<Double> ratios = Arbitraries.doubles().between(0, 1).ofScale(6);
        return Arbitraries.oneOf(List.of(
                Arbitraries.of(
                        RetryPolicy.exponential(),
                        unset.noCap(),
                        unset.unlimited(),
                        unset.noDeadline(),
                        unset.onlyTheseRules()),
                Arbitraries.of("none", "full", "equal", "decorrelated", "base-to-raw")
                        .map(j -> unset.jitter(Jitter.parse(j))),
                ratios.map(ratio -> unset.jitter(Jitter.proportional(ratio))),
                Arbitraries.of(CapOrder.class).map(unset::capOrder),
                Arbitraries.of(Rounding.class).map(unset::rounding),
                Arbitraries.of(FailureClass.TRANSIENT, FailureClass.PERMANENT).map(unset::unclassified),
                Arbitraries.of(true, false).map(unset::retryTimeouts),
                durations().map(RetryPolicy::linear),
                durations().map(RetryPolicy::fixed),
                durations().list().ofMinSize(1).ofMaxSize(5).map(l -> unset.backoff(new Backoff.Table(l))),
                durations().map(unset::base),
                Arbitraries.doubles().between(1, 1000).map(unset::factor),
                Arbitraries.integers().between(0, 1).map(unset::offset),
                positive.map(unset::cap),
                durations().map(unset::minDelay),
                Arbitraries.integers().between(1, 1_000_000).map(unset::maxAttempts),
                positive.map(unset::deadline),
                durations().map(unset::retryAfterCap),
                Arbitraries.integers()
                        .between(1, 1000)
                        .map(max -> unset.losses(new LossRule(max % 2 == 0, max % 3 == 0, max))),
                words().map(unset::retryOn),
                words().map(unset::neverRetryOn),
                Arbitraries.strings()
                        .ofMinLength(1)
                        .ofMaxLength(20)
                        .map(s -> unset.rule(Rule.ofCodes("r" + s, FailureClass.THROTTLED, "c" + s)))));
    }
}
