// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.workload;

import io.reprise.benchmarks.measure.Payloads;
import io.reprise.benchmarks.measure.Processes;
import io.reprise.benchmarks.measure.Statistics;
import io.reprise.benchmarks.measure.Target;
import io.reprise.benchmarks.measure.WallClock;
import io.reprise.benchmarks.report.Figure;
import io.reprise.benchmarks.system.Installation;
import java.io.BufferedReader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;

/** W3: from the commit of an enqueue in another process to the start of the handler on an idle worker. */
public final class Latency implements Workload {

    private static final int JOBS = 500;

    @Override
    public String name() {
        return "W3";
    }

    @Override
    public String title() {
        return "milliseconds from commit to handler start, idle worker, another process enqueuing";
    }

    @Override
    public List<Figure> measure(Trial trial) throws Exception {
        trial.warmUp(0);
        int unmeasured = trial.sizes().jobs(JOBS) / 4;
        int jobs = unmeasured + trial.sizes().jobs(JOBS);
        AtomicLongArray starts = new AtomicLongArray(jobs);
        CountDownLatch ran = new CountDownLatch(jobs);
        Target target = trial.install();
        try (Installation installation = trial.system().open(target)) {
            installation.start(payload -> {
                starts.set(Payloads.number(payload), WallClock.micros());
                ran.countDown();
            });
            long[] commits = enqueueElsewhere(trial, target, jobs);
            if (!ran.await(Trial.LIMIT.toSeconds(), TimeUnit.SECONDS)) {
                throw new IllegalStateException(ran.getCount() + " jobs did not run");
            }
            Trial.awaitSettled(installation);
            Trial.checkEmpty(installation);
            List<Double> millis = new ArrayList<>();
            for (int number = unmeasured; number < jobs; number++) {
                // A worker may be woken before the enqueuing process has its answer.
                millis.add(Math.max(0, starts.get(number) - commits[number]) / 1000.0);
            }
            return List.of(
                    Figure.latency(name(), Statistics.percentile(millis, 0.5), Statistics.percentile(millis, 0.99)));
        }
    }

    private static long[] enqueueElsewhere(Trial trial, Target target, int jobs) throws Exception {
        Process process = Processes.start(
                List.of(),
                Enqueuer.class,
                List.of(trial.system().name(), target.store().toString(), target.jdbcUrl(), Integer.toString(jobs)));
        long[] commits = new long[jobs];
        try (BufferedReader output = process.inputReader()) {
            for (int number = 0; number < jobs; number++) {
                String line = output.readLine();
                if (line == null) {
                    throw new IllegalStateException("the enqueuing process ended after " + number + " jobs");
                }
                commits[number] = Long.parseLong(line);
            }
        } finally {
            process.destroy();
        }
        return commits;
    }
}
