// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.upkeep;

import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.benchmarks.measure.Target;
import io.reprise.benchmarks.report.Figure;
import io.reprise.benchmarks.system.Installation;
import io.reprise.benchmarks.workload.Trial;
import java.time.Duration;
import java.util.List;

/** U1: deletes old jobs. Goal: 50,000 per second. */
public final class RetentionPace extends UpkeepWorkload {

    private static final int JOBS = 300_000;
    private static final String LEFT = "select sum(n) from reprise_counter where state = 'SUCCEEDED'";

    @Override
    public String name() {
        return "U1";
    }

    @Override
    public String title() {
        return "retention of 300,000 succeeded jobs";
    }

    @Override
    List<Figure> measure(Trial trial, Target target) throws Exception {
        int jobs = trial.sizes().jobs(JOBS);
        try (Installation installation = trial.system().open(target)) {
            installation.fillFinished(jobs, 0);
        }
        target.tidy();
        Reprise worker = reprise(target)
                .keepFinished(Duration.ZERO)
                .handle(JobType.of("none", String.class), (payload, job) -> {})
                .start();
        try {
            long began = System.nanoTime();
            await(target, LEFT, 0);
            return List.of(Figure.rate(name(), jobs, System.nanoTime() - began));
        } finally {
            worker.close();
        }
    }
}
