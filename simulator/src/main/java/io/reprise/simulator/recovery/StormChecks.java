// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.recovery;

import static io.reprise.simulator.recovery.RecoveryVerdict.broken;
import static io.reprise.simulator.recovery.RecoveryVerdict.held;

import io.reprise.control.BudgetSettings;
import io.reprise.control.ControlSettings;
import io.reprise.failure.FailureClass;
import io.reprise.internal.control.RetryBudget;
import io.reprise.simulator.recovery.RecoveryPlan.Retries;
import io.reprise.simulator.recovery.RecoveryPlan.Storm;

/** Checks storms: retries that help are not delayed, and retries that do not help are bounded. */
final class StormChecks {

    private static final double HALF_AS_FAST = 2;
    /** Workers look for jobs and budgets about once a second. */
    private static final double SLACK_SECONDS = 3;

    private final RecoveryPlan plan;
    private final Storm storm;
    private final Course course;

    StormChecks(RecoveryPlan plan, Storm storm, Course course) {
        this.plan = plan;
        this.storm = storm;
        this.course = course;
    }

    RecoveryVerdict storm() {
        return storm.retries() == Retries.SUCCEED || storm.retries() == Retries.LATER ? drains() : isPaid();
    }

    private RecoveryVerdict drains() {
        double off = StormWorld.ideal(plan) + StormWorld.backoff(plan);
        if (course.drained <= HALF_AS_FAST * off + SLACK_SECONDS) {
            return held(Property.STORMS);
        }
        return broken(
                Property.STORMS,
                "retries that succeed: %d of %d through after %d s; all would be after %.1f s with control off",
                course.succeeded,
                storm.jobs(),
                course.length(),
                off);
    }

    /** The tightest budget pays: its initial credit, the credit from successes, and its floor. */
    private RecoveryVerdict isPaid() {
        BudgetSettings budget =
                storm.resource() ? ControlSettings.DEFAULT.resourceBudget() : ControlSettings.DEFAULT.queueBudget();
        double cost = RetryBudget.cost(FailureClass.TRANSIENT);
        double earned = course.succeeded * RetryBudget.earned(true);
        // Several workers may spend the last credit at the same moment, because each knows only
        // the state of a second ago.
        double atOnce = plan.fleet().workers() * budget.capacity();
        double paid = (budget.capacity() + atOnce + earned) / cost + budget.floor() * course.length();
        return course.retries <= paid
                ? held(Property.STORMS)
                : broken(Property.STORMS, "%d retries, of which the budget pays at most %.0f", course.retries, paid);
    }
}
