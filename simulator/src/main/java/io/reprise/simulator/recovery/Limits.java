// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.recovery;

/** What can be asked of the fleet in a world: how fast, and how soon. */
final class Limits {

    private static final double SOON = 15;
    private static final double LATEST = 60;
    private static final int LEAST_WINDOW = 5;
    private static final double LEAST_JOBS = 20;
    private static final double WATCHED = 30;
    private static final double LONG_CALL = 10;

    private final Plan plan;

    Limits(Plan plan) {
        this.plan = plan;
    }

    /** When the trouble is over: that of the resource, and that of workers that were killed. */
    double over(Course course) {
        return Math.ceil(Math.max(plan.end(), course.mourned));
    }

    /** Seconds from then until 90 % of what can be done must be done. */
    double timeTo90() {
        return Math.ceil(Math.max(
                Math.max(SOON, 2 * plan.longestCall()),
                Math.min(LATEST, plan.trouble().seconds() / 10)));
    }

    /** Seconds over which rates are measured: enough for a few jobs, and for more than one call. */
    int window() {
        return (int) Math.ceil(Math.max(Math.max(LEAST_WINDOW, 1.5 * plan.longestCallAfter()), LEAST_JOBS / most()));
    }

    /** Calls per second that workers and resources can make at most after the trouble. */
    double most() {
        return Math.min(workers(), plan.capacityAfter());
    }

    /**
     * In twice the time of a long call only two answers follow each other: that of a probe and that of the first call. So a
     * fleet can be back at the rate before, but it cannot know that there is room for more.
     */
    private double workers() {
        double places = Math.max(1, plan.workersRate() - plan.load().bystanders());
        return plan.longestCall() < LONG_CALL
                ? places
                : Math.min(places, plan.load().rate());
    }

    /** Whether the rate before is what the fleet has to come back to, or calls are short enough to find another. */
    boolean isKnownRate() {
        Plan.Kind kind = plan.trouble().kind();
        boolean down = kind == Plan.Kind.DOWN || kind == Plan.Kind.SCATTERED || kind == Plan.Kind.SLOW;
        return plan.longestCall() < LONG_CALL || (down && plan.trouble().after() >= 1);
    }

    /** Calls per second that can be made now. */
    double sustained(Jobs jobs) {
        return Math.min(
                workers(), jobs.wanted(plan.capacityAfter() / plan.load().resources()));
    }

    /** When the world ends. */
    double finish() {
        double killed = plan.fleet().staffing() == Plan.Staffing.KEPT ? 0 : 35;
        return Math.ceil(plan.end() + killed + timeTo90() + Math.max(WATCHED, 2.0 * window() + 2));
    }
}
