// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.workload;

import io.reprise.benchmarks.measure.HttpConnection;
import io.reprise.benchmarks.measure.Payloads;
import io.reprise.benchmarks.measure.RunChecks;
import io.reprise.benchmarks.measure.Target;
import io.reprise.benchmarks.report.Figure;
import io.reprise.benchmarks.system.Installation;
import io.reprise.benchmarks.system.Systems;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;

/** H1, H2: jobs enqueued over HTTP from 8 connections; for comparison also without the server. */
public final class HttpEnqueue implements Workload {

    private static final int THREADS = 8;
    private static final int WARM_UP = 50;

    private final String name;
    private final int batch;
    private final int jobs;

    private HttpEnqueue(String name, int batch, int jobs) {
        this.name = name;
        this.batch = batch;
        this.jobs = jobs;
    }

    public static Workload single() {
        return new HttpEnqueue("H1", 1, 20_000);
    }

    public static Workload batches() {
        return new HttpEnqueue("H2", 100, 100_000);
    }

    /** Commits a batch; one thread uses it. */
    private interface Sender {
        void send(List<String> payloads) throws Exception;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String title() {
        return batch == 1 ? "POST /v1/jobs from 8 connections" : "POST /v1/jobs, batches of 100 from 8 connections";
    }

    @Override
    public boolean forPeers() {
        return false;
    }

    @Override
    public List<Figure> measure(Trial trial) throws Exception {
        double direct = direct(trial);
        return List.of(
                trial.system().name().equals(Systems.RAW)
                        ? Figure.of(name, Figure.RATE, direct)
                        : Figure.served(name, served(trial), direct));
    }

    private double direct(Trial trial) throws Exception {
        Target target = trial.install();
        try (Installation installation = trial.system().open(target)) {
            Sender sender = batch == 1 ? payloads -> installation.enqueue(payloads.get(0)) : installation::enqueueAll;
            return rate(trial, target, installation, Collections.nCopies(THREADS, sender));
        }
    }

    private double served(Trial trial) throws Exception {
        Target target = trial.install();
        List<HttpConnection> connections = new ArrayList<>();
        try (Installation installation = trial.system().open(target);
                ServerProcess server = new ServerProcess(target, trial.sizes().quick())) {
            List<Sender> senders = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                HttpConnection connection = server.connect();
                connections.add(connection);
                senders.add(payloads -> connection.post("/v1/jobs", body(payloads)));
            }
            return rate(trial, target, installation, senders);
        } finally {
            for (HttpConnection connection : connections) {
                connection.close();
            }
        }
    }

    private String body(List<String> payloads) {
        return batch == 1
                ? body(payloads.get(0))
                : payloads.stream().map(HttpEnqueue::body).collect(Collectors.joining(",", "[", "]"));
    }

    private static String body(String payload) {
        return "{\"type\":\"work\",\"payload\":\"" + payload + "\"}";
    }

    private double rate(Trial trial, Target target, Installation installation, List<Sender> senders) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            long began = System.nanoTime();
            for (int done = 0; !trial.sizes().isWarm(began, done); done += WARM_UP * batch) {
                send(senders, threads, WARM_UP * batch);
            }
            target.tidy();
            int measured = trial.sizes().jobs(jobs);
            long before = installation.left();
            long start = System.nanoTime();
            send(senders, threads, measured);
            long nanos = System.nanoTime() - start;
            RunChecks.equal("jobs stored", before + measured, installation.left());
            return measured * 1e9 / nanos;
        } finally {
            threads.shutdown();
        }
    }

    private void send(List<Sender> senders, ExecutorService threads, int count) throws Exception {
        List<Future<?>> parts = new ArrayList<>();
        for (int t = 0; t < THREADS; t++) {
            int first = t * batch;
            Sender sender = senders.get(t);
            parts.add(threads.submit(() -> {
                for (int from = first; from < count; from += THREADS * batch) {
                    sender.send(Payloads.range(from, Math.min(count, from + batch)));
                }
                return true;
            }));
        }
        for (Future<?> part : parts) {
            part.get();
        }
    }
}
