// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.workload;

import io.reprise.benchmarks.measure.Payloads;
import io.reprise.benchmarks.measure.Target;
import io.reprise.benchmarks.report.Figure;
import io.reprise.benchmarks.system.Installation;
import io.reprise.benchmarks.system.Ledger;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Live heap of a worker process during and after a drain of a million jobs. */
public final class Heap implements Workload {

    private static final int JOBS = 1_000_000;
    private static final int CHUNK = 50_000;

    @Override
    public String name() {
        return "heap";
    }

    @Override
    public String title() {
        return "heap after draining 1,000,000 jobs, and the most on the way; megabytes after collections";
    }

    @Override
    public boolean forPeers() {
        return false;
    }

    @Override
    public boolean alsoCold() {
        return false;
    }

    @Override
    public List<Figure> measure(Trial trial) throws Exception {
        int jobs = trial.sizes().jobs(JOBS);
        Target target = trial.install();
        try (Installation installation = trial.system().open(target)) {
            for (int from = 0; from < jobs; from += CHUNK) {
                installation.enqueueAll(Payloads.range(from, Math.min(jobs, from + CHUNK)));
            }
            target.tidy();
            Ledger ledger = new Ledger(jobs, 0);
            installation.start(ledger);
            double most = 0;
            while (!ledger.isDone()) {
                most = Math.max(most, megabytes());
                Thread.sleep(500);
            }
            Trial.awaitSettled(installation);
            ledger.check();
            Trial.checkEmpty(installation);
            Map<String, Double> values = new LinkedHashMap<>();
            values.put("heapMb", megabytes());
            values.put("mostMb", most);
            return List.of(new Figure(name(), values));
        }
    }

    private static double megabytes() {
        MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
        memory.gc();
        return memory.getHeapMemoryUsage().getUsed() / 1e6;
    }
}
