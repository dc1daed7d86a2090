// SPDX-License-Identifier: Apache-2.0
package io.reprise.browser;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.JobType;
import io.reprise.Queue;
import io.reprise.Reprise;
import io.reprise.RepriseBuilder;
import io.reprise.job.AuditNote;
import io.reprise.server.RepriseServer;
import io.reprise.server.api.Outgoing;
import io.reprise.server.auth.Keys;
import io.reprise.server.delivery.OutboundGuard;
import io.reprise.server.delivery.Resolver;
import io.reprise.server.http.Scope;
import io.reprise.server.net.HttpSettings;
import io.reprise.store.JobStore;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every request that a screen makes, on a store with many jobs, while a worker drains one of the queues. It prints how
 * long the requests took and what they cost the drain; {@code -Dlarge.jobs=1000000} is the size in the document.
 */
class LargeStoreTest {

    private static final int JOBS = Integer.getInteger("large.jobs", 5_000);
    private static final Duration PERIOD = Duration.ofSeconds(Integer.getInteger("large.seconds", 1));

    /** Begins what counts the jobs that a bulk would change, and holds the search. */
    private static final String DRY_RUN = "dry run of ";

    private static final int TURNS = PERIOD.toSeconds() > 1 ? 5 : 1;

    /** A page asks about four times a second. */
    private static final Duration PAUSE = PERIOD.toSeconds() > 1 ? Duration.ofMillis(250) : Duration.ZERO;

    /** Times of each request, in milliseconds. */
    private final Map<String, List<Double>> times = new LinkedHashMap<>();

    private final HttpClient client = HttpClient.newHttpClient();
    private final AtomicLong drained = new AtomicLong();
    private int asked;

    @TempDir
    Path folder;

    /** The databases that are measured: all, or the one that {@code -Dlarge.on} names. */
    private static List<Kind> kinds() {
        String named = System.getProperty("large.on");
        return named == null ? List.of(Kind.values()) : List.of(Kind.valueOf(named));
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void every_request_of_every_screen_is_answered_while_a_worker_drains(Kind kind) throws Exception {
        JobStore store = kind.open(folder);
        store.prepare();
        long begin = System.nanoTime();
        LargeStore large = new LargeStore(store, JOBS);
        large.fill();
        say("%s: %,d jobs in %.0f s", kind, JOBS, (System.nanoTime() - begin) / 1e9);
        String key = new Keys(store, InstantSource.system())
                .create("reader", Set.of(Scope.READ, Scope.OPERATE), null, new AuditNote("test", null))
                .text();
        try (RepriseServer server = start(store);
                Feeder feeder = new Feeder(store, large.toDrain())) {
            feeder.start();
            drain(kind, () -> pause(PERIOD));
            List<String> paths = paths(server.url(), key);
            paths.forEach(path -> ask(server.url(), key, path));
            times.clear();
            Drain alone = Drain.NONE;
            Drain looked = Drain.NONE;
            // In turns, because a machine and a database do not stay the same.
            for (int turn = 0; turn < TURNS; turn++) {
                alone = alone.plus(drain(kind, () -> pause(PERIOD)));
                looked = looked.plus(drain(kind, () -> look(server.url(), key, paths)));
            }
            report(kind, alone, looked);
        }
        assertThat(times).hasSizeGreaterThan(20);
    }

    /** Keeps the queue from running dry, with and without somebody who looks. */
    private final class Feeder implements AutoCloseable {

        private static final int BATCH = 1_000;
        private static final int LEAST = 50_000;

        private final JobStore store;
        private final Thread thread = new Thread(this::feed, "feeder");
        private long fed;
        private volatile boolean over;

        Feeder(JobStore store, long there) {
            this.store = store;
            this.fed = there;
        }

        void start() {
            thread.start();
        }

        private void feed() {
            while (!over) {
                if (fed - drained.get() < LEAST && PERIOD.toSeconds() > 1) {
                    store.insert(LargeStore.toDrain(BATCH));
                    fed += BATCH;
                } else {
                    pause(Duration.ofMillis(20));
                }
            }
        }

        @Override
        public void close() {
            over = true;
            try {
                thread.join();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    private RepriseServer start(JobStore store) throws IOException {
        RepriseBuilder builder =
                Reprise.builder().migrate(false).threads(4).concurrency(200).queues(Queue.of(LargeStore.DRAINED));
        for (int i = 0; i < 20; i++) {
            builder =
                    builder.handle(JobType.of("work-" + i, Object.class), (payload, job) -> drained.incrementAndGet());
        }
        return RepriseServer.start(
                builder,
                store,
                new RepriseServer.Parts(
                        "large",
                        "test",
                        new HttpSettings("127.0.0.1", 0, HttpSettings.Limits.DEFAULT, null),
                        100_000,
                        new Outgoing(store, new OutboundGuard(List.of(), Set.of(), Resolver.SYSTEM), List.of(), null),
                        List.of()));
    }

    /** The requests of each screen, as the page makes them. */
    private List<String> paths(String url, String key) {
        String group = first(ask(url, key, "/v1/errors"), "fingerprint");
        String dead = first(ask(url, key, "/v1/dead-letters?limit=1"), "id");
        String waiting = first(ask(url, key, "/v1/jobs?state=pending&limit=1"), "id");
        List<String> paths = new ArrayList<>(List.of(
                "/v1/pulse",
                "/v1/series?periods=60",
                "/v1/errors",
                "/v1/stats?since=7d",
                "/v1/errors/" + group + "/note",
                "/v1/errors/" + group + "/payloads",
                "/v1/dead-letters?fingerprint=" + group + "&limit=50",
                "/v1/dead-letters/groups?fingerprint=" + group + "&limit=1",
                "/v1/jobs?fingerprint=" + group + "&state=pending&limit=1000",
                "/v1/replays",
                "/v1/series?of=error&name=" + group + "&step=1h&periods=48",
                "/v1/stats?since=31d",
                "/v1/bulks",
                DRY_RUN + "state:failed error:" + group,
                DRY_RUN + "state:failed type:work-3",
                DRY_RUN + "state:pending resource:host-3",
                DRY_RUN + "state:succeeded tag:nothing-has-it",
                "/v1/jobs?limit=50",
                "/v1/jobs?q=state:failed&limit=50",
                "/v1/jobs?q=state:pending%20reason:retry&limit=50",
                "/v1/jobs?q=state:pending%20attempt:%3E3&limit=50",
                "/v1/jobs?q=type:work-3&limit=50",
                "/v1/types/work-3/explain",
                "/v1/resources",
                "/v1/series?of=resource&step=1h&periods=24&each=true",
                "/v1/resources/host-3/history",
                "/v1/resources/host-3/parked",
                "/v1/jobs?resource=host-3&state=pending&limit=100",
                "/v1/jobs?resource=host-3&state=running&limit=1000",
                "/v1/series?of=resource&name=host-3&periods=60",
                "/v1/queues",
                "/v1/series?of=queue&step=1h&periods=24&each=true",
                "/v1/series?of=queue&name=queue-1&periods=60",
                "/v1/queues/queue-1",
                "/v1/queues/queue-1/explain",
                "/v1/queues/queue-1/groups",
                "/v1/settings",
                "/v1/jobs?queue=queue-1&limit=20",
                "/v1/schedules",
                "/v1/workers",
                "/v1/webhooks",
                "/v1/audit?limit=100",
                "/v1/series?step=1h&periods=168",
                "/v1/policies",
                "/v1/batches?limit=50",
                "/v1/batches/" + LargeStore.BATCH_NAME,
                "/v1/jobs?q=batch:" + LargeStore.BATCH_NAME + "&limit=50",
                "/v1/jobs?q=state:failed%20batch:" + LargeStore.BATCH_NAME + "&limit=50"));
        for (String id : List.of(dead, waiting)) {
            paths.addAll(List.of(
                    "/v1/jobs/" + id,
                    "/v1/jobs/" + id + "/plan",
                    "/v1/jobs/" + id + "/explain",
                    "/v1/jobs/" + id + "/steps",
                    "/v1/jobs/" + id + "/log",
                    "/v1/audit?job=" + id));
        }
        return paths;
    }

    private static String first(String json, String member) {
        return json.replaceFirst("(?s).*?\"" + member + "\":\"([^\"]+)\".*", "$1");
    }

    private String ask(String url, String key, String path) {
        long begin = System.nanoTime();
        try {
            HttpRequest.Builder request = path.startsWith(DRY_RUN)
                    ? HttpRequest.newBuilder(URI.create(url + "/v1/bulks"))
                            .header("Content-Type", "application/json")
                            .POST(HttpRequest.BodyPublishers.ofString("{\"action\":\"retry\",\"dryRun\":true,\"q\":\""
                                    + path.substring(DRY_RUN.length()) + "\"}"))
                    : HttpRequest.newBuilder(URI.create(url + path));
            HttpResponse<String> answer = client.send(
                    request.header("Authorization", "Bearer " + key).build(), HttpResponse.BodyHandlers.ofString());
            assertThat(answer.statusCode()).as(path + ": " + answer.body()).isEqualTo(200);
            times.computeIfAbsent(path, each -> new ArrayList<>()).add((System.nanoTime() - begin) / 1e6);
            return answer.body();
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(path, e);
        }
    }

    /** One person who opens a screen after the other: about four requests a second. The next turn goes on where this one ends. */
    private void look(String url, String key, List<String> paths) {
        long end = System.nanoTime() + PERIOD.toNanos();
        while (System.nanoTime() < end || asked < paths.size()) {
            long next = System.nanoTime() + PAUSE.toNanos();
            ask(url, key, paths.get(asked++ % paths.size()));
            pause(Duration.ofNanos(next - System.nanoTime()));
        }
    }

    private static void pause(Duration period) {
        try {
            assertThat(new CountDownLatch(1).await(period.toNanos(), TimeUnit.NANOSECONDS))
                    .isFalse();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /**
     * What was drained in some time.
     *
     * @param database processor time of the database's own processes, in seconds
     * @param all the same with that of this process, which is worker, server and client
     */
    private record Drain(long jobs, double seconds, double database, double all) {

        private static final Drain NONE = new Drain(0, 0, 0, 0);

        private Drain plus(Drain other) {
            return new Drain(jobs + other.jobs, seconds + other.seconds, database + other.database, all + other.all);
        }

        private double rate() {
            return jobs / seconds;
        }

        private double perJob(double processor) {
            return 1e6 * processor / jobs;
        }
    }

    private Drain drain(Kind kind, Runnable meanwhile) {
        long jobs = drained.get();
        double database = seconds(kind.processorTime());
        double own = seconds(ownProcessorTime());
        long begin = System.nanoTime();
        meanwhile.run();
        double took = (System.nanoTime() - begin) / 1e9;
        double usedThere = seconds(kind.processorTime()) - database;
        return new Drain(drained.get() - jobs, took, usedThere, usedThere + seconds(ownProcessorTime()) - own);
    }

    private static Duration ownProcessorTime() {
        return ProcessHandle.current().info().totalCpuDuration().orElse(Duration.ZERO);
    }

    private static double seconds(Duration time) {
        return time.toNanos() / 1e9;
    }

    private void report(Kind kind, Drain alone, Drain looked) {
        double goal = kind == Kind.SQLITE ? 500 : 300;
        List<String> slow = new ArrayList<>();
        say("%s: p95 and median in ms of %,d jobs; the goal is %.0f ms", kind, JOBS, goal);
        times.forEach((path, each) -> {
            boolean isSlow = share(each, 0.95) > goal;
            say(
                    "%s %8.1f p95 %8.1f median of %3d  %s",
                    isSlow ? "ABOVE" : "     ", share(each, 0.95), share(each, 0.5), each.size(), path);
            if (isSlow) {
                slow.add(path);
            }
        });
        List<Double> all = times.values().stream().flatMap(List::stream).toList();
        say("%s: %.1f ms is the 95th percentile of all %,d requests", kind, share(all, 0.95), all.size());
        say("%s: %d of %d calls are above the goal of %.0f ms: %s", kind, slow.size(), times.size(), goal, slow);
        compare(kind, "drained per second", alone.rate(), looked.rate(), 1 - looked.rate() / alone.rate());
        // Other work on the machine slows a drain down, but a job needs no more of a processor for it.
        compareUse(kind, "all", alone.perJob(alone.all()), looked.perJob(looked.all()));
        if (alone.database() > 0) {
            compareUse(kind, "the database", alone.perJob(alone.database()), looked.perJob(looked.database()));
        }
    }

    /** The part of the processor time that goes to who looks is what the drain loses where processors are the bound. */
    private static void compareUse(Kind kind, String of, double alone, double looked) {
        compare(kind, "processor time of " + of + " per drained job in us", alone, looked, 1 - alone / looked);
    }

    private static void compare(Kind kind, String what, double alone, double looked, double cost) {
        say(
                "%s: %s: %.0f alone, %.0f while one looks: costs %.1f %%, the goal is 5 %%%s",
                kind, what, alone, looked, 100 * cost, cost > 0.05 ? " ABOVE" : "");
    }

    /** Returns the time within which this share of the requests was answered. */
    private static double share(List<Double> times, double share) {
        List<Double> sorted = times.stream().sorted().toList();
        return sorted.get((int) Math.ceil(share * sorted.size()) - 1);
    }

    @SuppressWarnings("SystemOut")
    private static void say(String format, Object... values) {
        System.out.println(String.format(Locale.ROOT, format, values));
    }
}
