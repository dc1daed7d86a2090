// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.jdbc.JdbcJobStore;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobState;
import io.reprise.job.Page;
import io.reprise.server.delivery.Stub;
import io.reprise.server.http.AnswerCheck;
import io.reprise.server.http.Json;
import io.reprise.testkit.Slow;
import io.reprise.testkit.faults.TcpProxy;
import io.reprise.testkit.servers.PostgresServer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two servers on one PostgreSQL behind proxies, with remote workers, producers, an operator, webhooks and a schedule, while servers are
 * killed and stopped, sessions ended and answers lost. Nothing is lost, no success accepted twice, no answer outside the
 * OpenAPI document, memory stays within bounds, and afterwards everything drains. {@code -Dreprise.fire.seconds=600} burns
 * for ten minutes, {@code -Dreprise.fire.seed=7} otherwise.
 */
@Slow
class TwoServersTest {

    private static final long SECONDS = Long.getLong("reprise.fire.seconds", 20);
    private static final long SEED = Long.getLong("reprise.fire.seed", 1);
    private static final String KEY = "reprise_0123456789ab_" + "7".repeat(64);
    private static final int MAX_MEGABYTES = 400;

    private static final int FEWEST_COLLECTIONS = 15;

    private enum Fault {
        KILL,
        STOP,
        END_SESSIONS,
        CUT_DATABASE,
        STALL_DATABASE,
        CUT_ANSWERS,
        STALL_ANSWERS
    }

    @TempDir
    Path directory;

    private final Ledger ledger = new Ledger();
    private final Map<Fault, Integer> faults = new EnumMap<>(Fault.class);
    private final List<Integer> megabytes = new ArrayList<>();
    private final List<Double> live = new ArrayList<>();
    private final Set<String> refused = ConcurrentHashMap.newKeySet();

    /** Hears of successes. Of twenty messages one is refused when it comes first. */
    private Stub.Reply hear(Stub.Seen seen) {
        String message = Objects.requireNonNull(seen.header("webhook-id"));
        if (Math.floorMod(message.hashCode(), 20) == 0 && refused.add(message)) {
            return Stub.Reply.of(503);
        }
        ledger.delivered(Json.parse(seen.body()).at("/data/jobId").stringValue(), message);
        return Stub.Reply.of(200);
    }

    @Test
    @Timeout(value = 30, unit = TimeUnit.MINUTES)
    void nothing_is_lost_while_servers_network_and_sessions_fail() throws Exception {
        try (PostgresServer postgres = PostgresServer.start();
                Stub receiver = new Stub(this::hear)) {
            String database = postgres.freshDatabaseUrl().replaceAll("^.*/|\\?.*$", "");
            try (ServerProcess first = new ServerProcess("first", postgres.port(), database, KEY, directory)) {
                first.awaitReady();
                // Before the second starts: a server that runs learns of a subscription within two seconds.
                subscribe(first, receiver);
                try (ServerProcess second = new ServerProcess("second", postgres.port(), database, KEY, directory)) {
                    second.awaitReady();
                    run(postgres, database, List.of(first, second));
                }
            }
        }
    }

    private void subscribe(ServerProcess server, Stub receiver) throws Exception {
        Caller caller = new Caller(List.of(server.url()), KEY, document(server.url()), ledger);
        String hook = "{\"url\":\"" + receiver.url("/") + "\",\"events\":[\"succeeded\"],\"types\":[\"work\"]}";
        caller.insist(0, "POST", "/v1/webhooks", hook, null);
    }

    private void run(PostgresServer postgres, String database, List<ServerProcess> servers) throws Exception {
        List<String> urls = servers.stream().map(ServerProcess::url).toList();
        Caller caller = new Caller(urls, KEY, document(urls.get(0)), ledger);
        String schedule = "{\"every\":\"1s\",\"job\":{\"type\":\"work\",\"queue\":\"q0\"}}";
        caller.insist(0, "PUT", "/v1/schedules/tick", schedule, null);
        Clients clients = new Clients(caller, ledger);
        clients.start();
        long begun = System.nanoTime();
        burn(postgres, servers, begun + TimeUnit.SECONDS.toNanos(SECONDS));
        caller.insist(0, "DELETE", "/v1/schedules/tick", null, null);
        long ticked = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begun);
        clients.endProduction();
        String url = "postgresql://postgres@127.0.0.1:" + postgres.port() + "/" + database;
        try (JdbcJobStore store = JdbcJobStore.open(url)) {
            await("everything has drained", () -> isDrained(store));
            clients.end();
            requireNothingLost(store, ticked);
        }
        for (ServerProcess server : servers) {
            assertThat(server.isAlive()).isTrue();
            assertThat(server.log()).doesNotContain("OutOfMemoryError");
        }
        report(servers);
    }

    private static AnswerCheck document(String url) throws Exception {
        HttpResponse<String> document = HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create(url + "/openapi.json"))
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
        return new AnswerCheck(Json.parse(document.body()));
    }

    private static void await(String what, BooleanSupplier condition) {
        long until = System.nanoTime() + TimeUnit.MINUTES.toNanos(8);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - until).as(what).isNegative();
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(200));
        }
    }

    /** Webhooks too: they are jobs. */
    private static boolean isDrained(JdbcJobStore store) {
        return store.queues().stream()
                .allMatch(queue -> queue.count(JobState.PENDING) + queue.count(JobState.RUNNING) == 0);
    }

    private void requireNothingLost(JdbcJobStore store, long seconds) {
        List<String> violations = ledger.check(id -> store.find(JobId.parse(id)).orElse(null));
        assertThat(violations).isEmpty();
        List<Job> ticks = ticks(store);
        assertThat(ticks).as("fired by the schedule").isNotEmpty().hasSizeLessThanOrEqualTo((int) seconds + 5);
        assertThat(ticks).allMatch(job -> job.state() == JobState.SUCCEEDED);
        assertThat(ticks).allMatch(job -> ledger.isDelivered(job.id().toString()));
    }

    private static List<Job> ticks(JdbcJobStore store) {
        List<Job> ticks = new ArrayList<>();
        String cursor = null;
        do {
            Page<Job> page =
                    store.find(JobQuery.all().schedule("tick").limit(500).after(cursor));
            ticks.addAll(page.items());
            cursor = page.next();
        } while (cursor != null);
        return ticks;
    }

    /** In rounds, each with every fault. */
    private void burn(PostgresServer postgres, List<ServerProcess> servers, long end) throws Exception {
        Random random = new Random(SEED);
        List<Fault> round = new ArrayList<>();
        while (System.nanoTime() - end < 0 || !round.isEmpty()) {
            if (round.isEmpty()) {
                round.addAll(List.of(Fault.values()));
                Collections.shuffle(round, random);
            }
            Fault fault = round.remove(0);
            faults.merge(fault, 1, Integer::sum);
            // The first lives long, to show what becomes of its memory.
            strike(fault, postgres, servers.get(fault == Fault.KILL ? 1 : random.nextInt(2)), random);
            rest(random, 2_000);
            megabytes.add(servers.get(0).residentMegabytes());
            if (round.isEmpty()) {
                live.add(servers.get(0).liveMegabytes());
            }
        }
        for (ServerProcess server : servers) {
            server.awaitReady();
        }
    }

    private static void strike(Fault fault, PostgresServer postgres, ServerProcess server, Random random)
            throws Exception {
        switch (fault) {
            case KILL -> {
                server.kill();
                rest(random, 2_000);
                server.startAgain();
                server.awaitReady();
            }
            case STOP -> {
                server.pause();
                rest(random, 8_000);
                server.resume();
            }
            case END_SESSIONS -> postgres.endSessions();
            case CUT_DATABASE -> server.database.cut();
            case STALL_DATABASE -> {
                server.database.stall();
                rest(random, 4_000);
                server.database.heal();
            }
            case CUT_ANSWERS -> {
                for (int i = 0; i < 5; i++) {
                    server.front.cutAfter(random.nextInt(5_000));
                    rest(random, 400);
                }
                server.front.heal();
            }
            case STALL_ANSWERS -> {
                server.front.stall(TcpProxy.Direction.TO_CLIENT);
                rest(random, 2_000);
                server.front.cut();
                server.front.heal();
            }
        }
    }

    private static void rest(Random random, int millis) {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(millis / 4 + random.nextInt(millis)));
    }

    private void report(List<ServerProcess> servers) {
        System.out.printf(
                "%d s, faults %s, %d jobs, %d completions accepted, %d refused as stale, %d told by webhooks, %d answers, %d lost,"
                        + " %d of 500 and more; resident MB of the first server %s, MB of its heap in use after"
                        + " each round %s, starts of the second %d%n",
                SECONDS,
                faults,
                ledger.jobs().size(),
                ledger.accepted(),
                ledger.stale.get(),
                ledger.deliveries(),
                ledger.answers.get(),
                ledger.lostAnswers.get(),
                ledger.unavailable.get(),
                thinned(),
                live.stream()
                        .map(each -> String.format(Locale.ROOT, "%.1f", each))
                        .toList(),
                servers.get(1).starts() + 1);
        assertThat(megabytes).allMatch(each -> each < MAX_MEGABYTES);
        assertThat(isFlat())
                .as("resident MB: " + megabytes + ", in use: " + live)
                .isTrue();
    }

    /** At most twenty of them. */
    private List<Integer> thinned() {
        int step = Math.max(1, megabytes.size() / 20);
        List<Integer> some = new ArrayList<>();
        for (int i = 0; i < megabytes.size(); i += step) {
            some.add(megabytes.get(i));
        }
        return some;
    }

    /**
     * In a long run: the last fifth has hardly more than the second. A short one is over before the process has its size. The
     * heap after a collection shows much smaller leaks than the resident memory.
     */
    private boolean isFlat() {
        boolean flat = late(megabytes) < 1.15 * early(megabytes) + 20;
        // One collection differs from the next by a tenth, so there must be several in each fifth.
        boolean few = live.size() < FEWEST_COLLECTIONS;
        return SECONDS < 300 || (flat && (few || late(live) < 1.1 * early(live) + 1));
    }

    private static double early(List<? extends Number> all) {
        int fifth = all.size() / 5;
        return mean(all.subList(fifth, 2 * fifth));
    }

    private static double late(List<? extends Number> all) {
        int fifth = all.size() / 5;
        return mean(all.subList(all.size() - fifth, all.size()));
    }

    private static double mean(List<? extends Number> some) {
        return some.stream().mapToDouble(Number::doubleValue).average().orElse(0);
    }
}
