// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.upkeep;

import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.benchmarks.measure.Payloads;
import io.reprise.benchmarks.measure.Target;
import io.reprise.benchmarks.report.Figure;
import io.reprise.benchmarks.workload.Trial;
import io.reprise.retry.RetryPolicy;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * U8: many jobs of one queue are past their deadline beside other work. Goal: 10,000 per second, p99 of the
 * other work at most doubled.
 */
public final class ExpiredDeadlines extends UpkeepWorkload {

    private static final int JOBS = 100_000;
    private static final int CHUNK = 10_000;
    private static final long USUAL_NANOS = 5_000_000_000L;
    private static final JobType<String> LATE =
            JobType.of("late", String.class).retry(RetryPolicy.unset().deadline(Duration.ofHours(1)));

    @Override
    public String name() {
        return "U8";
    }

    @Override
    public String title() {
        return "100,000 expired deadlines beside 2,000 jobs/s of another queue";
    }

    @Override
    List<Figure> measure(Trial trial, Target target) throws Exception {
        int jobs = trial.sizes().jobs(JOBS);
        try (Reprise client = reprise(target).start()) {
            for (int from = 0; from < jobs; from += CHUNK) {
                client.enqueueAll(Payloads.range(from, Math.min(jobs, from + CHUNK)).stream()
                        .map(payload -> LATE.job(payload).queue("late"))
                        .toList());
            }
        }
        target.tidy();
        try (Foreground foreground = new Foreground(target)) {
            foreground.during(USUAL_NANOS);
            Foreground.Window usual = foreground.during(USUAL_NANOS);
            target.execute("update reprise_job set deadline = first_due_at where queue = 'late'");
            long began = foreground.begin();
            await(target, live("late"), 0);
            long nanos = System.nanoTime() - began;
            Foreground.Window beside = foreground.end(began);
            Map<String, Double> values = new LinkedHashMap<>();
            values.put(Figure.RATE, jobs * 1e9 / nanos);
            values.put("foreground", beside.rate() / usual.rate());
            values.put("foregroundP99Ms", beside.p99Millis());
            values.put("usualP99Ms", usual.p99Millis());
            return List.of(new Figure(name(), values));
        }
    }
}
