// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator;

import io.reprise.retry.Jitter;
import io.reprise.retry.Presets;
import io.reprise.retry.RetryPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntToDoubleFunction;
import java.util.random.RandomGenerator;

/**
 * A row of a table: a way to retry.
 *
 * @param policies each job gets one of these at random; several only for a curve that no single policy can express
 * @param controlled whether the control plane is on, as it is for users; it is off for the curves of other queues
 */
public record Candidate(String name, List<RetryPolicy> policies, boolean controlled) {

    /** The defaults of Reprise. */
    public static final Candidate REPRISE = new Candidate("reprise", RetryPolicy.DEFAULT, true);

    /** The default policy without the control plane. */
    public static final Candidate UNCONTROLLED = new Candidate("reprise-policy-only", RetryPolicy.DEFAULT, false);

    private static final int DRAWN = 1_000;

    public Candidate {
        policies = List.copyOf(policies);
    }

    public Candidate(String name, RetryPolicy policy, boolean controlled) {
        this(name, List.of(policy), controlled);
    }

    /** A user's policy, with and without the control plane. */
    public static List<Candidate> own(String name, RetryPolicy policy) {
        return List.of(new Candidate(name, policy, true), new Candidate(name + "-policy-only", policy, false));
    }

    RetryPolicy policy(RandomGenerator random) {
        return policies.size() == 1 ? policies.get(0) : policies.get(random.nextInt(policies.size()));
    }

    /** Returns our own rows, those of other queues by their published formulas, and those of the presets. */
    public static List<Candidate> all() {
        List<Candidate> all = new ArrayList<>(List.of(REPRISE, UNCONTROLLED));
        all.addAll(List.of(river(), sidekiq(), oban(), jobRunr()));
        List.of("omniq", "stent", "weave", "mongo", "conduit")
                .forEach(name -> all.add(new Candidate(name, Presets.get(name), false)));
        return all;
    }

    /** n⁴ seconds, ±10 %, 25 attempts. */
    static Candidate river() {
        RetryPolicy policy = endless(table(24, n -> Math.pow(n, 4)))
                .jitter(Jitter.proportional(0.1))
                .maxAttempts(25);
        return new Candidate("river", policy, false);
    }

    /** n⁴ + 15 + rand(10)·(n + 1) seconds with n from 0, 25 retries. */
    static Candidate sidekiq() {
        RandomGenerator random = new java.util.SplittableRandom(25);
        List<RetryPolicy> drawn = new ArrayList<>();
        for (int i = 0; i < DRAWN; i++) {
            RetryPolicy table = table(25, n -> Math.pow(n - 1.0, 4) + 15 + random.nextInt(10) * n);
            drawn.add(endless(table).jitter(Jitter.none()).maxRetries(25));
        }
        return new Candidate("sidekiq", drawn, false);
    }

    /** 15 + 2ⁿ seconds and up to 10 % more, 20 attempts. */
    static Candidate oban() {
        // From x to 1.1 x is 1.05 x, plus or minus a 21st.
        RetryPolicy policy = endless(table(19, n -> 1.05 * (15 + Math.pow(2, n))))
                .jitter(Jitter.proportional(1.0 / 21))
                .maxAttempts(20);
        return new Candidate("oban", policy, false);
    }

    /** 3ⁿ seconds, 10 retries. */
    static Candidate jobRunr() {
        RetryPolicy policy = endless(
                        RetryPolicy.exponential(Duration.ofSeconds(3)).factor(3).offset(0))
                .jitter(Jitter.none())
                .maxRetries(10);
        return new Candidate("jobrunr", policy, false);
    }

    /** Removes cap and deadline, because the other queues have none. */
    private static RetryPolicy endless(RetryPolicy policy) {
        return policy.noCap().noDeadline();
    }

    private static RetryPolicy table(int retries, IntToDoubleFunction seconds) {
        Duration[] delays = new Duration[retries];
        for (int n = 1; n <= retries; n++) {
            delays[n - 1] = Duration.ofMillis(Math.round(1000 * seconds.applyAsDouble(n)));
        }
        return RetryPolicy.table(delays);
    }
}
