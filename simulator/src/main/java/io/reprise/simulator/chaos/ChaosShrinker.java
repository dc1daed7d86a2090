// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.chaos;

import io.reprise.simulator.chaos.ChaosPlan.Fleet;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Removes from a failing plan all faults, jobs and workers that it also fails without. */
final class ChaosShrinker {

    private static final int MOST_RUNS = 400;

    private final ChaosBug breakage;
    private int runs;

    ChaosShrinker(ChaosBug breakage) {
        this.breakage = breakage;
    }

    ChaosOutcome smallest(ChaosPlan plan) {
        ChaosOutcome best = run(plan);
        if (!best.isFailed()) {
            throw new IllegalStateException("Seed " + plan.seed() + " does not fail a second time");
        }
        best = nothingLater(best);
        int before;
        do {
            before = size(best.plan());
            best = withoutCallFaults(best);
            best = fewer(best, best.plan().faults(), best.plan()::withFaults);
            best = fewer(best, best.plan().jobs(), best.plan()::withJobs);
            best = fewerWorkers(best);
        } while (size(best.plan()) < before && runs < MOST_RUNS);
        return best;
    }

    private static int size(ChaosPlan plan) {
        return plan.faults().size()
                + plan.jobs().size()
                + plan.callFaults().size()
                + plan.fleet().workers();
    }

    private ChaosOutcome run(ChaosPlan plan) {
        runs++;
        return new ChaosWorld(plan, breakage).run();
    }

    /** A failure by another rule is another failure. */
    private ChaosOutcome better(ChaosOutcome best, ChaosPlan smaller) {
        if (runs >= MOST_RUNS) {
            return best;
        }
        ChaosOutcome outcome = run(smaller);
        String rule = best.violations().get(0).rule();
        return outcome.isFailed() && outcome.violations().get(0).rule().equals(rule) ? outcome : best;
    }

    private ChaosOutcome nothingLater(ChaosOutcome failed) {
        ChaosPlan plan = failed.plan();
        return better(
                failed,
                plan.withFaults(plan.faults().stream()
                                .filter(fault -> fault.atNanos() <= failed.nanos())
                                .toList())
                        .withJobs(plan.jobs().stream()
                                .filter(job -> job.atNanos() <= failed.nanos())
                                .toList()));
    }

    private ChaosOutcome withoutCallFaults(ChaosOutcome start) {
        ChaosOutcome best = start;
        for (Fault fault : EnumSet.allOf(Fault.class)) {
            if (best.plan().callFaults().contains(fault)) {
                Set<Fault> fewer = EnumSet.noneOf(Fault.class);
                fewer.addAll(best.plan().callFaults());
                fewer.remove(fault);
                best = better(best, best.plan().withCallFaults(fewer));
            }
        }
        return best;
    }

    /** Leaves out halves, then quarters, down to single items. */
    private <T> ChaosOutcome fewer(ChaosOutcome start, List<T> all, Function<List<T>, ChaosPlan> plan) {
        ChaosOutcome best = start;
        List<T> kept = all;
        for (int size = Math.max(1, kept.size() / 2); size >= 1; size /= 2) {
            int from = 0;
            while (from < kept.size()) {
                List<T> rest = new ArrayList<>(kept);
                rest.subList(from, Math.min(kept.size(), from + size)).clear();
                ChaosOutcome outcome = better(best, plan.apply(rest));
                if (outcome.plan().equals(best.plan())) {
                    from += size;
                } else {
                    best = outcome;
                    kept = rest;
                }
            }
        }
        return best;
    }

    private ChaosOutcome fewerWorkers(ChaosOutcome start) {
        ChaosOutcome best = start;
        for (int workers = 1; workers < start.plan().fleet().workers(); workers++) {
            Fleet fleet = start.plan().fleet();
            ChaosOutcome outcome = better(
                    best, best.plan().with(new Fleet(workers, fleet.concurrency(), fleet.lease(), fleet.control())));
            if (!outcome.plan().equals(best.plan())) {
                return outcome;
            }
        }
        return best;
    }

    static String describe(ChaosPlan plan) {
        String faults = plan.faults().stream().map(fault -> "  " + fault + "\n").collect(Collectors.joining());
        return "  " + plan.fleet() + "\n  " + plan.jobs().size() + " jobs\n" + faults
                + (plan.callFaults().isEmpty() ? "" : "  calls: " + new java.util.TreeSet<>(plan.callFaults()) + "\n");
    }
}
