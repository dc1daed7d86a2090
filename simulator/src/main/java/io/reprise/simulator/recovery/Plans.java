// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.recovery;

import io.reprise.simulator.recovery.RecoveryPlan.Arrivals;
import io.reprise.simulator.recovery.RecoveryPlan.CallTime;
import io.reprise.simulator.recovery.RecoveryPlan.Fleet;
import io.reprise.simulator.recovery.RecoveryPlan.Kind;
import io.reprise.simulator.recovery.RecoveryPlan.Load;
import io.reprise.simulator.recovery.RecoveryPlan.Overflow;
import io.reprise.simulator.recovery.RecoveryPlan.Retries;
import io.reprise.simulator.recovery.RecoveryPlan.Staffing;
import io.reprise.simulator.recovery.RecoveryPlan.Storm;
import io.reprise.simulator.recovery.RecoveryPlan.Trouble;
import java.util.SplittableRandom;

/**
 * Draws worlds. Every dimension is drawn independently. Only worlds that would run too long are drawn again: high rates
 * have short phases, long troubles few workers, and thousands of resources short troubles.
 */
final class Plans {

    private static final double STORMS = 0.08;
    private static final int MOST_PLACES = 10_000;
    private static final double LEAST_RATE = 5;
    private static final double MOST_RATE = 50_000;
    private static final double LEAST_TROUBLE = 2;
    private static final double MOST_TROUBLE = 6 * 3600;
    private static final double LONG = 300;
    /** If a resource serves less than this per second, a slow fleet cannot be told from a small one. */
    private static final double LEAST_OF_EACH = 5;
    /** A ramp admits at least one call per second. */
    private static final double LEAST_AFTER = 3;

    /** The rate times these seconds is the least number of jobs. The first two of them are before the trouble. */
    private static final double LEAST_SECONDS = 8;

    /** The least number of jobs of a fast world, in seconds of its rate: jobs cost most there. */
    private static final double LEAST_SECONDS_IF_FAST = 2;

    /** Three of four worlds with a greater rate get a lower one, and so more seconds of work with fewer jobs. */
    private static final double FAST = 1_000;

    private static final double MOST_SECONDS = 300;

    private final SplittableRandom chance;

    private Plans(long seed) {
        chance = new SplittableRandom(seed ^ 0x2545F4914F6CDD1DL);
    }

    static RecoveryPlan of(long seed) {
        return new Plans(seed).draw(seed);
    }

    private RecoveryPlan draw(long seed) {
        boolean stormy = chance.nextDouble() < STORMS;
        int workers = workers();
        CallTime call = call();
        if (stormy) {
            return storm(seed, workers, call);
        }
        Arrivals arrivals = pick(Arrivals.values());
        // Low rates are more frequent than high ones: a lasting backlog is cheap there.
        double drawn = LEAST_RATE * Math.pow(MOST_RATE / LEAST_RATE, Math.pow(chance.nextDouble(), 2));
        double rate = slowed(seed, Math.min(drawn, MOST_PLACES / 6.0 / call.mean));
        double headroom = pick(1.2, 2.0, 4.0);
        // A backlog alone runs as fast as the workers can, so the earlier rate is theirs.
        double wanted = arrivals == Arrivals.NONE ? rate : 1.5 * headroom * rate;
        int places = Math.max(1, (int) Math.round(wanted * call.mean / workers));
        if (arrivals == Arrivals.NONE) {
            rate = workers * places / call.mean;
            headroom = pick(1.2, 2.0);
        }
        int resources = resources(workers);
        Kind kind = pick(Kind.values());
        double seconds = Math.round(logarithmic(LEAST_TROUBLE, longest(workers, resources)));
        if (seconds > LONG && kind != Kind.DOWN && kind != Kind.SCATTERED && chance.nextInt(4) > 0) {
            // Calls succeed all the time here, so hours of it are drawn less often.
            seconds = Math.round(logarithmic(LEAST_TROUBLE, LONG));
        }
        Overflow overflow = pick(Overflow.values());
        if (call == CallTime.S_30 && overflow == Overflow.QUEUES) {
            overflow = Overflow.REFUSES;
        }
        if (resources == 50 && overflow == Overflow.QUEUES && workers * places < 4 * resources) {
            // Calls that wait at a few resources would take all places.
            overflow = Overflow.REFUSES;
        }
        double after = pick(1.0, 1.0, 1.0, 0.3, 0.1, 2.0);
        if (rate * headroom * after < LEAST_AFTER) {
            after = 1;
        }
        if (resources == 50 && rate * headroom * after / resources < LEAST_OF_EACH) {
            resources = 1;
        }
        double least = rate > FAST ? LEAST_SECONDS_IF_FAST : LEAST_SECONDS;
        int jobs = (int) Math.max(least * rate, Math.min(MOST_SECONDS * rate, logarithmic(500, 8_000)));
        // Long enough for some calls to end: the fleet cannot return to a rate that it has not seen.
        double before = Math.ceil(Math.max(Math.max(2, 3 * call.mean), Math.min(20, jobs / 6.0 / rate)));
        Load load = new Load(
                arrivals,
                rate,
                jobs,
                before,
                pick(1, 1, 8),
                resources,
                Math.max(2, Math.min(50, 0.1 * rate)),
                pick(0.0, 0.0, 0.0, 0.5));
        Trouble trouble = new Trouble(kind, seconds, call, chance.nextBoolean(), overflow, headroom, after);
        return new RecoveryPlan(seed, load, trouble, new Fleet(workers, places, staffing()), null);
    }

    /** A job costs the same at each rate. So most fast worlds are slowed down, with all their ratios kept. */
    private static double slowed(long seed, double rate) {
        // Its own chance, so that all else of the world stays as it is.
        SplittableRandom lot = new SplittableRandom(seed ^ 0x5851F42D4C957F2DL);
        boolean slower = rate > FAST && lot.nextInt(4) > 0;
        return slower ? FAST / 2 * Math.pow(2, lot.nextDouble()) : rate;
    }

    private RecoveryPlan storm(long seed, int workers, CallTime drawn) {
        CallTime call = drawn == CallTime.S_30 ? CallTime.MS_50 : drawn;
        int jobs = (int) Math.round(1_000 * Math.pow(1_000, Math.pow(chance.nextDouble(), 8)));
        int places = Math.max(1, pick(10, 100, 1_000) / workers);
        Load load = new Load(Arrivals.NONE, workers * places / call.mean, jobs, 0, 1, 1, 0, 0);
        Trouble trouble = new Trouble(Kind.DOWN, 0, call, false, Overflow.QUEUES, 1, 1);
        Retries retries = pick(Retries.values());
        // Fewer would not use up the budget of a queue.
        int many = retries == Retries.LATER ? Math.max(jobs, 10_000) : jobs;
        return new RecoveryPlan(
                seed,
                load,
                trouble,
                new Fleet(workers, places, Staffing.KEPT),
                new Storm(many, retries, chance.nextInt(3) == 0));
    }

    /** Hours of 32 workers, or minutes of 5,000 resources, would take minutes to run. */
    private static double longest(int workers, int resources) {
        if (resources > 50) {
            return 30;
        }
        if (workers > 4 || resources > 1) {
            return 120;
        }
        return workers > 1 ? 3_600 : MOST_TROUBLE;
    }

    /** Calls of half a minute are drawn less often, because such a world lasts for minutes. */
    private CallTime call() {
        CallTime drawn = pick(CallTime.values());
        return drawn == CallTime.S_30 && chance.nextBoolean() ? pick(CallTime.values()) : drawn;
    }

    private int workers() {
        double lot = chance.nextDouble();
        if (lot < 0.1) {
            return 32;
        }
        return lot < 0.5 ? 4 : 1;
    }

    private int resources(int workers) {
        double lot = chance.nextDouble();
        if (lot < 0.01 && workers == 1) {
            return 5_000;
        }
        return lot < 0.1 && workers < 32 ? 50 : 1;
    }

    private Staffing staffing() {
        return pick(Staffing.KEPT, Staffing.KEPT, Staffing.RESTARTED, Staffing.REPLACED);
    }

    private double logarithmic(double least, double most) {
        return least * Math.pow(most / least, chance.nextDouble());
    }

    @SafeVarargs
    private <T> T pick(T... choices) {
        return choices[chance.nextInt(choices.length)];
    }
}
