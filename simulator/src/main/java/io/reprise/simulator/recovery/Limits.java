// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.recovery;

import io.reprise.control.BreakerSettings;
import io.reprise.control.ControlSettings;

/** The requirements for the fleet in a world: how fast, and how soon. */
final class Limits {

    private static final double SOON = 15;
    private static final double LATEST = 60;
    private static final int LEAST_WINDOW = 5;
    private static final double LEAST_JOBS = 20;
    private static final double WATCHED = 30;
    private static final double LONG_CALL = 10;
    private static final double SECONDS_TO_REPORT = 2;

    private final RecoveryPlan plan;

    Limits(RecoveryPlan plan) {
        this.plan = plan;
    }

    /** Returns when the trouble is over: that of the resource, and that of killed workers. */
    double over(Course course) {
        return Math.ceil(Math.max(plan.end(), course.mourned));
    }

    /** Returns the seconds from then until 90 % of the possible rate is required. */
    double timeTo90() {
        return Math.ceil(Math.max(
                Math.max(SOON, 2 * plan.longestCall() + untilProbe()),
                Math.min(LATEST, plan.trouble().seconds() / 10)));
    }

    /**
     * Returns how long it may take until a probe notices the end, if calls are long: then the time of two calls is used
     * up by the probe and by the first call after it.
     */
    private double untilProbe() {
        BreakerSettings breaker = ControlSettings.DEFAULT.breaker();
        double rarest = breaker.longestProbe().toMillis() / 1e3 / breaker.probes();
        return !isLong() ? 0 : Math.min(rarest, plan.trouble().seconds() / 10);
    }

    /** Returns the seconds over which rates are measured: enough for a few jobs, and for more than one call. */
    int window() {
        return (int) Math.ceil(Math.max(Math.max(LEAST_WINDOW, 1.5 * plan.longestCallAfter()), LEAST_JOBS / most()));
    }

    /** Returns the calls per second that workers and resources allow after the trouble. */
    double most() {
        return Math.min(workers(), plan.capacityAfter());
    }

    /**
     * Within twice the time of a long call there are only two answers in a row: that of a probe, and that of the first
     * call. So the fleet can return to the earlier rate, but it cannot know that more is possible.
     */
    private double workers() {
        double places = Math.max(1, plan.workersRate() - plan.load().bystanders());
        return !isLong() ? places : Math.min(places, plan.load().rate());
    }

    /** Whether the fleet must return to the earlier rate, or calls are short enough to find another. */
    boolean isKnownRate() {
        RecoveryPlan.Kind kind = plan.trouble().kind();
        boolean down =
                kind == RecoveryPlan.Kind.DOWN || kind == RecoveryPlan.Kind.SCATTERED || kind == RecoveryPlan.Kind.SLOW;
        return !isLong() || (down && plan.trouble().after() >= 1 && !diesWithWorkers());
    }

    /** Whether calls take so long that the fleet gets hardly any answer in time. */
    boolean isLong() {
        return plan.longestCall() >= LONG_CALL;
    }

    /**
     * Whether workers are killed before they can report their rates. Long calls fail late, and a report follows up to a
     * second later. The fleet then knows the rates of the other workers only.
     */
    private boolean diesWithWorkers() {
        return plan.fleet().staffing() == RecoveryPlan.Staffing.REPLACED
                && RecoveryWorld.FIRST_REPLACED * plan.trouble().seconds() < SECONDS_TO_REPORT;
    }

    /**
     * Returns the calls per second that are possible now.
     *
     * @param unpaid retries that wait for a budget. The successes of earlier retries pay for them. If calls are long,
     *     those have not ended yet, so the retries cannot run yet
     */
    double sustained(WorldJobs jobs, long unpaid) {
        if (isLong() && jobs.available() - unpaid < most()) {
            return 0;
        }
        return Math.min(
                workers(), jobs.wanted(plan.capacityAfter() / plan.load().resources()));
    }

    /** Returns when the world ends. */
    double finish() {
        double killed = plan.fleet().staffing() == RecoveryPlan.Staffing.KEPT ? 0 : 35;
        return Math.ceil(plan.end() + killed + timeTo90() + Math.max(WATCHED, 2.0 * window() + 2));
    }
}
