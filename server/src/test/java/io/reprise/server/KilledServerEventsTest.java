// SPDX-License-Identifier: Apache-2.0
package io.reprise.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.cli.Main;
import io.reprise.server.http.Json;
import io.reprise.testkit.Slow;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Two servers on one database, and one of them is killed while it settles: the stream of the other tells everything. */
class KilledServerEventsTest {

    private static final int JOBS = 200;
    private static final int BEFORE_THE_KILL = 120;

    @TempDir
    Path directory;

    private final HttpClient client = HttpClient.newHttpClient();
    private final List<Process> processes = new ArrayList<>();
    private final Map<String, List<String>> told = new ConcurrentHashMap<>();
    private final List<String> kinds = new CopyOnWriteArrayList<>();
    private volatile String key = "";
    private volatile boolean complete;

    private String start(String storeUrl, String name) throws IOException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Main.class.getName(),
                        "serve",
                        "--store-url",
                        storeUrl,
                        "--http-port",
                        "0",
                        "--worker-name",
                        name)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        processes.add(process);
        BufferedReader out = process.inputReader();
        for (String line = out.readLine(); line != null; line = out.readLine()) {
            if (line.strip().startsWith("reprise_")) {
                key = line.strip();
            }
            if (line.startsWith("Reprise listens on ")) {
                return line.substring("Reprise listens on ".length());
            }
        }
        throw new IOException("the server did not start");
    }

    @AfterEach
    void end() throws Exception {
        for (Process process : processes) {
            process.destroyForcibly();
            assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
        }
    }

    private HttpResponse<String> post(String url, String body) throws Exception {
        return client.send(
                HttpRequest.newBuilder(URI.create(url))
                        .header("Authorization", "Bearer " + key)
                        .header("Content-Type", "application/json")
                        .POST(HttpRequest.BodyPublishers.ofString(body))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private void listen(String url) throws Exception {
        HttpResponse<java.util.stream.Stream<String>> stream = client.send(
                HttpRequest.newBuilder(URI.create(url + "/v1/events"))
                        .header("Authorization", "Bearer " + key)
                        .build(),
                HttpResponse.BodyHandlers.ofLines());
        Thread reader = new Thread(
                () -> {
                    try {
                        stream.body().forEach(this::read);
                    } catch (RuntimeException e) {
                        kinds.add("closed");
                    }
                },
                "stream");
        reader.setDaemon(true);
        reader.start();
        while (!complete) {
            LockSupport.parkNanos(10_000_000);
        }
    }

    private void read(String line) {
        if (line.equals(": what the fleet does")) {
            complete = true;
        } else if (line.startsWith("event: ")) {
            kinds.add(line.substring(7));
        } else if (line.startsWith("data: ")) {
            JsonNode data = Json.parse(line.substring(6));
            if (data.has("id")) {
                told.computeIfAbsent(data.get("id").stringValue(), id -> new CopyOnWriteArrayList<>())
                        .add(data.get("kind").stringValue());
            }
        }
    }

    @Test
    @Slow
    @Timeout(600)
    void the_stream_of_one_server_tells_what_the_other_did_before_it_was_killed() throws Exception {
        String store = "sqlite:" + directory.resolve("jobs.db");
        String survivor = start(store, "survivor");
        String victim = start(store, "victim");
        listen(survivor);
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < JOBS; i += 10) {
            ids.addAll(enqueue(victim, 10));
        }
        AtomicInteger reports = new AtomicInteger();
        List<Thread> workers = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Thread worker = new Thread(() -> work(victim, survivor, reports, ids), "worker-" + i);
            worker.setDaemon(true);
            worker.start();
            workers.add(worker);
        }
        while (reports.get() < BEFORE_THE_KILL) {
            LockSupport.parkNanos(1_000_000);
        }
        processes.get(1).destroyForcibly();
        for (Thread worker : workers) {
            worker.join();
        }
        while (!ids.stream().allMatch(id -> told.getOrDefault(id, List.of()).contains("SUCCEEDED"))) {
            LockSupport.parkNanos(50_000_000);
        }
        assertThat(kinds).doesNotContain("reset", "closed");
        assertThat(ids).allSatisfy(id -> {
            List<String> life = told.get(id);
            assertThat(life.get(0)).as("%s", life).isEqualTo("ENQUEUED");
            assertThat(life.get(life.size() - 1)).as("%s", life).isEqualTo("SUCCEEDED");
            assertThat(life).as("%s", life).contains("RETRY_SCHEDULED");
            assertThat(life.lastIndexOf("RETRY_SCHEDULED")).as("%s", life).isLessThan(life.lastIndexOf("SUCCEEDED"));
        });
    }

    private List<String> enqueue(String url, int count) throws Exception {
        List<Object> jobs = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            jobs.add(Map.of(
                    "type",
                    "a",
                    "policy",
                    Map.of("backoff", "fixed", "base", "PT0.01S", "jitter", "none", "maxAttempts", 1_000)));
        }
        HttpResponse<String> answer = post(url + "/v1/jobs", Json.text(jobs));
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(202);
        List<String> ids = new ArrayList<>();
        Json.parse(answer.body()).forEach(job -> ids.add(job.get("id").stringValue()));
        return ids;
    }

    /** Each job fails once and then succeeds, with a lease from the victim as long as it lives. */
    private void work(String victim, String survivor, AtomicInteger reports, List<String> ids) {
        String url = victim;
        while (!ids.stream().allMatch(id -> told.getOrDefault(id, List.of()).contains("SUCCEEDED"))) {
            try {
                HttpResponse<String> leased = post(
                        url + "/v1/leases",
                        "{\"worker\":\"" + Thread.currentThread().getName()
                                + "\",\"types\":[\"a\"],\"max\":5,\"lease\":\"PT5S\",\"wait\":\"PT1S\"}");
                for (JsonNode lease : Json.parse(leased.body()).get("items")) {
                    String token = lease.get("token").stringValue();
                    boolean first = lease.get("attempt").intValue() == 1;
                    post(
                            url + "/v1/leases/" + token + (first ? "/fail" : "/complete"),
                            first ? "{\"type\":\"Broken\",\"message\":\"x\"}" : "{}");
                    reports.incrementAndGet();
                }
            } catch (Exception e) {
                url = survivor;
            }
        }
    }
}
