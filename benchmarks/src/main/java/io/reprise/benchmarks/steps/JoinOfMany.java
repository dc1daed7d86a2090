// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.steps;

import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.benchmarks.measure.Target;
import io.reprise.benchmarks.report.Figure;
import io.reprise.benchmarks.system.RepriseSystem;
import io.reprise.benchmarks.workload.RepriseWorkload;
import io.reprise.benchmarks.workload.Trial;
import io.reprise.jackson.JacksonCodec;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.retry.RetryPolicy;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/** D3: one job joins 10,000 others and gets their results. Its handler must be called twice: it is woken once. */
public final class JoinOfMany implements RepriseWorkload {

    private static final int CHILDREN = 10_000;
    private static final JobType<Integer> CHILD = JobType.of("child", Integer.class);
    private static final JobType<Integer> PARENT =
            JobType.of("parent", Integer.class).retry(RetryPolicy.exponential().noDeadline());

    @Override
    public String name() {
        return "D3";
    }

    @Override
    public String title() {
        return "children of a join of 10,000 jobs, from its begin to the end of the parent; calls of the parent";
    }

    @Override
    public boolean alone() {
        return true;
    }

    @Override
    public List<Figure> measure(Trial trial) throws Exception {
        trial.warmUp(0);
        int children = trial.sizes().jobs(CHILDREN);
        join(trial, Math.min(children, CHILDREN / 10));
        return List.of(new Figure(name(), join(trial, children)));
    }

    private static Map<String, Double> join(Trial trial, int children) throws Exception {
        Target target = trial.install();
        AtomicInteger calls = new AtomicInteger();
        try (Reprise reprise = Reprise.builder()
                .store(RepriseSystem.store(target))
                .codec(new JacksonCodec())
                .handle(CHILD, (number, job) -> job.result(number))
                .handle(PARENT, (number, job) -> {
                    calls.incrementAndGet();
                    List<Integer> results = job.join(
                            "children",
                            CHILD.jobs(IntStream.range(0, number).boxed().toList()),
                            Integer.class);
                    if (!results.equals(IntStream.range(0, number).boxed().toList())) {
                        throw new IllegalStateException("results are missing or in another order");
                    }
                })
                .start()) {
            long began = System.nanoTime();
            JobId id = reprise.enqueue(PARENT.job(children));
            JobState end = reprise.await(id, Trial.LIMIT).job().state();
            long nanos = System.nanoTime() - began;
            if (end != JobState.SUCCEEDED || calls.get() != 2) {
                throw new IllegalStateException("the parent is " + end + " after " + calls + " calls, not 2");
            }
            Map<String, Double> values = new LinkedHashMap<>();
            values.put(Figure.RATE, children * 1e9 / nanos);
            values.put("calls", (double) calls.get());
            return values;
        }
    }
}
