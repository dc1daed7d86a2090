// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.workload;

import io.reprise.benchmarks.measure.Payloads;
import io.reprise.benchmarks.measure.RunChecks;
import io.reprise.benchmarks.measure.Target;
import io.reprise.benchmarks.report.Figure;
import io.reprise.benchmarks.system.Installation;
import java.util.List;

/** W1b: many jobs in one call. */
public final class BulkEnqueue implements Workload {

    private static final int JOBS = 100_000;
    private static final int WARM_UP = 5_000;

    @Override
    public String name() {
        return "W1b";
    }

    @Override
    public String title() {
        return "bulk enqueue of 100,000";
    }

    @Override
    public List<Figure> measure(Trial trial) throws Exception {
        RunSizes sizes = trial.sizes();
        int warmUp = sizes.cold() ? sizes.coldJobs() : sizes.jobs(WARM_UP);
        long began = System.nanoTime();
        try (Installation installation = trial.system().open(trial.install())) {
            for (int done = 0; !sizes.isWarm(began, done); done += warmUp) {
                installation.enqueueAll(Payloads.range(0, warmUp));
            }
        }
        Target target = trial.install();
        int jobs = trial.sizes().jobs(JOBS);
        List<String> payloads = Payloads.range(0, jobs);
        try (Installation installation = trial.system().open(target)) {
            target.tidy();
            long start = System.nanoTime();
            installation.enqueueAll(payloads);
            long nanos = System.nanoTime() - start;
            RunChecks.equal("jobs stored", jobs, installation.left());
            return List.of(Figure.rate(name(), jobs, nanos));
        }
    }
}
