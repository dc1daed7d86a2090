// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.workload;

import io.reprise.benchmarks.measure.Payloads;
import io.reprise.benchmarks.measure.RunChecks;
import io.reprise.benchmarks.measure.Target;
import io.reprise.benchmarks.report.Figure;
import io.reprise.benchmarks.system.Installation;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** W1: jobs committed one by one from 8 threads. */
public final class SingleEnqueue implements Workload {

    private static final int THREADS = 8;
    private static final int JOBS = 20_000;
    private static final int WARM_UP = 500;

    @Override
    public String name() {
        return "W1";
    }

    @Override
    public String title() {
        return "enqueue, single commits from 8 threads";
    }

    @Override
    public List<Figure> measure(Trial trial) throws Exception {
        return List.of(Figure.of(name(), Figure.RATE, rate(trial)));
    }

    /** Returns the jobs per second. */
    static double rate(Trial trial) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            long began = System.nanoTime();
            try (Installation installation = trial.system().open(trial.install())) {
                for (int done = 0; !trial.sizes().isWarm(began, done); done += WARM_UP) {
                    enqueue(installation, threads, WARM_UP);
                }
            }
            Target target = trial.install();
            int jobs = trial.sizes().jobs(JOBS);
            try (Installation installation = trial.system().open(target)) {
                // Opens the connections before the clock starts.
                enqueue(installation, threads, WARM_UP);
                target.tidy();
                long before = installation.left();
                long start = System.nanoTime();
                enqueue(installation, threads, jobs);
                long nanos = System.nanoTime() - start;
                RunChecks.equal("jobs stored", before + jobs, installation.left());
                return jobs * 1e9 / nanos;
            }
        } finally {
            threads.shutdown();
        }
    }

    private static void enqueue(Installation installation, ExecutorService threads, int jobs) throws Exception {
        List<Future<?>> parts = new ArrayList<>();
        for (int t = 0; t < THREADS; t++) {
            int first = t;
            parts.add(threads.submit(() -> {
                for (int number = first; number < jobs; number += THREADS) {
                    installation.enqueue(Payloads.of(number));
                }
                return true;
            }));
        }
        for (Future<?> part : parts) {
            part.get();
        }
    }
}
