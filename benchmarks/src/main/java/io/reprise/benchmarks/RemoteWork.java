// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** H3: remote workers on 8 connections lease up to 100 jobs at a time and complete each; beside it a worker without a server. */
final class RemoteWork implements Workload {

    private static final int WORKERS = 8;
    private static final int JOBS = 20_000;
    private static final int WARM_UP = 1_000;

    private final JsonMapper json = new JsonMapper();

    @Override
    public String name() {
        return "H3";
    }

    @Override
    public String title() {
        return "remote workers on 8 connections lease 100 jobs at a time and complete each";
    }

    @Override
    public boolean forPeers() {
        return false;
    }

    @Override
    public List<Figure> measure(Trial trial) throws Exception {
        int jobs = trial.sizes().jobs(JOBS);
        trial.warmUp(0);
        Target target = trial.install();
        double direct;
        try (Installation installation = trial.system().open(target)) {
            direct = jobs * 1e9 / trial.drain(target, installation, jobs, 0);
        }
        return List.of(
                trial.system().name().equals(Systems.RAW)
                        ? Figure.of(name(), Figure.RATE, direct)
                        : Figure.served(name(), served(trial, jobs), direct));
    }

    private double served(Trial trial, int jobs) throws Exception {
        Target target = trial.install();
        ExecutorService threads = Executors.newFixedThreadPool(WORKERS);
        try (Installation installation = trial.system().open(target);
                ServerProcess server = new ServerProcess(target, trial.sizes().quick())) {
            long end = System.nanoTime() + trial.sizes().warmUp().toNanos();
            while (System.nanoTime() < end) {
                drain(target, installation, server, threads, WARM_UP);
            }
            return jobs * 1e9 / drain(target, installation, server, threads, jobs);
        } finally {
            threads.shutdown();
        }
    }

    /** Loads jobs, and returns the nanoseconds from the first run to the answer to the last completion. */
    private long drain(
            Target target, Installation installation, ServerProcess server, ExecutorService threads, int jobs)
            throws Exception {
        installation.enqueueAll(Payloads.range(0, jobs));
        target.tidy();
        Ledger ledger = new Ledger(jobs, 0);
        List<Future<?>> workers = new ArrayList<>();
        for (int i = 0; i < WORKERS; i++) {
            String worker = "worker-" + i;
            workers.add(threads.submit(() -> {
                try (HttpConnection connection = server.connect()) {
                    work(connection, worker, ledger);
                }
                return true;
            }));
        }
        for (Future<?> worker : workers) {
            worker.get();
        }
        long nanos = System.nanoTime() - ledger.firstRunNanos();
        ledger.check();
        Trial.checkEmpty(installation);
        return nanos;
    }

    /** Until there is nothing to lease. */
    private void work(HttpConnection connection, String worker, Ledger ledger) throws Exception {
        String wish = "{\"worker\":\"" + worker + "\",\"types\":[\"work\"],\"max\":100}";
        while (true) {
            JsonNode leases = json.readTree(connection.post("/v1/leases", wish)).get("items");
            if (leases.isEmpty()) {
                return;
            }
            for (JsonNode lease : leases) {
                ledger.run(lease.get("job").get("payload").asString());
                connection.post("/v1/leases/" + lease.get("token").asString() + "/complete", "{}");
            }
        }
    }
}
