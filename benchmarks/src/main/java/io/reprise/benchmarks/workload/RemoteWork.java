// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.workload;

import io.reprise.benchmarks.measure.CpuTime;
import io.reprise.benchmarks.measure.HttpConnection;
import io.reprise.benchmarks.measure.Payloads;
import io.reprise.benchmarks.measure.RunChecks;
import io.reprise.benchmarks.measure.Target;
import io.reprise.benchmarks.report.Figure;
import io.reprise.benchmarks.system.Installation;
import io.reprise.benchmarks.system.Ledger;
import io.reprise.benchmarks.system.Systems;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * H3: remote workers lease up to 100 jobs at a time and report them together, on 8 connections. Or each job is reported
 * in its own request, on 32 connections: a request waits for a commit, and all requests that wait share one. For
 * comparison a worker without a server runs too.
 */
public final class RemoteWork implements Workload {

    private static final int JOBS = 20_000;

    private final JsonMapper json = new JsonMapper();
    private final boolean together;
    private final int connections;

    private RemoteWork(boolean together, int connections) {
        this.together = together;
        this.connections = connections;
    }

    /** H3: one report for all jobs of a lease request. */
    public static RemoteWork together() {
        return new RemoteWork(true, 8);
    }

    /** H3-singly: one report per job. */
    public static RemoteWork singly() {
        return new RemoteWork(false, 32);
    }

    @Override
    public String name() {
        return together ? "H3" : "H3-singly";
    }

    @Override
    public String title() {
        return "remote workers on " + connections + " connections lease 100 jobs at a time and "
                + (together ? "report them together" : "complete each");
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
            direct = trial.drain(target, installation, jobs, 0).rate();
        }
        return List.of(
                trial.system().name().equals(Systems.RAW)
                        ? Figure.of(name(), Figure.RATE, direct)
                        : served(trial, jobs, direct));
    }

    private Figure served(Trial trial, int jobs, double direct) throws Exception {
        Target target = trial.install();
        ExecutorService threads = Executors.newFixedThreadPool(connections);
        try (Installation installation = trial.system().open(target);
                ServerProcess server = new ServerProcess(target, trial.sizes().quick())) {
            long began = System.nanoTime();
            // As many at once as are measured: at the end of each drain the workers wait for jobs, which warms nothing.
            int some = trial.sizes().cold() ? trial.sizes().coldJobs() : jobs;
            for (int done = 0; !trial.sizes().isWarm(began, done); done += some) {
                drain(target, installation, server, threads, some);
            }
            Drained drained = drain(target, installation, server, threads, jobs);
            Map<String, Double> values = new LinkedHashMap<>(
                    Figure.served(name(), drained.rate(), direct).values());
            values.putAll(drained.cpu());
            return new Figure(name(), values);
        } finally {
            threads.shutdown();
        }
    }

    /** Loads jobs, and measures from the first run to the answer to the last completion; client and server together. */
    private Drained drain(
            Target target, Installation installation, ServerProcess server, ExecutorService threads, int jobs)
            throws Exception {
        installation.enqueueAll(Payloads.range(0, jobs));
        target.tidy();
        Drained.Start start = Drained.start(target, CpuTime.own().plus(server.cpu()));
        Ledger ledger = new Ledger(jobs, 0);
        List<Future<Long>> workers = new ArrayList<>();
        for (int i = 0; i < connections; i++) {
            String worker = "worker-" + i;
            workers.add(threads.submit(() -> {
                try (HttpConnection connection = server.connect()) {
                    return work(connection, worker, ledger);
                }
            }));
        }
        long nanos = 0;
        for (Future<Long> worker : workers) {
            nanos = Math.max(nanos, worker.get() - ledger.firstRunNanos());
        }
        Drained drained = start.end(jobs, nanos, CpuTime.own().plus(server.cpu()));
        ledger.check();
        Trial.checkEmpty(installation);
        return drained;
    }

    /** Works until all jobs have run: a moment without a job is not the end. Returns when its last job was done. */
    private long work(HttpConnection connection, String worker, Ledger ledger) throws Exception {
        String leaseRequest = "{\"worker\":\"" + worker + "\",\"types\":[\"work\"],\"max\":100,\"wait\":\"200ms\"}";
        long last = System.nanoTime();
        while (!ledger.isDone()) {
            JsonNode leases =
                    json.readTree(connection.post("/v1/leases", leaseRequest)).get("items");
            for (JsonNode lease : leases) {
                ledger.run(lease.get("job").get("payload").asString());
                if (!together) {
                    connection.post("/v1/leases/" + lease.get("token").asString() + "/complete", "{}");
                }
            }
            if (together && !leases.isEmpty()) {
                report(connection, leases);
            }
            last = leases.isEmpty() ? last : System.nanoTime();
        }
        return last;
    }

    private void report(HttpConnection connection, JsonNode leases) throws Exception {
        StringBuilder reports = new StringBuilder();
        for (JsonNode lease : leases) {
            reports.append(reports.isEmpty() ? "" : ",")
                    .append("{\"outcome\":\"complete\",\"token\":\"")
                    .append(lease.get("token").asString())
                    .append("\"}");
        }
        JsonNode answers = json.readTree(connection.post("/v1/leases/report", "{\"reports\":[" + reports + "]}"))
                .get("items");
        int accepted = 0;
        for (JsonNode answer : answers) {
            accepted += answer.get("accepted").asBoolean() ? 1 : 0;
        }
        RunChecks.equal("reports accepted", leases.size(), accepted);
    }
}
