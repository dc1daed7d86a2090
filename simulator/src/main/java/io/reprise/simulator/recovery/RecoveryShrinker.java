// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.recovery;

import io.reprise.simulator.recovery.RecoveryPlan.Arrivals;
import io.reprise.simulator.recovery.RecoveryPlan.CallTime;
import io.reprise.simulator.recovery.RecoveryPlan.Fleet;
import io.reprise.simulator.recovery.RecoveryPlan.Kind;
import io.reprise.simulator.recovery.RecoveryPlan.Load;
import io.reprise.simulator.recovery.RecoveryPlan.Staffing;
import io.reprise.simulator.recovery.RecoveryPlan.Storm;
import io.reprise.simulator.recovery.RecoveryPlan.Trouble;
import java.util.List;
import java.util.function.UnaryOperator;

/** Makes a world that breaks a property as plain as possible, as long as it still breaks it. */
final class RecoveryShrinker {

    private static final int MOST_RUNS = 60;
    private static final int FEWEST_JOBS = 200;

    /**
     * The ways to take one thing away. Each returns the same plan if that thing is not there. What makes a world cheaper
     * comes first, so that later runs take less time.
     */
    private static final List<UnaryOperator<RecoveryPlan>> REDUCTIONS = List.of(
            RecoveryShrinker::fewerJobs,
            plan -> plan.fleet().workers() == 1
                    ? plan
                    : plan.with(new Fleet(
                            1, Math.min(10_000, plan.places()), plan.fleet().staffing())),
            RecoveryShrinker::shorter,
            load(load -> new Load(
                    load.arrivals(),
                    load.rate(),
                    load.jobs(),
                    load.before(),
                    load.queues(),
                    1,
                    load.bystanders(),
                    load.deadlines())),
            load(load -> new Load(
                    load.arrivals(),
                    load.rate(),
                    load.jobs(),
                    load.before(),
                    load.queues(),
                    load.resources(),
                    0,
                    load.deadlines())),
            plan -> plan.with(new Fleet(plan.fleet().workers(), plan.fleet().places(), Staffing.KEPT)),
            load(load -> new Load(
                    load.arrivals(),
                    load.rate(),
                    load.jobs(),
                    load.before(),
                    1,
                    load.resources(),
                    load.bystanders(),
                    load.deadlines())),
            load(load -> new Load(
                    load.arrivals(),
                    load.rate(),
                    load.jobs(),
                    load.before(),
                    load.queues(),
                    load.resources(),
                    load.bystanders(),
                    0)),
            load(load -> new Load(
                    load.arrivals() == Arrivals.NONE ? Arrivals.NONE : Arrivals.STEADY,
                    load.rate(),
                    load.jobs(),
                    load.before(),
                    load.queues(),
                    load.resources(),
                    load.bystanders(),
                    load.deadlines())),
            trouble(was -> trouble(was, Kind.DOWN, was.seconds(), was.timeouts(), was.after())),
            trouble(was -> trouble(was, was.kind(), was.seconds(), false, was.after())),
            trouble(was -> trouble(was, was.kind(), was.seconds(), was.timeouts(), 1)),
            trouble(was -> new Trouble(
                    was.kind(),
                    was.seconds(),
                    was.call() == CallTime.MIXED ? CallTime.MS_50 : was.call(),
                    was.timeouts(),
                    was.overflow(),
                    was.headroom(),
                    was.after())));

    private final RecoveryBug breakage;

    RecoveryShrinker(RecoveryBug breakage) {
        this.breakage = breakage;
    }

    /**
     * Returns the plainest world that was found. Takes the same thing away again as long as that works, then the next,
     * until none works.
     *
     * @param drawn a world that breaks a property
     */
    RecoveryOutcome smallest(RecoveryOutcome drawn) {
        RecoveryOutcome best = drawn;
        Property property = best.broken().get(0).property();
        int useless = 0;
        int next = 0;
        int runs = 0;
        while (useless < REDUCTIONS.size() && runs < MOST_RUNS) {
            RecoveryPlan candidate = REDUCTIONS.get(next).apply(best.plan());
            boolean same = candidate.equals(best.plan());
            RecoveryOutcome outcome = same ? best : RecoveryOutcome.of(candidate, breakage);
            runs += same ? 0 : 1;
            // A break of another property is another failure.
            if (!same && outcome.broken().stream().anyMatch(verdict -> verdict.property() == property)) {
                best = outcome;
                useless = 0;
            } else {
                useless++;
                next = (next + 1) % REDUCTIONS.size();
            }
        }
        return best;
    }

    private static RecoveryPlan fewerJobs(RecoveryPlan plan) {
        Storm storm = plan.storm();
        Load load = plan.load();
        if (storm != null) {
            return storm.jobs() > 2 * FEWEST_JOBS
                    ? plan.with(new Storm(storm.jobs() / 2, storm.retries(), storm.resource()))
                    : plan;
        }
        return load.jobs() > 2 * FEWEST_JOBS
                ? plan.with(new Load(
                        load.arrivals(),
                        load.rate(),
                        load.jobs() / 2,
                        load.before(),
                        load.queues(),
                        load.resources(),
                        load.bystanders(),
                        load.deadlines()))
                : plan;
    }

    private static RecoveryPlan shorter(RecoveryPlan plan) {
        Trouble was = plan.trouble();
        return plan.storm() == null && was.seconds() >= 4
                ? plan.with(trouble(was, was.kind(), Math.floor(was.seconds() / 2), was.timeouts(), was.after()))
                : plan;
    }

    /** A change of the load, which a storm does not have. */
    private static UnaryOperator<RecoveryPlan> load(UnaryOperator<Load> change) {
        return plan -> plan.storm() == null ? plan.with(change.apply(plan.load())) : plan;
    }

    /** A change of the trouble, which a storm does not have. */
    private static UnaryOperator<RecoveryPlan> trouble(UnaryOperator<Trouble> change) {
        return plan -> plan.storm() == null ? plan.with(change.apply(plan.trouble())) : plan;
    }

    private static Trouble trouble(Trouble trouble, Kind kind, double seconds, boolean timeouts, double after) {
        return new Trouble(kind, seconds, trouble.call(), timeouts, trouble.overflow(), trouble.headroom(), after);
    }
}
