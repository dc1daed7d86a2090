// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.workload;

import com.sun.management.OperatingSystemMXBean;
import io.reprise.benchmarks.report.Figure;
import io.reprise.benchmarks.system.Installation;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;

/** Measures the cost of an idle worker. */
public final class Idle implements Workload {

    private static final Duration SETTLE = Duration.ofSeconds(5);
    private static final Duration LENGTH = Duration.ofSeconds(10);

    @Override
    public String name() {
        return "idle";
    }

    @Override
    public String title() {
        return "CPU of an idle worker process, in percent of one core";
    }

    @Override
    public boolean alsoCold() {
        return false;
    }

    @Override
    public List<Figure> measure(Trial trial) throws Exception {
        trial.warmUp(0);
        OperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
        try (Installation installation = trial.system().open(trial.install())) {
            installation.start(payload -> {});
            Thread.sleep(trial.sizes().lasting(SETTLE).toMillis());
            long start = System.nanoTime();
            long before = system.getProcessCpuTime();
            Thread.sleep(trial.sizes().lasting(LENGTH).toMillis());
            double used = system.getProcessCpuTime() - before;
            return List.of(Figure.of(name(), "cpuPercent", 100 * used / (System.nanoTime() - start)));
        }
    }
}
