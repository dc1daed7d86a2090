// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.recovery;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * One world, drawn from a seed by {@link Plans}. Times are in seconds, rates per second.
 *
 * @param load the jobs
 * @param trouble the trouble of the resource, and the resource before and afterwards
 * @param fleet the workers
 * @param storm if set, jobs that all fail once, and no trouble
 */
record RecoveryPlan(
        long seed,
        Load load,
        Trouble trouble,
        Fleet fleet,
        @Nullable Storm storm) {

    /** How jobs arrive. */
    enum Arrivals {
        /** All jobs are there at the beginning. */
        NONE,
        STEADY,
        /** Two seconds of five times the rate, then eight seconds without jobs. */
        BURSTS,
        /** Half as many every ten seconds from the beginning of the trouble. */
        FALLING,
        /** Ten times the rate for a while, soon after the end of the trouble. */
        FLOOD
    }

    /** The kind of trouble. */
    enum Kind {
        DOWN,
        SLOW,
        /** 30 % of the calls fail. */
        PARTLY,
        /** Nine tenths of the earlier rate are answered with 429. */
        THROTTLED,
        /** Nine tenths of the earlier rate are answered with 429 and a time to call again. */
        THROTTLED_ASKED,
        /** Down and up again every few seconds. */
        FLAPPING,
        /** Down, but each worker sees it begin and end at another time, as with DNS. */
        SCATTERED
    }

    /** How a resource treats calls beyond its capacity. */
    enum Overflow {
        /** They wait, so answers come later. */
        QUEUES,
        /** 503. */
        REFUSES,
        /** 429. */
        THROTTLES
    }

    /** How long a call takes while the resource is well. */
    enum CallTime {
        NO_OP(0.001),
        MS_5(0.005),
        MS_50(0.05),
        MS_500(0.5),
        S_30(30),
        /** 5, 50 or 500 ms. */
        MIXED(0.185);

        final double mean;

        CallTime(double mean) {
            this.mean = mean;
        }

        double longest() {
            return this == MIXED ? 0.5 : mean;
        }
    }

    /** The fate of the workers during the trouble. */
    enum Staffing {
        KEPT,
        /** Each is closed and started again. */
        RESTARTED,
        /** Each is killed, and another replaces it. */
        REPLACED
    }

    /**
     * The jobs.
     *
     * @param rate rate of arrivals, or of runs if all jobs are there at the beginning
     * @param jobs maximum number of jobs, about
     * @param before time before the trouble
     * @param queues number of queues
     * @param resources number of resources
     * @param bystanders rate of jobs of a resource without trouble
     * @param deadlines share of the jobs from before or during the trouble whose deadline falls into it
     */
    record Load(
            Arrivals arrivals,
            double rate,
            int jobs,
            double before,
            int queues,
            int resources,
            double bystanders,
            double deadlines) {}

    /**
     * The resource and its trouble.
     *
     * @param seconds how long the trouble lasts
     * @param call how long calls take
     * @param timeouts whether jobs have a timeout: three times the longest call, at least a second
     * @param headroom capacity before, as a multiple of the rate
     * @param after capacity afterwards, as a multiple of that before
     */
    record Trouble(
            Kind kind,
            double seconds,
            CallTime call,
            boolean timeouts,
            Overflow overflow,
            double headroom,
            double after) {}

    /**
     * The workers.
     *
     * @param places calls at once, of each worker
     */
    record Fleet(int workers, int places, Staffing staffing) {}

    /** The outcome of the retries of a storm. */
    enum Retries {
        SUCCEED,
        FAIL,
        /** Each retry by chance. */
        HALF,
        /** All fail for {@value #TROUBLE} seconds, and all succeed afterwards. */
        LATER;

        static final int TROUBLE = 30;
    }

    /**
     * Jobs that all fail once.
     *
     * @param resource whether they name a resource
     */
    record Storm(int jobs, Retries retries, boolean resource) {}

    /** Returns when the trouble begins. */
    double begin() {
        return load.before;
    }

    /** Returns when the resource is well again. */
    double end() {
        return begin() + trouble.seconds;
    }

    int places() {
        return fleet.workers * fleet.places;
    }

    double capacityBefore() {
        return load.rate * trouble.headroom;
    }

    double capacityAfter() {
        return capacityBefore() * trouble.after;
    }

    /** Returns the calls per second that the workers can make, if each takes as long as usual. */
    double workersRate() {
        return places() / trouble.call.mean;
    }

    /** Returns how long a call takes while the resource is slow. */
    double slowTime() {
        return Math.min(60, Math.max(2, 10 * trouble.call.mean));
    }

    /** Returns how long jobs may run; 0 if there is no limit. */
    double timeout() {
        return trouble.timeouts ? Math.max(1, 3 * trouble.call.longest()) : 0;
    }

    /** Returns the longest time of a call that ends after the trouble. */
    double longestCall() {
        double slow = trouble.kind == Kind.SLOW ? slowTime() : 0;
        return inTime(Math.max(slow, longestCallAfter()));
    }

    /** Returns the longest time of a call that begins after the trouble. */
    double longestCallAfter() {
        double queued = trouble.overflow == Overflow.QUEUES ? places() / capacityAfter() : 0;
        return inTime(trouble.call.longest() + queued);
    }

    private double inTime(double seconds) {
        return trouble.timeouts ? Math.min(seconds, timeout()) : seconds;
    }

    RecoveryPlan with(Load other) {
        return new RecoveryPlan(seed, other, trouble, fleet, storm);
    }

    RecoveryPlan with(Trouble other) {
        return new RecoveryPlan(seed, load, other, fleet, storm);
    }

    RecoveryPlan with(Fleet other) {
        return new RecoveryPlan(seed, load, trouble, other, storm);
    }

    RecoveryPlan with(Storm other) {
        return new RecoveryPlan(seed, load, trouble, fleet, other);
    }

    /** Returns the plan in words, a line for each part. */
    String describe() {
        String workers = String.format(
                Locale.ROOT, "  %d workers with %d places each, %s%n", fleet.workers, fleet.places, fleet.staffing);
        if (storm != null) {
            return String.format(
                            Locale.ROOT,
                            "  storm of %,d jobs %s: each fails once, then retries %s; a call takes %s%n",
                            storm.jobs,
                            storm.resource ? "of one resource" : "without a resource",
                            storm.retries,
                            trouble.call)
                    + workers;
        }
        return String.format(
                        Locale.ROOT,
                        "  arrivals %s, %.1f/s before, at most about %,d jobs; %d queues, %d resources;"
                                + " bystanders %.1f/s; deadlines for %.0f %%%n",
                        load.arrivals,
                        load.rate,
                        load.jobs,
                        load.queues,
                        load.resources,
                        load.bystanders,
                        100 * load.deadlines)
                + String.format(
                        Locale.ROOT,
                        "  %s from %.1f s to %.1f s; a call takes %s%s; capacity %.1f/s before, %.1f/s afterwards,"
                                + " beyond it %s%n",
                        trouble.kind,
                        begin(),
                        end(),
                        trouble.call,
                        trouble.timeouts ? String.format(Locale.ROOT, " (timeout %.1f s)", timeout()) : "",
                        capacityBefore(),
                        capacityAfter(),
                        trouble.overflow)
                + workers;
    }
}
