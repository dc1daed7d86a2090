// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.chaos;

import io.reprise.job.KeyRule;
import io.reprise.retry.LossRule;
import io.reprise.retry.RetryPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * One course of events, drawn from a seed: the fleet, the jobs, the faults and their times. Each seed leaves out most
 * kinds of faults, so that combinations of a few kinds occur too.
 *
 * @param callFaults faults that may happen to single calls
 */
record ChaosPlan(long seed, Fleet fleet, List<PlannedJob> jobs, List<PlannedFault> faults, Set<Fault> callFaults) {

    /** How long faults and new jobs keep coming. */
    static final Duration LENGTH = Duration.ofSeconds(60);

    private static final List<KeyRule> RULES = List.of(KeyRule.KEEP, KeyRule.REJECT, KeyRule.REPLACE);
    private static final double PART_OF_KINDS = 0.4;

    ChaosPlan {
        jobs = List.copyOf(jobs);
        faults = List.copyOf(faults);
        callFaults = Set.copyOf(callFaults);
    }

    /** The workers. */
    record Fleet(int workers, int concurrency, Duration lease, boolean control) {}

    /** A job to enqueue. */
    record PlannedJob(
            long atNanos,
            Duty duty,
            String queue,
            Duration delay,
            RetryPolicy policy,
            @Nullable Key key,
            Place place) {

        /** A job that any worker may run at any time. */
        PlannedJob(long atNanos, Duty duty, String queue, Duration delay, RetryPolicy policy, @Nullable Key key) {
            this(atNanos, duty, queue, delay, policy, key, Place.ANY);
        }
    }

    /** The group of a job, and what it needs of its worker. */
    record Place(@Nullable String group, List<String> needs) {
        static final Place ANY = new Place(null, List.of());
    }

    /** A unique key. */
    record Key(String name, KeyRule rule) {}

    /** The behaviour of its runs. */
    enum Duty {
        /** Any behaviour: succeeds, fails, snoozes, takes too long, asks to be cancelled. */
        MIXED,
        /** Reports progress and completes itself. */
        REPORTING,
        /** Ignores a request to stop. */
        DEAF,
        /** Has steps, sleeps, and waits for an event. */
        STEPS,
        /** Joins a few other jobs. */
        JOIN,
        /** Kills its worker as long as there are faults. */
        POISON
    }

    /** A fault of a worker (by number) or of the whole world, with its length. */
    record PlannedFault(long atNanos, Fault kind, int target, Duration length) {

        @Override
        public String toString() {
            return String.format(
                    Locale.ROOT,
                    "%s at %.3f s, target %d, %.3f s",
                    kind,
                    atNanos / 1e9,
                    target,
                    length.toNanos() / 1e9);
        }
    }

    static ChaosPlan of(long seed) {
        SplittableRandom chance = new SplittableRandom(seed ^ 0x5DEECE66DL);
        Fleet fleet = new Fleet(
                1 + chance.nextInt(4),
                1 + chance.nextInt(5),
                Duration.ofMillis(1_000 + chance.nextInt(9_000)),
                chance.nextInt(3) > 0);
        Set<Fault> kinds = EnumSet.noneOf(Fault.class);
        for (Fault kind : Fault.values()) {
            if (chance.nextDouble() < PART_OF_KINDS) {
                kinds.add(kind);
            }
        }
        List<PlannedJob> jobs = new ArrayList<>();
        int count = 4 + chance.nextInt(30);
        for (int i = 0; i < count; i++) {
            jobs.add(job(chance, kinds.contains(Fault.POISON)));
        }
        List<PlannedFault> faults = new ArrayList<>();
        List<Fault> timed = kinds.stream()
                .filter(kind -> !kind.isOfCalls() && kind != Fault.POISON)
                .toList();
        int troubles = timed.isEmpty() ? 0 : 1 + chance.nextInt(14);
        for (int i = 0; i < troubles; i++) {
            Fault kind = timed.get(chance.nextInt(timed.size()));
            faults.add(new PlannedFault(
                    moment(chance), kind, chance.nextInt(100), Duration.ofNanos(length(chance, fleet))));
        }
        kinds.removeIf(kind -> !kind.isOfCalls());
        return new ChaosPlan(seed, fleet, jobs, faults, kinds);
    }

    /** Draws a course in which some of the jobs join others, and some follow the holder of their key. */
    static ChaosPlan joining(long seed) {
        ChaosPlan plan = of(seed);
        SplittableRandom chance = new SplittableRandom(seed ^ 0x2545F491L);
        List<PlannedJob> jobs = new ArrayList<>(plan.jobs);
        int parents = 1 + chance.nextInt(5);
        for (int i = 0; i < parents; i++) {
            RetryPolicy policy = RetryPolicy.fixed(Duration.ofMillis(100 + chance.nextInt(900)))
                    .maxAttempts(20)
                    .losses(new LossRule(false, false, 20))
                    .noDeadline();
            jobs.add(new PlannedJob(moment(chance), Duty.JOIN, "fast", Duration.ZERO, policy, null));
        }
        int followers = chance.nextInt(8);
        for (int i = 0; i < followers; i++) {
            RetryPolicy policy = RetryPolicy.fixed(Duration.ofMillis(200)).maxAttempts(1 + chance.nextInt(4));
            Key key = new Key("followed-" + chance.nextInt(2), KeyRule.FOLLOW);
            jobs.add(new PlannedJob(moment(chance), Duty.MIXED, "fast", Duration.ZERO, policy, key));
        }
        return plan.withJobs(jobs);
    }

    /** Draws a course in which some jobs keep the order of their group, and some need what not every worker offers. */
    static ChaosPlan placed(long seed) {
        ChaosPlan plan = of(seed);
        SplittableRandom chance = new SplittableRandom(seed ^ 0x9E3779B9L);
        List<PlannedJob> jobs = new ArrayList<>(plan.jobs);
        int ordered = 4 + chance.nextInt(12);
        for (int i = 0; i < ordered; i++) {
            Place place = new Place("group-" + chance.nextInt(2), List.of());
            jobs.add(placed(chance, chance.nextInt(3) == 0 ? Duty.STEPS : Duty.MIXED, ChaosPlaces.IN_ORDER, place));
        }
        int needy = 2 + chance.nextInt(8);
        for (int i = 0; i < needy; i++) {
            Place place = new Place(null, chance.nextBoolean() ? List.of("gpu") : List.of("eu", "gpu"));
            jobs.add(placed(chance, Duty.MIXED, "fast", place));
        }
        return plan.withJobs(jobs);
    }

    private static PlannedJob placed(SplittableRandom chance, Duty duty, String queue, Place place) {
        RetryPolicy policy = RetryPolicy.fixed(Duration.ofMillis(100 + chance.nextInt(2_000)))
                .maxAttempts(1 + chance.nextInt(4));
        Duration delay = chance.nextInt(4) == 0 ? Duration.ofMillis(chance.nextInt(5_000)) : Duration.ZERO;
        return new PlannedJob(moment(chance), duty, queue, delay, policy, null, place);
    }

    /** Whether a job has a group or needs something. */
    boolean isPlaced() {
        return jobs.stream().anyMatch(job -> !job.place.equals(Place.ANY));
    }

    private static long moment(SplittableRandom chance) {
        return chance.nextLong(LENGTH.toMillis()) * 1_000_000;
    }

    /** Draws a length: short, about a lease, or much longer. */
    private static long length(SplittableRandom chance, Fleet fleet) {
        double leases = switch (chance.nextInt(3)) {
            case 0 -> 0.3 * chance.nextDouble();
            case 1 -> 0.8 + 0.6 * chance.nextDouble();
            default -> 1 + 4 * chance.nextDouble();
        };
        return Math.round(fleet.lease.toMillis() * leases) * 1_000_000 + 1_000_000;
    }

    private static PlannedJob job(SplittableRandom chance, boolean poison) {
        Duty duty = switch (chance.nextInt(10)) {
            case 0 -> Duty.REPORTING;
            case 1 -> Duty.DEAF;
            case 2 -> poison ? Duty.POISON : Duty.MIXED;
            case 3, 4 -> Duty.STEPS;
            default -> Duty.MIXED;
        };
        Duration delay = chance.nextInt(4) == 0 ? Duration.ofMillis(chance.nextInt(20_000)) : Duration.ZERO;
        RetryPolicy policy = RetryPolicy.exponential(Duration.ofMillis(100 + chance.nextInt(2_000)))
                .cap(Duration.ofSeconds(20))
                .maxAttempts(1 + chance.nextInt(6))
                .losses(new LossRule(chance.nextInt(4) == 0, chance.nextBoolean(), 2 + chance.nextInt(4)));
        if (chance.nextInt(6) == 0) {
            policy = policy.deadline(Duration.ofSeconds(2 + chance.nextInt(40)));
        }
        Key key = chance.nextInt(4) == 0
                ? new Key("key-" + chance.nextInt(3), RULES.get(chance.nextInt(RULES.size())))
                : null;
        return new PlannedJob(moment(chance), duty, chance.nextInt(3) == 0 ? "slow" : "fast", delay, policy, key);
    }

    ChaosPlan with(Fleet other) {
        return new ChaosPlan(seed, other, jobs, faults, callFaults);
    }

    ChaosPlan withJobs(List<PlannedJob> others) {
        return new ChaosPlan(seed, fleet, others, faults, callFaults);
    }

    ChaosPlan withFaults(List<PlannedFault> others) {
        return new ChaosPlan(seed, fleet, jobs, others, callFaults);
    }

    ChaosPlan withCallFaults(Set<Fault> others) {
        return new ChaosPlan(seed, fleet, jobs, faults, others);
    }
}
