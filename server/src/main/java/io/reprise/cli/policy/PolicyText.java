// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.policy;

import io.reprise.retry.Backoff;
import io.reprise.retry.Jitter;
import io.reprise.retry.RetryPolicy;
import io.reprise.server.config.Durations;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** Describes a policy in the few words that fit a table. */
public final class PolicyText {

    private PolicyText() {}

    public static String attempts(RetryPolicy policy) {
        Optional<Integer> most = policy.complete().maxAttempts().toOptional();
        return most.map(String::valueOf).orElse("unlimited");
    }

    /** Shows both numbers, because some people count attempts and others retries. */
    public static String attemptsAndRetries(RetryPolicy policy) {
        Optional<Integer> most = policy.complete().maxAttempts().toOptional();
        return most.map(limit -> count(limit, "attempt") + " (" + retries(limit - 1) + ")")
                .orElse("unlimited attempts");
    }

    public static String backoff(RetryPolicy policy) {
        Backoff backoff = policy.complete().backoff().orElseThrow();
        if (backoff instanceof Backoff.Exponential curve) {
            String factor = curve.factor() == Math.rint(curve.factor())
                    ? Long.toString((long) curve.factor())
                    : Double.toString(curve.factor());
            return Durations.text(curve.base()) + " x" + factor + "^" + (curve.offset() == 0 ? "(n-1)" : "n");
        }
        if (backoff instanceof Backoff.Linear line) {
            return Durations.text(line.step()) + " xn";
        }
        if (backoff instanceof Backoff.Table table) {
            return table.delays().stream().map(Durations::text).collect(Collectors.joining(" "));
        }
        return Durations.text(backoff.raw(1)) + " always";
    }

    public static String cap(RetryPolicy policy) {
        return limit(policy.complete().cap().toOptional());
    }

    static String deadline(RetryPolicy policy) {
        return limit(policy.complete().deadline().toOptional());
    }

    public static String jitter(RetryPolicy policy) {
        return policy.complete().jitter().map(Jitter::text).orElseThrow();
    }

    static String order(RetryPolicy policy) {
        return kebab(policy.complete().capOrder().orElseThrow());
    }

    static String rounding(RetryPolicy policy) {
        return kebab(policy.complete().rounding().orElseThrow());
    }

    public static String kebab(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private static String limit(Optional<Duration> limit) {
        return limit.map(Durations::text).orElse("none");
    }

    private static String count(int number, String noun) {
        return number + " " + noun + (number == 1 ? "" : "s");
    }

    private static String retries(int number) {
        return number == 0 ? "no retry" : number + (number == 1 ? " retry" : " retries");
    }
}
