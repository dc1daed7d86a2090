// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.workload;

import io.reprise.benchmarks.measure.Payloads;
import io.reprise.benchmarks.measure.RunChecks;
import io.reprise.benchmarks.measure.Target;
import io.reprise.benchmarks.report.Figure;
import io.reprise.benchmarks.system.Installation;
import java.util.ArrayList;
import java.util.List;

/** W8: jobs that take a millisecond on one, two and four worker processes, and jobs that take no time on one and two. */
public final class WorkerFleet implements Workload {

    private static final int JOBS = 50_000;
    private static final int WARM_UP = 10_000;
    private static final long MILLISECOND = 1_000_000;

    @Override
    public String name() {
        return "W8";
    }

    @Override
    public String title() {
        return "1 ms jobs on 1, 2 and 4 worker processes, and no-op jobs on 1 and 2";
    }

    @Override
    public boolean byDefault() {
        return false;
    }

    @Override
    public boolean alsoCold() {
        return false;
    }

    @Override
    public List<Figure> measure(Trial trial) throws Exception {
        List<Figure> figures = new ArrayList<>();
        for (int processes : List.of(1, 2, 4)) {
            figures.add(measure(trial, name() + "-" + processes, MILLISECOND, processes));
        }
        for (int processes : List.of(1, 2)) {
            figures.add(measure(trial, name() + "-noop-" + processes, 0, processes));
        }
        return figures;
    }

    private static Figure measure(Trial trial, String name, long jobNanos, int processes) throws Exception {
        Target target = trial.install();
        List<WorkerProcess> workers = new ArrayList<>();
        try (Installation installation = trial.system().open(target)) {
            for (int i = 0; i < processes; i++) {
                workers.add(new WorkerProcess(trial.system(), target, jobNanos));
            }
            // Jobs that take no time are many more in the same time, and so is what warms a process.
            int factor = jobNanos == 0 ? 4 : 1;
            run(installation, workers, trial.sizes().jobs(factor * WARM_UP) * processes);
            target.tidy();
            int jobs = trial.sizes().jobs(factor * JOBS);
            long micros = run(installation, workers, jobs);
            return Figure.rate(name, jobs, micros * 1000);
        } finally {
            for (WorkerProcess worker : workers) {
                worker.close();
            }
        }
    }

    /** Returns the microseconds from the first start of a job to the last end, over all processes. */
    private static long run(Installation installation, List<WorkerProcess> workers, int jobs) throws Exception {
        for (WorkerProcess worker : workers) {
            worker.reset();
        }
        installation.enqueueAll(Payloads.range(0, jobs));
        long end = System.nanoTime() + Trial.LIMIT.toNanos();
        WorkerProcess.Count total = WorkerProcess.Count.NONE;
        while (total.runs() < jobs && System.nanoTime() < end) {
            Thread.sleep(50);
            total = WorkerProcess.Count.NONE;
            for (WorkerProcess worker : workers) {
                total = total.plus(worker.count());
            }
        }
        while (installation.left() > 0 && System.nanoTime() < end) {
            Thread.sleep(50);
        }
        Trial.checkEmpty(installation);
        RunChecks.equal("jobs that ran", jobs, total.runs());
        RunChecks.equal("sum of their numbers", (long) jobs * (jobs - 1) / 2, total.sum());
        return total.last() - total.first();
    }
}
