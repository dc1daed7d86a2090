// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.workload;

import io.reprise.benchmarks.measure.Statistics;
import io.reprise.benchmarks.measure.Target;
import io.reprise.benchmarks.report.Figure;
import io.reprise.benchmarks.system.Installation;
import io.reprise.benchmarks.system.RepriseSystem;
import io.reprise.control.ControlSettings;
import java.util.ArrayList;
import java.util.List;

/** W2 with jobs that name a resource, none of which fails: breakers, budgets and limits on and off, turn by turn. */
public final class ControlCost implements RepriseWorkload {

    private static final int JOBS = 100_000;
    private static final int TURNS = 5;

    @Override
    public String name() {
        return "control";
    }

    @Override
    public String title() {
        return "drain 100,000 jobs of a resource with retry control on and off";
    }

    @Override
    public List<Figure> measure(Trial trial) throws Exception {
        trial.warmUp(0);
        int jobs = trial.sizes().jobs(JOBS);
        List<Double> on = new ArrayList<>();
        List<Double> off = new ArrayList<>();
        for (int turn = 0; turn < TURNS; turn++) {
            on.add(rate(trial, ControlSettings.DEFAULT, jobs));
            off.add(rate(trial, ControlSettings.off(), jobs));
        }
        return List.of(
                Figure.of("control-on", Figure.RATE, Statistics.median(on)),
                Figure.of("control-off", Figure.RATE, Statistics.median(off)));
    }

    private static double rate(Trial trial, ControlSettings control, int jobs) throws Exception {
        Target target = trial.install();
        try (Installation installation = RepriseSystem.open(target, "dependency", control)) {
            return trial.drain(target, installation, jobs, 0).rate();
        }
    }
}
