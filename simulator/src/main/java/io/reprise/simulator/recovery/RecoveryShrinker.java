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
import java.util.ArrayList;
import java.util.List;

/** Makes a world that breaks a property as plain as possible, as long as it still breaks it. */
final class RecoveryShrinker {

    private static final int MOST_RUNS = 60;
    private static final int FEWEST_JOBS = 200;

    private final RecoveryBug breakage;
    private int runs;

    RecoveryShrinker(RecoveryBug breakage) {
        this.breakage = breakage;
    }

    RecoveryOutcome smallest(RecoveryPlan plan) {
        RecoveryOutcome best = run(plan);
        if (best.broken().isEmpty()) {
            throw new IllegalStateException("World " + plan.seed() + " does not fail a second time");
        }
        Property property = best.broken().get(0).property();
        boolean plainer = true;
        while (plainer && runs < MOST_RUNS) {
            plainer = false;
            for (RecoveryPlan candidate : plainer(best.plan())) {
                if (runs >= MOST_RUNS) {
                    break;
                }
                // A break of another property is another failure.
                RecoveryOutcome outcome = run(candidate);
                if (outcome.broken().stream().anyMatch(verdict -> verdict.property() == property)) {
                    best = outcome;
                    plainer = true;
                    break;
                }
            }
        }
        return best;
    }

    private RecoveryOutcome run(RecoveryPlan plan) {
        runs++;
        return RecoveryOutcome.of(plan, breakage);
    }

    /** Returns the plans with one thing less. */
    static List<RecoveryPlan> plainer(RecoveryPlan plan) {
        List<RecoveryPlan> all = new ArrayList<>();
        Load load = plan.load();
        Trouble trouble = plan.trouble();
        Fleet fleet = plan.fleet();
        Storm storm = plan.storm();
        if (storm != null && storm.jobs() > 2 * FEWEST_JOBS) {
            all.add(plan.with(new Storm(storm.jobs() / 2, storm.retries(), storm.resource())));
        }
        if (fleet.staffing() != Staffing.KEPT) {
            all.add(plan.with(new Fleet(fleet.workers(), fleet.places(), Staffing.KEPT)));
        }
        if (fleet.workers() > 1) {
            int places = Math.min(10_000, plan.places());
            all.add(plan.with(new Fleet(1, places, fleet.staffing())));
        }
        if (storm == null) {
            loads(load).forEach(other -> all.add(plan.with(other)));
            troubles(trouble).forEach(other -> all.add(plan.with(other)));
        }
        return all;
    }

    private static List<Load> loads(Load load) {
        List<Load> all = new ArrayList<>();
        if (load.resources() > 1) {
            all.add(load(load, load.arrivals(), load.jobs(), load.queues(), 1, load.bystanders(), load.deadlines()));
        }
        if (load.queues() > 1) {
            all.add(load(load, load.arrivals(), load.jobs(), 1, load.resources(), load.bystanders(), load.deadlines()));
        }
        if (load.deadlines() > 0) {
            all.add(load(load, load.arrivals(), load.jobs(), load.queues(), load.resources(), load.bystanders(), 0));
        }
        if (load.bystanders() > 0) {
            all.add(load(load, load.arrivals(), load.jobs(), load.queues(), load.resources(), 0, load.deadlines()));
        }
        if (load.arrivals() != Arrivals.NONE && load.arrivals() != Arrivals.STEADY) {
            all.add(load(
                    load,
                    Arrivals.STEADY,
                    load.jobs(),
                    load.queues(),
                    load.resources(),
                    load.bystanders(),
                    load.deadlines()));
        }
        if (load.jobs() > 2 * FEWEST_JOBS) {
            all.add(load(
                    load,
                    load.arrivals(),
                    load.jobs() / 2,
                    load.queues(),
                    load.resources(),
                    load.bystanders(),
                    load.deadlines()));
        }
        return all;
    }

    private static Load load(
            Load load, Arrivals arrivals, int jobs, int queues, int resources, double bystanders, double deadlines) {
        return new Load(arrivals, load.rate(), jobs, load.before(), queues, resources, bystanders, deadlines);
    }

    private static List<Trouble> troubles(Trouble trouble) {
        List<Trouble> all = new ArrayList<>();
        if (trouble.kind() != Kind.DOWN) {
            all.add(trouble(trouble, Kind.DOWN, trouble.seconds(), trouble.timeouts(), trouble.after()));
        }
        if (trouble.timeouts()) {
            all.add(trouble(trouble, trouble.kind(), trouble.seconds(), false, trouble.after()));
        }
        if (trouble.after() != 1) {
            all.add(trouble(trouble, trouble.kind(), trouble.seconds(), trouble.timeouts(), 1));
        }
        if (trouble.seconds() >= 4) {
            double shorter = Math.floor(trouble.seconds() / 2);
            all.add(trouble(trouble, trouble.kind(), shorter, trouble.timeouts(), trouble.after()));
        }
        if (trouble.call() == CallTime.MIXED) {
            all.add(new Trouble(
                    trouble.kind(),
                    trouble.seconds(),
                    CallTime.MS_50,
                    trouble.timeouts(),
                    trouble.overflow(),
                    trouble.headroom(),
                    trouble.after()));
        }
        return all;
    }

    private static Trouble trouble(Trouble trouble, Kind kind, double seconds, boolean timeouts, double after) {
        return new Trouble(kind, seconds, trouble.call(), timeouts, trouble.overflow(), trouble.headroom(), after);
    }
}
