// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.upkeep;

import io.reprise.JobRequest;
import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.benchmarks.measure.Target;
import io.reprise.benchmarks.report.Figure;
import io.reprise.benchmarks.workload.Trial;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/** U7: bulk enqueue with unique and with idempotency keys. Goal: half the rate of jobs without keys. */
public final class KeyedEnqueue extends UpkeepWorkload {

    private static final int JOBS = 100_000;
    private static final int CHUNK = 1_000;
    private static final JobType<String> KEYED = JobType.of("keyed", String.class);

    private interface Keys {
        UnaryOperator<JobRequest<String>> of(int job);
    }

    @Override
    public String name() {
        return "U7";
    }

    @Override
    public String title() {
        return "bulk enqueue of 100,000 jobs with keys";
    }

    @Override
    List<Figure> measure(Trial trial, Target target) throws Exception {
        int jobs = trial.sizes().jobs(JOBS);
        List<Figure> figures = new ArrayList<>();
        try (Reprise client = reprise(target).start()) {
            run(client, jobs / 10, i -> job -> job);
            run(client, jobs / 10, i -> job -> job.key("warm " + i));
            double without = run(client, jobs, i -> job -> job);
            figures.add(figure("U7-none", without, without));
            figures.add(figure("U7", run(client, jobs, i -> job -> job.key("unique " + i)), without));
            figures.add(figure("U7-again", run(client, jobs, i -> job -> job.key("unique " + i)), without));
            figures.add(figure(
                    "U7-idempotency", run(client, jobs, i -> job -> job.idempotencyKey("idem " + i)), without));
        }
        return figures;
    }

    private static double run(Reprise client, int jobs, Keys keys) {
        long began = System.nanoTime();
        for (int from = 0; from < jobs; from += CHUNK) {
            List<JobRequest<String>> some = new ArrayList<>();
            for (int i = from; i < Math.min(jobs, from + CHUNK); i++) {
                some.add(keys.of(i).apply(KEYED.job(Integer.toString(i))));
            }
            client.enqueueAll(some);
        }
        return jobs * 1e9 / (System.nanoTime() - began);
    }

    private static Figure figure(String name, double rate, double without) {
        Map<String, Double> values = new LinkedHashMap<>();
        values.put(Figure.RATE, rate);
        values.put("ofUsual", rate / without);
        return new Figure(name, values);
    }
}
