// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.workload;

import io.reprise.benchmarks.measure.Payloads;
import io.reprise.benchmarks.measure.Target;
import io.reprise.benchmarks.report.Figure;
import io.reprise.benchmarks.system.Installation;
import io.reprise.benchmarks.system.Ledger;
import io.reprise.benchmarks.system.QueueSystem;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** D1: jobs of ten steps that do nothing, each stored by itself. For Reprise also the share of single enqueues. */
public final class TenSteps implements Workload {

    private static final int STEPS = 10;
    private static final int JOBS = 5_000;
    private static final int WARM_UP = 500;

    @Override
    public String name() {
        return "D1";
    }

    @Override
    public String title() {
        return "steps of jobs of ten steps each, stored one by one; their share of single enqueues";
    }

    @Override
    public boolean byDefault() {
        return false;
    }

    @Override
    public boolean alsoCold() {
        return false;
    }

    @Override
    public List<Figure> measure(Trial trial) throws Exception {
        int jobs = trial.sizes().jobs(JOBS);
        QueueSystem system = trial.system();
        int warmUp = Math.min(jobs, WARM_UP);
        long began = System.nanoTime();
        for (int done = 0; !trial.sizes().isWarm(began, done); done += warmUp) {
            steps(trial, warmUp);
        }
        Map<String, Double> values = new LinkedHashMap<>();
        double rate = steps(trial, jobs);
        values.put(Figure.RATE, rate);
        if (system.name().equals("reprise")) {
            double single = SingleEnqueue.rate(trial);
            values.put("ofEnqueue", rate / single);
        }
        return List.of(new Figure(name(), values));
    }

    /** Returns the steps per second. */
    private static double steps(Trial trial, int jobs) throws Exception {
        Target target = trial.install();
        try (Installation installation = trial.system().open(target)) {
            installation.enqueueAll(Payloads.range(0, jobs));
            target.tidy();
            Ledger ledger = new Ledger(jobs, 0);
            installation.startSteps(ledger, STEPS);
            ledger.await(Trial.LIMIT);
            Trial.awaitSettled(installation);
            long nanos = System.nanoTime() - ledger.firstRunNanos();
            ledger.check();
            Trial.checkEmpty(installation);
            return (double) jobs * STEPS * 1e9 / nanos;
        }
    }
}
