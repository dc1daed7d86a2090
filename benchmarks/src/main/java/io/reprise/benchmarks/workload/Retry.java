// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.workload;

import io.reprise.benchmarks.measure.Target;
import io.reprise.benchmarks.report.Figure;
import io.reprise.benchmarks.system.Installation;
import java.util.List;

/** W4: jobs that fail once and then succeed, with the shortest delay that the system allows. */
public final class Retry implements Workload {

    private static final int JOBS = 20_000;

    @Override
    public String name() {
        return "W4";
    }

    @Override
    public String title() {
        return "20,000 jobs that fail once, shortest delay";
    }

    @Override
    public List<Figure> measure(Trial trial) throws Exception {
        trial.warmUp(1);
        int jobs = trial.sizes().jobs(JOBS);
        Target target = trial.install();
        try (Installation installation = trial.system().open(target)) {
            return List.of(trial.drain(target, installation, jobs, 1).figure(name()));
        }
    }
}
