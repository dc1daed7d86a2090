// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.recovery;

import static io.reprise.simulator.recovery.RecoveryVerdict.broken;
import static io.reprise.simulator.recovery.RecoveryVerdict.held;

import io.reprise.control.BreakerSettings;
import io.reprise.control.ControlSettings;
import io.reprise.simulator.recovery.RecoveryPlan.Arrivals;
import io.reprise.simulator.recovery.RecoveryPlan.Kind;

/** Checks no waste: calls in the trouble, refused calls, jobs given up. */
final class WasteChecks {

    /** The whole fleet learns of an outage within about a second. */
    private static final double SECONDS_TO_NOTICE = 2;

    private static final double REFUSED = 0.15;
    private static final double FEW_CALLS = 20;
    private static final double SECONDS_TO_FALL = 0.5;
    /** After a fall a ramp waits ten seconds for the long calls from before it. Half of the calls may be refused meanwhile. */
    private static final double SECONDS_TO_FALL_IF_LONG = 5;

    private static final double MOST_AT_ONCE = 5;
    private static final double SHORTEST_CALL = 0.5;

    private final RecoveryPlan plan;
    private final Course course;
    private final Windows windows;

    WasteChecks(RecoveryPlan plan, Course course, Windows windows) {
        this.plan = plan;
        this.course = course;
        this.windows = windows;
    }

    RecoveryVerdict waste() {
        if (course.wronglyDead > 0) {
            return broken(Property.NO_WASTE, "%d jobs were given up that had no deadline", course.wronglyDead);
        }
        double calls = windows.sum((int) plan.begin(), (int) plan.trouble().seconds(), second -> second.calls);
        if (plan.trouble().kind() == Kind.DOWN && calls > callsInTrouble()) {
            return broken(
                    Property.NO_WASTE,
                    "%.0f calls in the trouble; noticing it and probing take at most %.0f",
                    calls,
                    callsInTrouble());
        }
        double later = windows.sum(windows.latest, course.length(), second -> second.calls);
        double refused = windows.sum(windows.latest, course.length(), second -> second.failed + second.throttled);
        if (isSteady() && servesOnePerSecond() && refused > REFUSED * later + toFindTheLimit()) {
            return broken(
                    Property.NO_WASTE, "%.0f of %.0f calls were refused from %d s on", refused, later, windows.latest);
        }
        return held(Property.NO_WASTE);
    }

    /** Whether arrivals are steady: a burst arrives before any worker can know that it is too much. */
    private boolean isSteady() {
        Arrivals arrivals = plan.load().arrivals();
        return arrivals != Arrivals.BURSTS && arrivals != Arrivals.FLOOD;
    }

    /**
     * Finding the limit costs refused calls once: those of half a second, or of five if calls are long. It does not
     * matter how few calls follow.
     */
    private double toFindTheLimit() {
        double seconds = windows.limits.isLong() ? SECONDS_TO_FALL_IF_LONG : SECONDS_TO_FALL;
        return FEW_CALLS + seconds * plan.capacityAfter();
    }

    /** A ramp admits at least one call per second. So a resource that serves less must refuse some. */
    private boolean servesOnePerSecond() {
        return plan.capacityAfter() >= plan.load().resources();
    }

    private double callsInTrouble() {
        double workers = plan.places() / Math.min(plan.trouble().call().mean, SHORTEST_CALL);
        double rate = plan.load().arrivals() == Arrivals.NONE
                ? workers
                : Math.min(workers, MOST_AT_ONCE * plan.load().rate());
        BreakerSettings breaker = ControlSettings.DEFAULT.breaker();
        double probes =
                (double) breaker.probes() * rounds(breaker) * plan.load().resources();
        return SECONDS_TO_NOTICE * rate
                + plan.places()
                + FEW_CALLS * plan.load().resources()
                + probes;
    }

    /** Returns the number of probe rounds if each comes as early as possible: after half of its interval. */
    private int rounds(BreakerSettings breaker) {
        double interval = breaker.firstProbe().toMillis() / 1e3;
        double longest = breaker.longestProbe().toMillis() / 1e3;
        double at = 0;
        int rounds = 0;
        while (at < plan.trouble().seconds()) {
            at += interval / 2;
            interval = Math.min(longest, 1.1 * interval);
            rounds++;
        }
        return rounds;
    }
}
