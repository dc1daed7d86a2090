// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.encryption.EncryptionKeys;
import io.reprise.insight.CostEntry;
import io.reprise.insight.ErrorKey;
import io.reprise.server.api.TestServer.Reply;
import io.reprise.store.WorkerCounts;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class SystemApiTest {

    private final TestServer server = new TestServer();

    @AfterEach
    void stop() {
        server.close();
    }

    /** The next event of a stream as its lines. */
    private static List<String> next(Iterator<String> lines) {
        List<String> event = new ArrayList<>();
        while (true) {
            String line = lines.next();
            if (line.isEmpty() && event.stream().anyMatch(each -> each.startsWith("event:"))) {
                return event;
            }
            if (line.isEmpty()) {
                event.clear();
            } else {
                event.add(line);
            }
        }
    }

    private Stream<String> events(String query, String... headers) throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(server.server.url() + "/v1/events" + query))
                .header("Authorization", "Bearer " + server.admin);
        if (headers.length > 0) {
            request.headers(headers);
        }
        HttpResponse<Stream<String>> response =
                server.client().send(request.build(), HttpResponse.BodyHandlers.ofLines());
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.headers().firstValue("Content-Type")).contains("text/event-stream");
        return response.body();
    }

    @Test
    void events_are_streamed_filtered_and_resumed() throws Exception {
        String lastId;
        try (Stream<String> stream = events("?kinds=enqueued&queue=q")) {
            Iterator<String> lines = stream.iterator();
            server.enqueue("{\"type\":\"a\",\"queue\":\"other\"}");
            String id = server.enqueue("{\"type\":\"b\",\"queue\":\"q\"}");
            List<String> event = next(lines);
            assertThat(event).anyMatch(line -> line.equals("event: ENQUEUED"));
            assertThat(event).anyMatch(line -> line.contains("\"id\":\"" + id + "\"") && line.contains("\"q\""));
            lastId = event.stream()
                    .filter(line -> line.startsWith("id: "))
                    .findFirst()
                    .orElseThrow()
                    .substring(4);
        }
        String missed = server.enqueue("{\"type\":\"c\",\"queue\":\"q\"}");
        try (Stream<String> stream = events("?queue=q", "Last-Event-ID", lastId)) {
            assertThat(next(stream.iterator())).anyMatch(line -> line.contains("\"id\":\"" + missed + "\""));
        }
        try (Stream<String> stream = events("", "Last-Event-ID", "of-another-process")) {
            Iterator<String> lines = stream.iterator();
            List<String> reset = next(lines);
            assertThat(reset).as("before anything else").contains("event: reset");
            assertThat(reset)
                    .as("from where nothing is missing")
                    .anyMatch(line -> line.matches("id: [0-9]+\\.[0-9a-z]+-0"));
            assertThat(next(lines)).contains("event: ENQUEUED");
        }
    }

    @Test
    void events_of_a_kind_that_there_is_not_are_not_waited_for() {
        Reply reply = server.get("/v1/events?kinds=enqueued,finished");
        assertThat(reply.problem()).isEqualTo("invalid-request");
        assertThat(reply.raw().body()).contains("kinds: must be one or more of ENQUEUED, STARTED, ");
    }

    @Test
    void health_and_readiness_need_no_key_and_metrics_do() {
        assertThat(server.send(null, "GET", "/healthz", null).text("status")).isEqualTo("ok");
        assertThat(server.send(null, "GET", "/readyz", null).text("status")).isEqualTo("ok");
        assertThat(server.send(null, "GET", "/metrics", null).status()).isEqualTo(401);
        server.enqueue("{\"type\":\"a\"}");
        Reply metrics = server.get("/metrics");
        assertThat(metrics.status()).isEqualTo(200);
        assertThat(metrics.raw().body())
                .contains("# TYPE")
                .contains("reprise_jobs{")
                .contains("reprise_queue_lag_seconds");
    }

    @Test
    void costs_are_told_by_type_resource_and_error() {
        ErrorKey busy = new ErrorKey("call", "provider-a", "8c1f", "Busy");
        server.store.addCounts(new WorkerCounts(
                List.of(),
                List.of(
                        new CostEntry(ErrorKey.first("call", "provider-a"), CostEntry.SECONDS, 1, 0, 2, 2),
                        new CostEntry(busy, CostEntry.SECONDS, 1, 1, 3, 0)),
                List.of()));
        JsonNode costs = server.get("/v1/stats").json().get("costs");
        assertThat(costs.get("sentence").stringValue())
                .startsWith("1 retry took ")
                .endsWith("saved 1 job.");
        JsonNode retry = costs.get("entries")
                .valueStream()
                .filter(entry -> entry.get("error").isString())
                .findFirst()
                .orElseThrow();
        assertThat(retry.get("type").stringValue()).isEqualTo("call");
        assertThat(retry.get("resource").stringValue()).isEqualTo("provider-a");
        assertThat(retry.get("errorType").stringValue()).isEqualTo("Busy");
        assertThat(retry.get("unit").stringValue()).isEqualTo("seconds");
        assertThat(retry.get("successes").intValue()).isEqualTo(1);
    }

    @Test
    void the_description_is_served_for_programs_and_for_people() {
        JsonNode document = server.send(null, "GET", "/openapi.json", null).json();
        assertThat(document.get("openapi").stringValue()).startsWith("3.1");
        assertThat(document.get("paths").propertyNames()).contains("/v1/jobs", "/v1/leases/{token}/complete");
        Reply page = server.send(null, "GET", "/api", null);
        assertThat(page.raw().body())
                .contains("/v1/dead-letters/{id}/replay")
                .doesNotContain("<script", "http://", "https://");
    }

    @Test
    void the_document_describes_every_member_of_a_job_and_of_a_request_for_one() {
        JsonNode schemas = server.send(null, "GET", "/openapi.json", null)
                .json()
                .get("components")
                .get("schemas");
        for (String name : List.of("JobSummary", "JobRequest", "JobChange")) {
            JsonNode members = schemas.get(name).get("properties");
            assertThat(members.propertyNames())
                    .as(name)
                    .allSatisfy(member -> assertThat(members.get(member).toString())
                            .as(member)
                            .containsAnyOf("\"description\"", "$ref"));
        }
    }

    @Test
    void queues_are_paused_limited_and_resumed() {
        server.enqueue("{\"type\":\"a\",\"queue\":\"a/b\"}");
        assertThat(server.put("/v1/queues/a%2Fb", "{\"maxRunning\":3}")
                        .json()
                        .get("maxRunning")
                        .intValue())
                .isEqualTo(3);
        assertThat(server.post("/v1/queues/a%2Fb/pause", "{\"why\":\"deploy\"}").text("pausedWhy"))
                .isEqualTo("deploy");
        assertThat(server.post("/v1/leases", "{\"worker\":\"w\"}").json().get("items"))
                .isEmpty();
        JsonNode queue = server.post("/v1/queues/a%2Fb/resume", "{}").json();
        assertThat(queue.get("paused").booleanValue()).isFalse();
        assertThat(queue.get("depth").intValue()).isEqualTo(1);
        assertThat(queue.get("oldestDueAt").isNull()).isFalse();
        assertThat(server.put("/v1/queues/a%2Fb", "{\"maxRunning\":null}")
                        .json()
                        .get("maxRunning")
                        .isNull())
                .isTrue();
    }

    @Test
    void schedules_are_kept_previewed_triggered_and_removed() {
        String body =
                "{\"cron\":\"0 3 * * *\",\"zone\":\"Europe/Paris\",\"job\":{\"type\":\"report\",\"payload\":[1]}}";
        JsonNode schedule = server.put("/v1/schedules/nightly", body).json();
        assertThat(schedule.get("cron").stringValue()).isEqualTo("0 3 * * *");
        assertThat(schedule.get("nextRuns")).hasSize(5);
        assertThat(server.get("/v1/schedules/nightly/next?count=3").json().get("items"))
                .hasSize(3);
        Reply triggered = server.post("/v1/schedules/nightly/trigger", "{\"why\":\"now\"}");
        assertThat(triggered.status()).isEqualTo(202);
        JsonNode job = server.get("/v1/jobs/" + triggered.text("id")).json();
        assertThat(job.get("schedule").stringValue()).isEqualTo("nightly");
        assertThat(server.get("/v1/schedules/nightly").text("nextAt"))
                .isEqualTo(schedule.get("nextAt").stringValue());
        assertThat(server.post("/v1/schedules/nightly/pause", "{}")
                        .json()
                        .get("paused")
                        .booleanValue())
                .isTrue();
        assertThat(server.post("/v1/schedules/nightly/resume", "{}")
                        .json()
                        .get("paused")
                        .booleanValue())
                .isFalse();
        assertThat(server.delete("/v1/schedules/nightly").status()).isEqualTo(204);
        assertThat(server.get("/v1/schedules/nightly").status()).isEqualTo(404);
        for (String bad : List.of(
                "{\"cron\":\"61 * * * *\",\"job\":{\"type\":\"a\"}}",
                "{\"every\":\"1ms\",\"job\":{\"type\":\"a\"}}",
                "{\"every\":\"1h\",\"zone\":\"Mars\",\"job\":{\"type\":\"a\"}}",
                "{\"cron\":\"0 0 30 2 *|x\",\"job\":{\"type\":\"a\"}}",
                "{\"cron\":\"0 0 30 2 *\",\"job\":{\"type\":\"a\"}}",
                "{\"cron\":\" \",\"job\":{\"type\":\"a\"}}",
                "{\"job\":{\"type\":\"a\"}}")) {
            assertThat(server.put("/v1/schedules/bad", bad).problem()).as(bad).isEqualTo("invalid-request");
        }
    }

    @Test
    void an_interval_has_a_fixed_delay_a_first_run_a_start_an_end_and_jitter() {
        String body = "{\"fixedDelay\":\"5m\",\"firstNow\":true,\"start\":\"2036-01-01T00:00:00Z\","
                + "\"end\":\"2036-01-01T00:06:00Z\",\"jitter\":\"10s\",\"job\":{\"type\":\"report\"}}";
        JsonNode made = server.put("/v1/schedules/after", body).json();
        assertThat(made.get("fixedDelay").stringValue()).isEqualTo("5m");
        assertThat(made.get("every").isNull()).isTrue();
        assertThat(made.get("firstNow").booleanValue()).isTrue();
        assertThat(made.get("nextAt").stringValue()).isEqualTo("2036-01-01T00:00:00Z");
        assertThat(made.get("jitter").stringValue()).isEqualTo("10s");
        assertThat(made.get("nextRuns")).hasSize(2);
        JsonNode over = server.put(
                        "/v1/schedules/after",
                        "{\"every\":\"5m\",\"end\":\"2020-01-01T00:00:00Z\",\"job\":{\"type\":\"report\"}}")
                .json();
        assertThat(over.get("nextAt").isNull()).isTrue();
        assertThat(over.get("nextRuns")).isEmpty();
        Map<String, String> bad = Map.of(
                "\"every\":\"1h\",\"fixedDelay\":\"1h\"", "/cron",
                "\"fixedDelay\":\"1ms\"", "/fixedDelay",
                "\"fixedDelay\":\"1h\",\"overlap\":true", "/overlap",
                "\"fixedDelay\":\"1h\",\"missed\":\"ALL\"", "/missed",
                "\"every\":\"1h\",\"jitter\":\"2h\"", "/jitter",
                "\"every\":\"1h\",\"start\":\"2036-01-02T00:00:00Z\",\"end\":\"2036-01-01T00:00:00Z\"", "/end");
        bad.forEach((fields, pointer) -> {
            Reply reply = server.put("/v1/schedules/bad", "{" + fields + ",\"job\":{\"type\":\"a\"}}");
            assertThat(reply.problem()).isEqualTo("invalid-request");
            assertThat(reply.json().toString()).as(fields).contains("\"" + pointer + "\"");
        });
        assertThat(server.get("/v1/schedules/bad").status()).isEqualTo(404);
        server.delete("/v1/schedules/after");
    }

    @Test
    void policies_have_names_versions_previews_and_lint() {
        Reply first = server.put("/v1/policies/fast", "{\"maxAttempts\":3}");
        assertThat(first.status()).isEqualTo(200);
        String tag = first.raw().headers().firstValue("ETag").orElseThrow();
        assertThat(server.send(server.admin, "PUT", "/v1/policies/fast", "{\"maxAttempts\":4}", "If-Match", "\"0\"")
                        .problem())
                .isEqualTo("version-mismatch");
        Reply second = server.send(server.admin, "PUT", "/v1/policies/fast", "{\"maxAttempts\":4}", "If-Match", tag);
        assertThat(second.json().get("version").longValue())
                .isGreaterThan(first.json().get("version").longValue());
        String id = server.enqueue("{\"type\":\"a\",\"policy\":\"fast\"}");
        assertThat(server.get("/v1/jobs/" + id).json().get("maxAttempts").intValue())
                .isEqualTo(4);
        assertThat(server.get("/v1/policies")
                        .json()
                        .get("items")
                        .valueStream()
                        .map(p -> p.get("name").stringValue()))
                .contains("fast", "conduit", "default");
        JsonNode plan =
                server.post("/v1/policies/preview?retries=3", "\"conduit\"").json();
        assertThat(plan.get("steps")).hasSize(3);
        assertThat(plan.get("steps").get(0).get("raw").stringValue()).isEqualTo("30s");
        assertThat(server.post("/v1/policies/lint", "{\"maxAttempts\":\"x\"}").problem())
                .isEqualTo("invalid-request");
        assertThat(server.post("/v1/policies/lint", "\"conduit\"").status()).isEqualTo(200);
        assertThat(server.delete("/v1/policies/conduit").raw().body()).contains("is the name of a preset");
        assertThat(server.delete("/v1/policies/fast").status()).isEqualTo(204);
        assertThat(server.get("/v1/jobs/" + id).json().get("maxAttempts").intValue())
                .isEqualTo(4);
        assertThat(server.post("/v1/jobs", "{\"type\":\"a\",\"policy\":\"fast\"}")
                        .status())
                .isEqualTo(400);
    }

    @Test
    void every_wrong_field_of_a_policy_is_named() {
        Reply bad = server.put("/v1/policies/bad", "{\"base\":\"soon\",\"maxAttempts\":0,\"colour\":1,\"cap\":\"1h\"}");
        assertThat(bad.problem()).isEqualTo("invalid-request");
        assertThat(bad.json()
                        .get("errors")
                        .valueStream()
                        .map(e -> e.get("field").stringValue()))
                .containsExactly("/base", "/maxAttempts", "/colour");
        Reply unknown = server.post("/v1/jobs", "{\"type\":\"a\",\"policy\":\"nope\"}");
        assertThat(unknown.json().get("errors").get(0).get("message").stringValue())
                .startsWith("there is no stored policy 'nope', nor a preset; presets are default, ");
    }

    @Test
    void a_policy_full_of_errors_gets_a_short_answer() {
        StringBuilder policy = new StringBuilder("{\"x\":1");
        for (int i = 0; i < 1_000; i++) {
            policy.append(",\"").append("y".repeat(40)).append(i).append("\":1");
        }
        Reply bad = server.put("/v1/policies/bad", policy.append('}').toString());
        assertThat(bad.json().get("errors")).hasSizeLessThanOrEqualTo(50);
        assertThat(bad.raw().body()).hasSizeLessThan(50_000);
    }

    /** What a raw client gets: java.net.http would not send it. */
    private String raw(String request) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.server.port())) {
            socket.setSoTimeout(120_000);
            socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
            socket.getOutputStream().flush();
            StringBuilder answer = new StringBuilder();
            BufferedReader reader =
                    new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
            try {
                for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                    answer.append(line).append('\n');
                }
            } catch (SocketException e) {
                // The server closes without having read all that was sent.
                assertThat(e).hasMessageContaining("reset");
            }
            return answer.toString();
        }
    }

    @Test
    void what_is_no_http_is_refused_with_a_problem_too() throws IOException {
        assertThat(raw("GET /" + "x".repeat(40_000) + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"))
                .startsWith("HTTP/1.1 4")
                .contains("application/problem+json")
                .doesNotContain("Jetty");
        assertThat(raw("GET /v1/jobs HTTP/1.1\r\nHost: a\r\nX: " + "y".repeat(40_000) + "\r\n\r\n"))
                .startsWith("HTTP/1.1 431")
                .contains("urn:reprise:problem:too-large");
        assertThat(raw("NONSENSE\r\n\r\n")).startsWith("HTTP/1.1 400").doesNotContain("Jetty");
        assertThat(raw("GET /v1/../healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"))
                .startsWith("HTTP/1.1 ");
        assertThat(raw("POST /v1/jobs HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + server.admin
                        + "\r\nContent-Type: application/json\r\nContent-Length: 99999999\r\n\r\n"))
                .startsWith("HTTP/1.1 413")
                .contains("too-large");
    }

    @Test
    void numbers_in_a_query_have_only_digits() {
        for (String limit : List.of("1e2", "5.0", "+5", "0x5", "")) {
            assertThat(server.get("/v1/jobs?limit=" + limit.replace("+", "%2B")).status())
                    .as(limit)
                    .isEqualTo(400);
        }
    }

    @Test
    void a_look_at_the_headers_of_a_stream_opens_none() {
        assertThat(server.send(server.admin, "HEAD", "/v1/events", null).status())
                .isEqualTo(200);
    }

    @Test
    void a_server_that_is_about_to_stop_says_first_that_it_is_not_ready() throws InterruptedException {
        assertThat(server.get("/readyz").status()).isEqualTo(200);
        server.server.drain(java.time.Duration.ZERO);
        Reply stopping = server.get("/readyz");
        assertThat(stopping.status()).isEqualTo(503);
        assertThat(stopping.raw().body()).contains("stopping");
        assertThat(server.enqueue("{\"type\":\"a\"}")).as("it still takes jobs").isNotEmpty();
        assertThat(server.get("/healthz").status()).isEqualTo(200);
    }

    @Test
    void a_schedule_shows_the_payload_that_was_given_although_another_is_stored() {
        EncryptionKeys keys =
                EncryptionKeys.parse(List.of("k:" + Base64.getEncoder().encodeToString(new byte[32])));
        try (TestServer sealing = new TestServer(keys)) {
            sealing.put(
                    "/v1/schedules/nightly",
                    "{\"every\":\"1d\",\"job\":{\"type\":\"a\",\"payload\":{\"card\":411111111}}}");
            assertThat(sealing.store.schedule("nightly").orElseThrow().job().payload())
                    .doesNotContain("411111111");
            assertThat(sealing.get("/v1/schedules/nightly")
                            .json()
                            .at("/job/payload/card")
                            .asInt())
                    .isEqualTo(411111111);
        }
    }
}
