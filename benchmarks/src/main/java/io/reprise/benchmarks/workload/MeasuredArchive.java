// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.workload;

import io.reprise.benchmarks.measure.Target;
import io.reprise.benchmarks.report.Figure;
import io.reprise.benchmarks.system.Installation;
import java.util.List;

/** W6: the drain of W2 in a store with many finished jobs. */
public final class MeasuredArchive implements Workload {

    private static final int JOBS = 100_000;
    private static final int SUCCEEDED = 1_000_000;
    private static final int FAILED = 100_000;

    @Override
    public String name() {
        return "W6";
    }

    @Override
    public String title() {
        return "drain 100,000 beside 1,000,000 finished jobs and 100,000 dead letters";
    }

    @Override
    public List<Figure> measure(Trial trial) throws Exception {
        trial.warmUp(0);
        int jobs = trial.sizes().jobs(JOBS);
        Target target = trial.install();
        try (Installation installation = trial.system().open(target)) {
            installation.fillFinished(
                    trial.sizes().stored(SUCCEEDED), trial.sizes().stored(FAILED));
            return List.of(trial.drain(target, installation, jobs, 0).figure(name()));
        }
    }
}
