// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.recovery;

import static io.reprise.simulator.recovery.RecoveryVerdict.broken;
import static io.reprise.simulator.recovery.RecoveryVerdict.held;
import static io.reprise.simulator.recovery.RecoveryVerdict.notApplicable;

import org.jspecify.annotations.Nullable;

/** Checks liveness, time to 90 % and no flood: how fast the resource is called after the trouble. */
final class SpeedChecks {

    private static final double KEPT = 0.7;
    private static final double FLOOD = 2.5;
    private static final int FLOOD_SECONDS = 2;
    private static final double SLACK_CALLS = 5;
    /** If a backlog of this size is not done in time, the fleet is slow. */
    private static final double SECONDS_OF_WORK = 3;

    private final RecoveryPlan plan;
    private final Course course;
    private final Windows windows;

    SpeedChecks(RecoveryPlan plan, Course course, Windows windows) {
        this.plan = plan;
        this.course = course;
        this.windows = windows;
    }

    RecoveryVerdict timeTo90() {
        int latest = windows.latest;
        double backlog = course.at(windows.over).available / windows.limits.most();
        if (windows.reached() >= 0 || (!windows.isBusy(latest) && backlog >= SECONDS_OF_WORK)) {
            return held(Property.TIME_TO_90);
        }
        if (!windows.isBusy(latest)) {
            return notApplicable(Property.TIME_TO_90, "hardly anything was left to do after the trouble");
        }
        if (!windows.limits.isKnownRate()) {
            return notApplicable(Property.TIME_TO_90, "calls are too long to find a new rate in time");
        }
        return broken(
                Property.TIME_TO_90,
                "%.1f of %.1f/s from %d s to %d s, %.0f s after the end, with %d jobs to do",
                windows.good(latest) / windows.length,
                windows.possible(latest) / windows.length,
                latest,
                latest + windows.length,
                latest - plan.end(),
                course.at(latest).available);
    }

    RecoveryVerdict liveness() {
        if (!course.stuck.isEmpty()) {
            return broken(
                    Property.LIVENESS,
                    "no job of %d resources (%s, …) has succeeded since the end, though jobs are due",
                    course.stuck.size(),
                    course.stuck.get(0));
        }
        boolean[] looked = {false};
        RecoveryVerdict fell = fell(looked);
        RecoveryVerdict slow = fell == null ? slowAgain(looked) : fell;
        if (slow != null) {
            return slow;
        }
        return looked[0] ? held(Property.LIVENESS) : notApplicable(Property.LIVENESS, "nothing was parked for long");
    }

    /** Finds a fall: fewer successes than just before, although jobs were parked and every call succeeded. */
    private @Nullable RecoveryVerdict fell(boolean[] looked) {
        int length = windows.length;
        for (int second = windows.over; !windows.isPast(second, 2 * length); second++) {
            if (!windows.isParked(second, 2 * length) || windows.isTroubled(second - length, 3 * length)) {
                continue;
            }
            looked[0] = true;
            double first = windows.good(second);
            double then = windows.good(second + length);
            if (then < KEPT * first - 3 * Math.sqrt(first) - 2) {
                return broken(
                        Property.LIVENESS,
                        "fell from %.1f/s to %.1f/s at %d s without a reason, with %d jobs parked",
                        first / length,
                        then / length,
                        second + length,
                        course.at(second + length).parked);
            }
        }
        return null;
    }

    /** Finds a fleet that reached full speed and did not keep it. */
    private @Nullable RecoveryVerdict slowAgain(boolean[] looked) {
        if (windows.reached() < 0) {
            return null;
        }
        for (int second = windows.latest; !windows.isPast(second, windows.length); second++) {
            if (!windows.isBusy(second)) {
                continue;
            }
            looked[0] = true;
            double possible = windows.possible(second);
            if (windows.good(second) < KEPT * possible - 3 * Math.sqrt(possible)) {
                return broken(
                        Property.LIVENESS,
                        "did not keep full speed: %.1f of %.1f/s from %d s on, with %d jobs to do",
                        windows.good(second) / windows.length,
                        windows.possible(second) / windows.length,
                        second,
                        course.at(second).available);
            }
        }
        return null;
    }

    RecoveryVerdict flood() {
        double most = FLOOD * plan.capacityAfter();
        if (plan.workersRate() <= most) {
            return notApplicable(Property.NO_FLOOD, "the workers cannot make so many calls");
        }
        if (plan.capacityAfter() < plan.load().resources()) {
            return notApplicable(Property.NO_FLOOD, "a ramp admits a call a second, and a resource serves less");
        }
        double slack = SLACK_CALLS + 1.5 * Math.sqrt(most);
        int inARow = 0;
        // Jobs of killed workers return all at once, and no worker can know yet that they are too many.
        int from = (int) (plan.fleet().staffing() == RecoveryPlan.Staffing.REPLACED ? windows.over : plan.end());
        for (int second = from; second < course.length(); second++) {
            // Before the first answer that says so, no worker can know that there are too many calls.
            boolean known = windows.isTroubled(second - 1, 2) || inARow > 0;
            inARow = known && course.at(second).calls > most + slack ? inARow + 1 : 0;
            if (inARow > FLOOD_SECONDS) {
                return broken(
                        Property.NO_FLOOD,
                        "%d calls in the second from %d s on, the %d. such second in a row, where %.1f/s are served",
                        course.at(second).calls,
                        second,
                        inARow,
                        plan.capacityAfter());
            }
        }
        return held(Property.NO_FLOOD);
    }
}
