// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.workload;

import io.reprise.benchmarks.measure.Target;
import io.reprise.benchmarks.report.Figure;
import io.reprise.benchmarks.system.Installation;
import io.reprise.benchmarks.system.RepriseSystem;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** D2: a few due jobs beside very many that sleep in a step, and the share of the same drain without them. */
public final class Sleepers implements RepriseWorkload {

    private static final int DUE = 10_000;
    private static final int ASLEEP = 1_000_000;

    @Override
    public String name() {
        return "D2";
    }

    @Override
    public String title() {
        return "drain 10,000 due jobs beside 1,000,000 that sleep in a step; their share of a drain alone";
    }

    @Override
    public boolean alone() {
        return true;
    }

    @Override
    public List<Figure> measure(Trial trial) throws Exception {
        trial.warmUp(0);
        int jobs = trial.sizes().jobs(DUE);
        Target target = trial.install();
        double alone;
        try (Installation installation = trial.system().open(target)) {
            alone = trial.drain(target, installation, jobs, 0).rate();
        }
        target = trial.install();
        int asleep = trial.sizes().stored(ASLEEP);
        RepriseSystem.fillAsleep(target, asleep);
        try (Installation installation = RepriseSystem.open(target, asleep)) {
            Drained drained = trial.drain(target, installation, jobs, 0);
            Map<String, Double> values =
                    new LinkedHashMap<>(drained.figure(name()).values());
            values.put("ofAlone", drained.rate() / alone);
            return List.of(new Figure(name(), values));
        }
    }
}
