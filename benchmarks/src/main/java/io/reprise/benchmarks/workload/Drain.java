// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.workload;

import io.reprise.benchmarks.measure.Target;
import io.reprise.benchmarks.report.Figure;
import io.reprise.benchmarks.system.Installation;
import java.util.List;

/** W2: a worker runs jobs that do nothing until none is left; also with the smaller number that W5 runs. */
public final class Drain implements Workload {

    private static final int JOBS = 100_000;
    private static final int FEW = 10_000;

    @Override
    public String name() {
        return "W2";
    }

    @Override
    public String title() {
        return "drain 100,000 no-op jobs; W2-10k: 10,000, to compare W5 with";
    }

    @Override
    public List<Figure> measure(Trial trial) throws Exception {
        trial.warmUp(0);
        return List.of(drain(trial, "W2-10k", FEW), drain(trial, name(), JOBS));
    }

    private static Figure drain(Trial trial, String name, int full) throws Exception {
        int jobs = trial.sizes().jobs(full);
        Target target = trial.install();
        try (Installation installation = trial.system().open(target)) {
            return trial.drain(target, installation, jobs, 0).figure(name);
        }
    }
}
