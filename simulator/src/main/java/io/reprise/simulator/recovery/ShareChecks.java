// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.recovery;

import static io.reprise.simulator.recovery.RecoveryVerdict.broken;
import static io.reprise.simulator.recovery.RecoveryVerdict.held;
import static io.reprise.simulator.recovery.RecoveryVerdict.notApplicable;

import io.reprise.simulator.recovery.RecoveryPlan.Arrivals;
import io.reprise.simulator.recovery.RecoveryPlan.Kind;
import io.reprise.simulator.recovery.RecoveryPlan.Overflow;
import io.reprise.simulator.recovery.RecoveryPlan.Staffing;
import org.jspecify.annotations.Nullable;

/** Checks fresh work and isolation: which share other jobs get while the backlog is unparked. */
final class ShareChecks {

    private static final double SHARE = 0.4;
    private static final double WAIT = 1;
    private static final int MIN_JOBS = 20;
    private static final double ROOM = 1.25;
    private static final double KEPT = 0.9;
    private static final int LEAST_WINDOW = 10;

    private final RecoveryPlan plan;
    private final Course course;
    private final Windows windows;

    ShareChecks(RecoveryPlan plan, Course course, Windows windows) {
        this.plan = plan;
        this.course = course;
        this.windows = windows;
    }

    RecoveryVerdict fresh() {
        if (Double.isNaN(course.firstGood)) {
            return notApplicable(Property.FRESH_WORK, "nothing succeeded after the trouble");
        }
        boolean[] looked = {false};
        RecoveryVerdict share = share(looked);
        RecoveryVerdict wait = share == null ? wait(looked) : share;
        if (wait != null) {
            return wait;
        }
        return looked[0]
                ? held(Property.FRESH_WORK)
                : notApplicable(Property.FRESH_WORK, "no fresh work beside a backlog, or more than can be done");
    }

    /** While a backlog is unparked, waiting fresh jobs get at least their share of the successes. */
    private @Nullable RecoveryVerdict share(boolean[] looked) {
        int length = windows.length;
        for (int second = (int) Math.ceil(course.firstGood) + 1; !windows.isPast(second, length); second++) {
            double all = windows.good(second);
            double entitled = Math.min(course.at(second).freshWaiting, SHARE * all);
            // Refused fresh jobs wait for their retry, not for their share.
            boolean refused = windows.isTroubled(second - length, 2 * length);
            if (refused || !windows.isParked(second, length) || entitled < MIN_JOBS / 2.0) {
                continue;
            }
            looked[0] = true;
            double fresh = windows.sum(second, length, each -> each.fresh);
            if (fresh < entitled - 3 * Math.sqrt(entitled)) {
                return broken(
                        Property.FRESH_WORK,
                        "%.0f of the %.0f jobs done from %d s to %d s came after the trouble, though %d of those waited",
                        fresh,
                        all,
                        second,
                        second + length,
                        course.at(second).freshWaiting);
            }
        }
        return null;
    }

    /** At full speed, fresh jobs hardly wait if they are less than half of the possible rate. */
    private @Nullable RecoveryVerdict wait(boolean[] looked) {
        Arrivals arrivals = plan.load().arrivals();
        double rate = plan.load().rate() * (arrivals == Arrivals.BURSTS ? 5 : 1);
        // Where nothing was parked, control holds nothing back, and jobs run in the order in which they came.
        boolean parked = windows.sum((int) plan.end(), course.length(), second -> second.parked) > 0;
        if (!parked
                || arrivals == Arrivals.FLOOD
                || rate > windows.limits.most() / 2
                || (plan.trouble().overflow() == Overflow.QUEUES
                        && plan.trouble().after() < 1)
                || course.freshWaits.size() < MIN_JOBS) {
            return null;
        }
        looked[0] = true;
        double median = course.freshWaits.stream()
                .sorted()
                .skip(course.freshWaits.size() / 2)
                .findFirst()
                .orElseThrow();
        double most = WAIT + 2 * plan.trouble().call().longest();
        return median <= most
                ? null
                : broken(
                        Property.FRESH_WORK,
                        "half of the %d jobs that came after %d s took more than %.1f s; %.1f s are allowed",
                        course.freshWaits.size(),
                        windows.latest,
                        median,
                        most);
    }

    RecoveryVerdict isolation() {
        String why = whyNoIsolation();
        if (why != null) {
            return notApplicable(Property.ISOLATION, why);
        }
        double rate = plan.load().bystanders();
        double call = plan.trouble().call().longest();
        int length = (int) Math.ceil(Math.max(LEAST_WINDOW, Math.max(MIN_JOBS / rate, 3 * call)));
        boolean kept = plan.fleet().staffing() == Staffing.KEPT;
        for (int second = (int) Math.ceil(call) + 1; !windows.isPast(second, length); second++) {
            boolean asleep = Double.isNaN(windows.sum(second, length, each -> each.sustained));
            boolean missing = !kept && second + length > plan.begin() && second < windows.over;
            if (asleep || missing) {
                continue;
            }
            double arrived = windows.sum(second, length, each -> each.othersArrived);
            double good = windows.sum(second, length, each -> each.othersGood);
            if (good < KEPT * arrived - 3 * Math.sqrt(arrived) - rate * (call + WAIT)) {
                return broken(
                        Property.ISOLATION,
                        "only %.0f jobs of other resources succeeded from %d s to %d s, while %.0f came",
                        good,
                        second,
                        second + length,
                        arrived);
            }
        }
        return held(Property.ISOLATION);
    }

    private @Nullable String whyNoIsolation() {
        if (plan.trouble().kind() == Kind.SLOW) {
            return "slow calls take the places of the workers";
        }
        boolean waits = plan.trouble().overflow() == Overflow.QUEUES;
        if (plan.load().arrivals() == Arrivals.NONE && !(waits && plan.capacityAfter() < plan.workersRate())) {
            // They have a queue of their own, and each queue has the same share of the places.
            double share = plan.workersRate() / (plan.load().queues() + 1);
            return share < ROOM * plan.load().bystanders() ? "the queues with a backlog have a larger share" : null;
        }
        if (waits) {
            return "calls that wait at the resource take the places of the workers";
        }
        double busiest = Math.max(plan.capacityBefore(), plan.capacityAfter());
        return plan.workersRate() < ROOM * busiest + plan.load().bystanders()
                ? "the workers have no room for both"
                : null;
    }
}
