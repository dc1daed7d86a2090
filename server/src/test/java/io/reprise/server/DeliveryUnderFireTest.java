// SPDX-License-Identifier: Apache-2.0
package io.reprise.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.cli.Main;
import io.reprise.server.delivery.Stub;
import io.reprise.server.http.Json;
import io.reprise.testkit.TestRun;
import io.reprise.testkit.servers.PostgresServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * Jobs enqueued over HTTP and delivered over HTTP, by a server that is killed twice, to a receiver that fails three times of
 * ten and goes away twice.
 */
class DeliveryUnderFireTest {

    private static final int BATCH = 500;
    private static final int HOPELESS = 100;

    @TempDir
    Path directory;

    private final HttpClient client = HttpClient.newHttpClient();
    private final Set<Integer> delivered = ConcurrentHashMap.newKeySet();
    private final AtomicInteger calls = new AtomicInteger();
    private @Nullable Process process;
    private @Nullable Stub stub;
    private String storeUrl = "";
    private int total;
    private String key = "";
    private String url = "";

    /** Fails three of ten, by count so that no run differs; the last jobs it refuses for good. */
    private Stub.Reply answer(Stub.Seen seen) {
        int number = Integer.parseInt(seen.body());
        if (number >= total - HOPELESS) {
            return Stub.Reply.of(422);
        }
        if (calls.incrementAndGet() % 10 < 3) {
            return Stub.Reply.of(500);
        }
        delivered.add(number);
        return Stub.Reply.of(200);
    }

    private void startServer() throws IOException {
        process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Main.class.getName(),
                        "serve",
                        "--store-url",
                        storeUrl,
                        "--http-port",
                        "0",
                        "--worker-lease",
                        "10s",
                        "--delivery-allow",
                        "127.0.0.1")
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        BufferedReader out = process.inputReader();
        for (String line = out.readLine(); line != null; line = out.readLine()) {
            if (line.strip().startsWith("reprise_")) {
                key = line.strip();
            }
            if (line.startsWith("Reprise listens on ")) {
                url = line.substring("Reprise listens on ".length());
                return;
            }
        }
        throw new IOException("the server did not start");
    }

    /** With SIGKILL: nothing is said goodbye to. */
    private void killServer() throws Exception {
        if (process != null) {
            process.destroyForcibly();
            assertThat(process.waitFor(3, TimeUnit.MINUTES)).isTrue();
        }
    }

    private HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
        return client.send(
                request.header("Authorization", "Bearer " + key)
                        .header("Content-Type", "application/json")
                        .timeout(Duration.ofMinutes(3))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private void enqueue(int from, int port) throws Exception {
        List<Object> jobs = new ArrayList<>();
        for (int i = from; i < from + BATCH; i++) {
            jobs.add(Map.of(
                    "type",
                    "http",
                    "idempotencyKey",
                    "job-" + i,
                    "policy",
                    Map.of("backoff", "fixed", "base", "PT0.05S", "jitter", "none", "maxAttempts", 10_000),
                    "payload",
                    Map.of("url", "http://127.0.0.1:" + port + "/", "body", Integer.toString(i))));
        }
        HttpResponse<String> answer = send(HttpRequest.newBuilder(URI.create(url + "/v1/jobs"))
                .POST(HttpRequest.BodyPublishers.ofString(Json.text(jobs))));
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(202);
    }

    /** How many jobs are in these states, by one answer: between two a job may go from one to the other. */
    private long count(String... states) throws Exception {
        HttpResponse<String> answer = send(
                HttpRequest.newBuilder(URI.create(url + "/v1/queues/default")).GET());
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        JsonNode counts = Json.parse(answer.body()).get("counts");
        return Stream.of(states)
                .mapToLong(state -> counts.path(state).longValue())
                .sum();
    }

    private void awaitDelivered(int jobs) throws Exception {
        await(() -> delivered.size() >= jobs);
    }

    /** Bounded by the timeout of the test, which interrupts. */
    private void await(Callable<Boolean> condition) throws Exception {
        while (!condition.call()) {
            if (Thread.interrupted()) {
                throw new AssertionError("given up with " + delivered.size() + " jobs delivered");
            }
            LockSupport.parkNanos(Duration.ofMillis(50).toNanos());
        }
    }

    @AfterEach
    void end() throws Exception {
        killServer();
        if (stub != null) {
            stub.close();
        }
    }

    @Test
    @Timeout(value = 14, unit = TimeUnit.MINUTES)
    void every_job_is_delivered_and_none_is_left_over() throws Exception {
        storeUrl = "sqlite:" + directory.resolve("jobs.db");
        deliver(TestRun.size(2_000, 4_000));
    }

    @Test
    @Timeout(value = 14, unit = TimeUnit.MINUTES)
    void every_job_is_delivered_from_postgresql_too() throws Exception {
        storeUrl = PostgresServer.shared().freshDatabaseUrl();
        deliver(2_000);
    }

    private void deliver(int jobs) throws Exception {
        total = jobs;
        Stub first = new Stub(this::answer);
        stub = first;
        int port = first.port();
        startServer();
        for (int i = 0; i < jobs; i += BATCH) {
            enqueue(i, port);
        }
        awaitDelivered(jobs / 5);
        killServer();
        startServer();
        awaitDelivered(2 * jobs / 5);
        restartStub(port);
        awaitDelivered(3 * jobs / 5);
        killServer();
        startServer();
        awaitDelivered(4 * jobs / 5);
        restartStub(port);
        awaitDelivered(jobs - HOPELESS);
        await(() -> count("PENDING", "RUNNING") == 0);
        assertThat(count("SUCCEEDED")).isEqualTo(jobs - HOPELESS);
        assertThat(count("FAILED")).isEqualTo(HOPELESS);
    }

    private void restartStub(int port) {
        if (stub != null) {
            stub.close();
        }
        stub = new Stub("127.0.0.1", port, this::answer);
    }
}
