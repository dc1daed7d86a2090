// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.workload;

import io.reprise.benchmarks.measure.Target;
import io.reprise.benchmarks.report.Figure;
import io.reprise.benchmarks.system.Installation;
import java.util.List;

/** W5: a few due jobs beside very many that are due another day. */
public final class Backlog implements Workload {

    private static final int DUE = 10_000;
    private static final int SCHEDULED = 1_000_000;

    @Override
    public String name() {
        return "W5";
    }

    @Override
    public String title() {
        return "drain 10,000 due jobs beside 1,000,000 scheduled ones";
    }

    @Override
    public List<Figure> measure(Trial trial) throws Exception {
        trial.warmUp(0);
        int jobs = trial.sizes().jobs(DUE);
        Target target = trial.install();
        try (Installation installation = trial.system().open(target)) {
            installation.fillScheduled(trial.sizes().stored(SCHEDULED));
            return List.of(trial.drain(target, installation, jobs, 0).figure(name()));
        }
    }
}
