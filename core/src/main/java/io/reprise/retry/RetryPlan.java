// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import io.reprise.text.Bounds;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * A preview of a policy: the delays of its retries, and warnings about odd settings.
 *
 * <p>A plan can show more retries than the policy allows. Immutable and thread-safe.
 *
 * @since 0.1.0
 */
public final class RetryPlan {

    /**
     * One retry of the plan.
     *
     * @param retry number of the retry, from 1
     * @param raw the delay without jitter
     * @param min the shortest delay that is possible, or that was drawn
     * @param max the longest delay that is possible, or that was drawn
     * @param mean the expected delay, or the average of those drawn. The expected delay ignores rounding. For
     *     decorrelated jitter it is an upper estimate
     * @param cumulativeMax the sum of {@code max} up to this retry
     */
    public record Step(int retry, Duration raw, Duration min, Duration max, Duration mean, Duration cumulativeMax) {}

    /**
     * A setting that is legal but probably not intended.
     *
     * @param code stable name of the warning; docs/retries.md lists all codes
     * @param message one sentence for a person; it may change between versions
     */
    public record Warning(String code, String message) {}

    /**
     * The retries after failures of one branch, as if all failures were of this branch.
     *
     * @param branch the branch
     * @param maxAttempts attempts after which a failure of the branch ends the job; null for no limit
     * @param steps the retries in order; empty if the branch is never retried
     */
    public record BranchPlan(Branch branch, @Nullable Integer maxAttempts, List<Step> steps) {}

    private static final int MAX_RETRIES = 10_000;
    private static final int MAX_SAMPLES = 1_000_000;
    private static final long MAX_DRAWS = 100_000_000;

    private final List<Step> steps;
    private final List<Warning> warnings;
    private final List<BranchPlan> branches;

    private RetryPlan(List<Step> steps, RetryPolicy policy, int retries) {
        this.steps = List.copyOf(steps);
        this.warnings = PolicyLint.of(policy, retries);
        this.branches = policy.complete().branches().stream()
                .map(branch -> planned(branch, policy, retries))
                .toList();
    }

    private static BranchPlan planned(Branch branch, RetryPolicy policy, int retries) {
        if (branch.isNever()) {
            return new BranchPlan(branch, 1, List.of());
        }
        RetryPolicy own = branch.over(policy.complete());
        Integer limit = own.maxAttempts().toOptional().orElse(null);
        return new BranchPlan(branch, limit, steps(own, retries));
    }

    /**
     * Computes the first {@code retries} retries.
     *
     * @param policy the policy; unset fields come from {@link RetryPolicy#DEFAULT}
     * @param retries 0 to 10,000
     * @throws NullPointerException if {@code policy} is null
     * @throws IllegalArgumentException if {@code retries} is out of its bounds
     */
    public static RetryPlan of(RetryPolicy policy, int retries) {
        checked(retries);
        return new RetryPlan(steps(policy, retries), policy, retries);
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
            // The mean ignores rounding, so it could be just outside the range of the drawn delays.
            lastMean = Math.max(min, Math.min(lastMax, model.mean(model.range(retry, lastMean))));
            sum = sum.plusNanos(lastMax);
            steps.add(new Step(retry, nanos(raw), nanos(min), nanos(lastMax), nanos(lastMean), sum));
        }
        return steps;
    }

    /**
     * Draws the delays of {@code samples} simulated jobs. Each job has its own chain of delays.
     *
     * @param policy the policy; unset fields come from {@link RetryPolicy#DEFAULT}
     * @param retries retries of each job; 0 to 10,000
     * @param samples number of jobs; 1 to 1,000,000
     * @param random the source of randomness; the same seed gives the same plan
     * @throws NullPointerException if {@code policy} is null, or {@code random} is null and a delay is drawn
     * @throws IllegalArgumentException if a number is out of its bounds, or {@code retries * samples} is above
     *     100,000,000
     */
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
        return new RetryPlan(combined(steps(policy, retries), drawn, samples), policy, retries);
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

    /** Returns the retries in order; the list is immutable. */
    public List<Step> steps() {
        return steps;
    }

    /** Returns the retries of each branch; empty if the policy has no branch. The list is immutable. */
    public List<BranchPlan> branches() {
        return branches;
    }

    /** Returns the warnings; empty if nothing is odd. The list is immutable. */
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
