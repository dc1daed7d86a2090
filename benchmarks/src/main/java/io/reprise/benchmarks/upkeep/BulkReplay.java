// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.upkeep;

import io.reprise.Bulk;
import io.reprise.Operations;
import io.reprise.Replay;
import io.reprise.Reprise;
import io.reprise.benchmarks.measure.RunChecks;
import io.reprise.benchmarks.measure.Target;
import io.reprise.benchmarks.report.Figure;
import io.reprise.benchmarks.system.Installation;
import io.reprise.benchmarks.workload.Trial;
import io.reprise.job.JobQuery;
import io.reprise.job.JobState;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** U2: dead letters are replayed, cancelled and discarded in bulk beside other work. Goal: 5,000 per second, 80 % of the work. */
public final class BulkReplay extends UpkeepWorkload {

    private static final int JOBS = 100_000;
    private static final long USUAL_NANOS = 5_000_000_000L;

    @Override
    public String name() {
        return "U2";
    }

    @Override
    public String title() {
        return "replay, cancel, discard 100,000 jobs in bulk beside 2,000 jobs/s";
    }

    @Override
    List<Figure> measure(Trial trial, Target target) throws Exception {
        int jobs = trial.sizes().jobs(JOBS);
        try (Installation installation = trial.system().open(target)) {
            installation.fillFinished(0, jobs);
        }
        target.tidy();
        List<Figure> figures = new ArrayList<>();
        try (Foreground foreground = new Foreground(target);
                Reprise client = reprise(target).start()) {
            foreground.during(USUAL_NANOS);
            Foreground.Window usual = foreground.during(USUAL_NANOS);
            Operations operations = client.as("bench", "U2");
            JobQuery dead = JobQuery.deadLetters();
            JobQuery waiting = JobQuery.all().state(JobState.PENDING).queue("default");
            JobQuery cancelled = JobQuery.all().state(JobState.CANCELLED);
            figures.add(run(
                    "U2", foreground, usual, jobs, all -> operations.all(dead).replay(Replay.FRESH)));
            figures.add(run(
                    "U2-cancel",
                    foreground,
                    usual,
                    jobs,
                    all -> operations.all(waiting).cancel()));
            figures.add(run(
                    "U2-discard",
                    foreground,
                    usual,
                    jobs,
                    all -> operations.all(cancelled).discard()));
        }
        return figures;
    }

    private static Figure run(
            String name, Foreground foreground, Foreground.Window usual, int jobs, Function<String, Bulk.Result> bulk) {
        long began = foreground.begin();
        Bulk.Result result = bulk.apply(name);
        long nanos = System.nanoTime() - began;
        Foreground.Window beside = foreground.end(began);
        RunChecks.equal("jobs done by " + name, jobs, result.done());
        Map<String, Double> values = new LinkedHashMap<>();
        values.put(Figure.RATE, jobs * 1e9 / nanos);
        values.put("foreground", beside.rate() / usual.rate());
        values.put("foregroundP99Ms", beside.p99Millis());
        values.put("usualP99Ms", usual.p99Millis());
        return new Figure(name, values);
    }
}
