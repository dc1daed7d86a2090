// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * A preview of a policy: when retries would come, and what is odd about it.
 *
 * <p>Retries past the policy's own limit are shown if asked for.
 */
public final class RetryPlan {

    /**
     * One retry.
     *
     * @param retry its number, from 1
     * @param raw the delay without jitter
     * @param min the shortest delay possible, or drawn
     * @param max the longest delay possible, or drawn
     * @param mean the expected delay, or the average drawn. Expected values leave rounding aside; for decorrelated
     *     jitter they are an upper estimate
     * @param cumulativeMax the sum of {@code max} up to here
     */
    public record Step(int retry, Duration raw, Duration min, Duration max, Duration mean, Duration cumulativeMax) {}

    /** Something worth a second look; the code is stable, the message is for people. */
    public record Warning(String code, String message) {}

    private static final int MAX_RETRIES = 10_000;
    private static final int MAX_SAMPLES = 1_000_000;
    private static final long MAX_DRAWS = 100_000_000;

    private final List<Step> steps;
    private final List<Warning> warnings;

    private RetryPlan(List<Step> steps, List<Warning> warnings) {
        this.steps = List.copyOf(steps);
        this.warnings = warnings;
    }

    /** What the arithmetic says about the first {@code retries} retries, 0 to 10,000. */
    public static RetryPlan of(RetryPolicy policy, int retries) {
        checked(retries);
        return new RetryPlan(steps(policy, retries), PolicyLint.of(policy, retries));
    }

    static List<Step> steps(RetryPolicy policy, int retries) {
        DelayModel model = policy.model();
        List<Step> steps = new ArrayList<>();
        long lastMax = model.base();
        long lastMean = model.base();
        Duration sum = Duration.ZERO;
        for (int retry = 1; retry <= retries; retry++) {
            DelayRange range = model.range(retry, lastMax);
            long raw = model.raw(retry, lastMax);
            long min = model.settle(range.min());
            lastMax = model.settle(range.max());
            // Rounding is left out of the mean, which could put it just outside what can be drawn.
            lastMean = Math.max(min, Math.min(lastMax, model.mean(model.range(retry, lastMean))));
            sum = sum.plusNanos(lastMax);
            steps.add(new Step(retry, nanos(raw), nanos(min), nanos(lastMax), nanos(lastMean), sum));
        }
        return steps;
    }

    /** What {@code samples} simulated jobs drew; each follows its own chain of delays. */
    public static RetryPlan sampled(RetryPolicy policy, int retries, int samples, RandomGenerator random) {
        checked(retries);
        Bounds.integer("samples", samples, 1, MAX_SAMPLES);
        if ((long) retries * samples > MAX_DRAWS) {
            throw Bounds.refused("retries times samples", (long) retries * samples, "at most " + MAX_DRAWS);
        }
        Drawn[] drawn = new Drawn[retries];
        for (int i = 0; i < retries; i++) {
            drawn[i] = new Drawn();
        }
        for (int sample = 0; sample < samples; sample++) {
            Duration last = null;
            for (int retry = 1; retry <= retries; retry++) {
                last = policy.delay(retry, last, random);
                drawn[retry - 1].add(last.toNanos());
            }
        }
        return new RetryPlan(combined(steps(policy, retries), drawn, samples), PolicyLint.of(policy, retries));
    }

    private static List<Step> combined(List<Step> analytic, Drawn[] drawn, int samples) {
        List<Step> steps = new ArrayList<>();
        Duration sum = Duration.ZERO;
        for (Step step : analytic) {
            Drawn seen = drawn[step.retry() - 1];
            sum = sum.plusNanos(seen.max);
            steps.add(new Step(
                    step.retry(),
                    step.raw(),
                    nanos(seen.min),
                    nanos(seen.max),
                    nanos(Math.round(seen.sum / samples)),
                    sum));
        }
        return steps;
    }

    private static final class Drawn {
        private long min = Long.MAX_VALUE;
        private long max;
        private double sum;

        void add(long nanos) {
            min = Math.min(min, nanos);
            max = Math.max(max, nanos);
            sum += nanos;
        }
    }

    public List<Step> steps() {
        return steps;
    }

    public List<Warning> warnings() {
        return warnings;
    }

    private static void checked(int retries) {
        Bounds.integer("retries", retries, 0, MAX_RETRIES);
    }

    private static Duration nanos(long nanos) {
        return Duration.ofNanos(nanos);
    }
}
