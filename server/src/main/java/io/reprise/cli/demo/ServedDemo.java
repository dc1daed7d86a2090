// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.demo;

import io.reprise.JobContext;
import io.reprise.JobRequest;
import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.RepriseBuilder;
import io.reprise.cli.base.Stores;
import io.reprise.cli.demo.DemoJobs.HttpFailure;
import io.reprise.cli.simulate.SimulationEndpoints;
import io.reprise.cli.terminal.CtrlC;
import io.reprise.job.AuditNote;
import io.reprise.retry.RetryPolicy;
import io.reprise.server.RepriseServer;
import io.reprise.server.api.Outgoing;
import io.reprise.server.auth.Keys;
import io.reprise.server.delivery.OutboundGuard;
import io.reprise.server.delivery.Resolver;
import io.reprise.server.http.Scope;
import io.reprise.server.net.HttpSettings;
import io.reprise.store.JobStore;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * Trouble to be watched in the dashboard. An acquirer is down for a while again and again: its breaker opens, jobs are
 * parked, probes find it up, the ramp lets them go. An importer has a bug that is mended later: its dead letters are
 * for a paced replay, which stops while the bug is there and drains when it is gone.
 */
final class ServedDemo {

    private static final Duration CYCLE = Duration.ofSeconds(150);
    private static final Duration UP_FIRST = Duration.ofSeconds(20);
    private static final Duration DOWN = Duration.ofSeconds(45);
    private static final Duration BUG = Duration.ofSeconds(90);
    private static final Duration STEP = Duration.ofMillis(250);
    private static final int ORDERS = 300;

    private record Order(String order, long cents) {}

    private final JobType<Order> charge = JobType.of("charge-card", Order.class)
            .retry(RetryPolicy.exponential(Duration.ofSeconds(1))
                    .cap(Duration.ofSeconds(20))
                    .maxAttempts(8));
    private final JobType<Order> email = JobType.of("send-email", Order.class)
            .retry(RetryPolicy.exponential(Duration.ofSeconds(1)).maxAttempts(6));
    private final JobType<Order> load = JobType.of("import-order", Order.class)
            .retry(RetryPolicy.exponential(Duration.ofMillis(200)).maxAttempts(2));

    private final long startNanos = System.nanoTime();
    private final PrintWriter out;
    private long made;

    ServedDemo(PrintWriter out) {
        this.out = out;
    }

    /** Serves until Ctrl-C. */
    void run(Path file, int port, CtrlC ctrlC) throws IOException, InterruptedException {
        JobStore store = Stores.sqlite(file);
        store.prepare();
        Keys.NewKey key = new Keys(store, InstantSource.system())
                .create("demo", Set.of(Scope.ADMIN), null, new AuditNote("reprise", "demo"));
        try (RepriseServer server = RepriseServer.start(builder(), store, parts(store, port))) {
            out.println("Open this link; it logs in once, within 15 minutes:");
            out.println();
            out.println("  " + server.loginLink(String.valueOf(key.view().get("id"))));
            out.println();
            out.println("The acquirer goes down after 20 s, for 45 s. The importer has a bug for the first 90 s.");
            out.println("Ctrl-C ends it.");
            out.flush();
            play(server.reprise(), ctrlC);
        }
    }

    private RepriseBuilder builder() {
        return Reprise.builder()
                .migrate(false)
                .concurrency(32)
                .threads(16)
                .poll(Duration.ofMillis(50))
                .stopGrace(Duration.ofSeconds(1))
                .handle(charge, this::charge)
                .handle(email, this::send)
                .handle(load, this::load);
    }

    private static RepriseServer.Parts parts(JobStore store, int port) {
        return new RepriseServer.Parts(
                "demo-" + ProcessHandle.current().pid(),
                "demo",
                new HttpSettings("127.0.0.1", port, HttpSettings.Limits.DEFAULT, null),
                2_000,
                new Outgoing(store, new OutboundGuard(List.of(), Set.of(), Resolver.SYSTEM), List.of(), null),
                List.of(SimulationEndpoints::new));
    }

    private void play(Reprise reprise, CtrlC ctrlC) throws InterruptedException {
        boolean down = false;
        boolean buggy = true;
        reprise.enqueueAll(orders(ORDERS));
        do {
            reprise.enqueueAll(arrivals());
            if (isDown() != down) {
                down = !down;
                say(down ? "The acquirer is down." : "The acquirer is up again.");
            }
            if (hasBug() != buggy) {
                buggy = !buggy;
                say(
                        buggy
                                ? "The importer has a bug again."
                                : "The bug of the importer is mended: replay its dead letters.");
            }
        } while (!ctrlC.await(STEP));
    }

    private void say(String text) {
        out.println(text);
        out.flush();
    }

    private List<JobRequest<?>> orders(int count) {
        List<JobRequest<?>> jobs = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            jobs.add(load.job(order()).queue("imports"));
        }
        return jobs;
    }

    private List<JobRequest<?>> arrivals() {
        List<JobRequest<?>> jobs = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            jobs.add(charge.job(order()).queue("payments").resource("acquirer"));
        }
        jobs.add(email.job(order()).queue("mail").resource("smtp"));
        return jobs;
    }

    private Order order() {
        made++;
        return new Order("order-" + made, 1_990 + made % 500);
    }

    private long millis() {
        return (System.nanoTime() - startNanos) / 1_000_000;
    }

    private boolean isDown() {
        long into = millis() % CYCLE.toMillis() - UP_FIRST.toMillis();
        return into >= 0 && into < DOWN.toMillis();
    }

    private boolean hasBug() {
        return millis() % (2 * CYCLE.toMillis()) < BUG.toMillis();
    }

    private void charge(Order order, JobContext job) throws HttpFailure, InterruptedException {
        Thread.sleep(40);
        if (isDown()) {
            throw new HttpFailure(503, "the acquirer is down", null);
        }
    }

    private void send(Order order, JobContext job) throws IOException, InterruptedException {
        Thread.sleep(60);
        if (new SplittableRandom(31 * job.id().value() + job.attempt()).nextDouble() < 0.25) {
            throw new IOException("451 mailbox busy, try again later");
        }
    }

    private void load(Order order, JobContext job) throws InterruptedException {
        Thread.sleep(20);
        if (hasBug()) {
            throw new IllegalStateException("column 'vat' is missing in " + order.order());
        }
    }
}
