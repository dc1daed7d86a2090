// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import io.reprise.failure.FailureClass;
import io.reprise.failure.Rule;
import io.reprise.text.Bounds;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Function;

/** Arbitrary policies, texts and durations from a seed; edge cases come up more often than chance alone would have it. */
final class RandomPolicies {

    private static final List<Function<RandomPolicies, RetryPolicy>> CHANGES = List.of(
            any -> RetryPolicy.exponential(),
            any -> RetryPolicy.unset().noCap(),
            any -> RetryPolicy.unset().unlimited(),
            any -> RetryPolicy.unset().noDeadline(),
            any -> RetryPolicy.unset().onlyTheseRules(),
            any -> RetryPolicy.unset().jitter(any.jitter()),
            any -> RetryPolicy.unset().capOrder(any.of(CapOrder.values())),
            any -> RetryPolicy.unset().rounding(any.of(Rounding.values())),
            any -> RetryPolicy.unset().unclassified(any.of(FailureClass.TRANSIENT, FailureClass.PERMANENT)),
            any -> RetryPolicy.unset().retryTimeouts(any.random.nextBoolean()),
            any -> RetryPolicy.linear(any.duration()),
            any -> RetryPolicy.fixed(any.duration()),
            any -> RetryPolicy.unset().backoff(new Backoff.Table(any.durations())),
            any -> RetryPolicy.unset().base(any.duration()),
            any -> RetryPolicy.unset().factor(1 + any.random.nextDouble() * 999),
            any -> RetryPolicy.unset().offset(any.random.nextInt(2)),
            any -> RetryPolicy.unset().cap(any.positive()),
            any -> RetryPolicy.unset().minDelay(any.duration()),
            any -> RetryPolicy.unset().maxAttempts(1 + any.random.nextInt(1_000_000)),
            any -> RetryPolicy.unset().deadline(any.positive()),
            any -> RetryPolicy.unset().retryAfterCap(any.duration()),
            any -> RetryPolicy.unset().losses(any.losses()),
            any -> RetryPolicy.unset().neverGiveUp(),
            any -> RetryPolicy.unset().giveUpBelow(any.random.nextDouble(), 1 + any.random.nextInt(1_000)),
            any -> RetryPolicy.unset().retryOn(any.word()),
            any -> RetryPolicy.unset().neverRetryOn(any.word()),
            any -> RetryPolicy.unset()
                    .on(any.of(FailureClass.THROTTLED, FailureClass.TIMEOUT))
                    .fixed(any.duration())
                    .policy(),
            any -> RetryPolicy.unset()
                    .onCode("c" + any.word())
                    .parkFor(any.duration())
                    .policy(),
            any -> RetryPolicy.unset()
                    .onStatus(100 + any.random.nextInt(500))
                    .never()
                    .policy(),
            any -> RetryPolicy.unset()
                    .rule(Rule.ofCodes("r" + any.text(20), FailureClass.THROTTLED, "c" + any.text(20))));

    private final SplittableRandom random;

    RandomPolicies(long seed) {
        this.random = new SplittableRandom(seed);
    }

    RetryPolicy policy() {
        RetryPolicy policy = RetryPolicy.unset();
        for (int changes = random.nextInt(13); changes > 0; changes--) {
            policy = CHANGES.get(random.nextInt(CHANGES.size())).apply(this).orElse(policy);
        }
        return policy;
    }

    Duration duration() {
        return switch (random.nextInt(8)) {
            case 0 -> Duration.ZERO;
            case 1 -> Duration.ofNanos(Bounds.MAX_NANOS);
            case 2 -> Duration.ofNanos(random.nextLong(1_000));
            case 3 -> Duration.ofNanos(random.nextLong(Bounds.MAX_NANOS));
            default -> Duration.ofMillis(random.nextLong(10_000_000));
        };
    }

    String word() {
        StringBuilder word = new StringBuilder();
        for (int length = 1 + random.nextInt(10); length > 0; length--) {
            word.append((char) ('a' + random.nextInt(26)));
        }
        return word.toString();
    }

    /** Any text of up to so many characters: surrogates, controls and the like included. */
    String text(int max) {
        StringBuilder text = new StringBuilder();
        for (int length = random.nextInt(max); length > 0; length--) {
            text.append((char) (random.nextBoolean() ? 32 + random.nextInt(95) : random.nextInt(0x10000)));
        }
        return text.toString();
    }

    private Duration positive() {
        Duration duration = duration();
        return duration.isZero() ? Duration.ofNanos(1) : duration;
    }

    private List<Duration> durations() {
        List<Duration> durations = new ArrayList<>();
        for (int size = 1 + random.nextInt(5); size > 0; size--) {
            durations.add(duration());
        }
        return durations;
    }

    private Jitter jitter() {
        return random.nextInt(3) == 0
                ? Jitter.proportional(random.nextDouble())
                : Jitter.parse(of("none", "full", "equal", "decorrelated", "base-to-raw"));
    }

    private LossRule losses() {
        return new LossRule(random.nextBoolean(), random.nextBoolean(), 1 + random.nextInt(1_000));
    }

    @SafeVarargs
    private <T> T of(T... choices) {
        return choices[random.nextInt(choices.length)];
    }
}
