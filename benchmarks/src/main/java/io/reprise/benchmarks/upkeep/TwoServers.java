// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.upkeep;

import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.benchmarks.measure.Payloads;
import io.reprise.benchmarks.measure.RunChecks;
import io.reprise.benchmarks.measure.Target;
import io.reprise.benchmarks.report.Figure;
import io.reprise.benchmarks.workload.Trial;
import io.reprise.remote.RemoteLease;
import io.reprise.remote.RemoteLease.LeaseRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** U9: jobs are leased from one server and reported to another. Goal: no lease is left. */
public final class TwoServers extends UpkeepWorkload {

    private static final int JOBS = 20_000;
    private static final int WORKERS = 8;
    private static final int LEASED = 10;
    private static final JobType<String> REMOTE = JobType.of("remote", String.class);

    @Override
    public String name() {
        return "U9";
    }

    @Override
    public String title() {
        return "remote workers lease at one server and report to another: lease rows left";
    }

    @Override
    List<Figure> measure(Trial trial, Target target) throws Exception {
        int jobs = trial.sizes().jobs(JOBS);
        ExecutorService threads = Executors.newFixedThreadPool(WORKERS);
        try (Reprise here = reprise(target).remoteWorkers().start();
                Reprise there = reprise(target).remoteWorkers().start()) {
            here.enqueueAll(Payloads.range(0, jobs).stream().map(REMOTE::job).toList());
            List<Future<Integer>> done = new ArrayList<>();
            long began = System.nanoTime();
            for (int i = 0; i < WORKERS; i++) {
                String worker = "w" + i;
                Callable<Integer> work = () -> work(worker, here, there);
                done.add(threads.submit(work));
            }
            int completed = 0;
            for (Future<Integer> one : done) {
                completed += one.get();
            }
            long nanos = System.nanoTime() - began;
            RunChecks.equal("jobs completed", jobs, completed);
            Map<String, Double> values = new LinkedHashMap<>();
            values.put("left", (double) target.number("select count(*) from reprise_lease"));
            values.put(Figure.RATE, jobs * 1e9 / nanos);
            return List.of(new Figure(name(), values));
        } finally {
            threads.shutdownNow();
        }
    }

    private static int work(String worker, Reprise here, Reprise there) {
        LeaseRequest leaseRequest =
                new LeaseRequest(worker, List.of("default"), Set.of("remote"), LEASED, Duration.ofSeconds(60));
        int completed = 0;
        List<RemoteLease> leases = here.remoteWorkers().lease(leaseRequest);
        while (!leases.isEmpty()) {
            for (RemoteLease lease : leases) {
                there.remoteWorkers().complete(lease.key(), null);
                completed++;
            }
            leases = here.remoteWorkers().lease(leaseRequest);
        }
        return completed;
    }
}
