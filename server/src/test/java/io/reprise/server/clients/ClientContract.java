// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.clients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.net.httpserver.HttpServer;
import io.reprise.server.http.Json;
import io.reprise.testkit.faults.TcpProxy;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * What the clients of every language do, against a real {@code reprise serve}. Each has a program with the same
 * commands: {@code tests/probe} in its folder. Where the language is not installed, a line says so and nothing runs.
 */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class ClientContract {

    private final List<Process> started = new ArrayList<>();

    /** One server for all tests of a language; each has a queue of its own. */
    private @Nullable ServeProcess running;

    private int queues;

    @TempDir
    Path directory;

    /** The command that says which version is installed. */
    abstract List<String> version();

    /** The command that runs the tests that need no server. */
    abstract List<String> partTests();

    /** The command that runs the probe. */
    abstract List<String> probe();

    @BeforeAll
    void serve(@TempDir Path home) throws IOException {
        boolean found = isInstalled(version());
        if (!found) {
            // Loud on purpose: a build without the language has not tested the client.
            System.err.println("!!! NOT TESTED: " + getClass().getSimpleName() + ": "
                    + version().get(0) + " was not found, so this client was not run at all !!!");
        }
        assumeTrue(found, version().get(0) + " is not found");
        running = new ServeProcess(home);
    }

    @AfterEach
    void stopProbes() throws InterruptedException {
        for (Process process : started) {
            process.destroyForcibly();
            process.waitFor();
        }
        started.clear();
        server().proxy.heal();
    }

    @AfterAll
    void stopServer() {
        if (running != null) {
            running.close();
        }
    }

    ServeProcess server() {
        return Objects.requireNonNull(running);
    }

    @BeforeEach
    void takeQueue() {
        server().queue = "q" + ++queues;
    }

    @Test
    void steps_sleeps_and_events_of_a_handler_are_kept_by_the_server() throws Exception {
        ServeProcess server = server();
        String id = server.enqueue("{\"type\":\"task\",\"payload\":{\"steps\":true}}");
        probe("worker", Map.of(), "work");
        ServeProcess.await("the wait for an event", () -> {
            JsonNode job = server.job(id);
            return job.get("waitReason").stringValue("").equals("EVENT");
        });
        server.call("POST", "/v1/jobs/" + id + "/events", "{\"name\":\"approval\",\"value\":{\"by\":\"ada\"}}");
        ServeProcess.await("the end", () -> server.state(id).equals("SUCCEEDED"));
        JsonNode steps = server.job(id).get("result").get("steps");
        assertThat(steps.get(0).stringValue()).isEqualTo("FIRST");
        assertThat(steps.get(1).get("by").stringValue()).isEqualTo("ada");
        assertThat(steps.get(2).stringValue()).isEqualTo("LAST");
        assertThat(log("worker").lines().filter(line -> line.equals("did " + id + " first")))
                .hasSize(1);
        assertThat(log("worker")).doesNotContain("swallowed");
        assertThat(server.job(id).get("attempts").intValue()).isEqualTo(1);
    }

    @Test
    void a_handler_joins_other_jobs_and_writes_log_lines() throws Exception {
        ServeProcess server = server();
        String id = server.enqueue("{\"type\":\"task\",\"payload\":{\"join\":[3,4]}}");
        String dead = server.enqueue("{\"type\":\"task\",\"payload\":{\"join\":[\"bad\"]}}");
        probe("worker", Map.of(), "work");
        ServeProcess.await("the end", () -> server.state(id).equals("SUCCEEDED"));
        JsonNode joined = server.job(id).get("result").get("joined");
        assertThat(joined.get(0).get("value").intValue()).isEqualTo(3);
        assertThat(joined.get(1).get("value").intValue()).isEqualTo(4);
        JsonNode lines = server.call("GET", "/v1/jobs/" + id + "/log", null).get("items");
        assertThat(lines.get(0).get("text").stringValue()).isEqualTo("joins 2");
        assertThat(lines.get(lines.size() - 1).get("text").stringValue()).isEqualTo("joined");
        ServeProcess.await("the dead letter", () -> server.state(dead).equals("FAILED"));
        assertThat(server.job(dead).get("failReason").stringValue()).isEqualTo("PERMANENT");
        assertThat(server.job(dead).at("/lastError/message").stringValue()).contains("number 0 of join parts");
    }

    @Test
    void a_member_of_a_batch_adds_others() throws Exception {
        ServeProcess server = server();
        server.call("PUT", "/v1/batches/import", "{}");
        String id = server.call(
                        "POST",
                        "/v1/batches/import/jobs",
                        "{\"type\":\"task\",\"queue\":\"" + server.queue + "\",\"payload\":{\"add\":[3,4]}}")
                .at("/ids/0")
                .stringValue();
        server.call("POST", "/v1/batches/import/close", "{}");
        probe("worker", Map.of(), "work");
        ServeProcess.await(
                "the end of the batch",
                () -> !server.call("GET", "/v1/batches/import", null)
                        .get("endedAt")
                        .isNull());
        JsonNode batch = server.call("GET", "/v1/batches/import", null);
        assertThat(batch.get("succeeded").intValue()).as(log("worker")).isEqualTo(5);
        JsonNode added = server.job(id).get("result").get("added");
        assertThat(added.size()).isEqualTo(2);
        assertThat(server.job(added.get(1).stringValue())
                        .get("result")
                        .get("value")
                        .intValue())
                .isEqualTo(4);
    }

    @Test
    void a_step_that_fails_for_good_can_be_undone() throws Exception {
        ServeProcess server = server();
        String undone = server.enqueue("{\"type\":\"task\",\"payload\":{\"failing\":\"undo\"}}");
        String dead = server.enqueue("{\"type\":\"task\",\"payload\":{\"failing\":\"pass\"}}");
        String unknown = server.enqueue("{\"type\":\"task\",\"payload\":{\"failing\":\"once\"}}");
        probe("worker", Map.of(), "work");
        ServeProcess.await("the end", () -> server.state(undone).equals("SUCCEEDED"));
        assertThat(server.job(undone).get("result").stringValue()).isEqualTo("undone after EXHAUSTED");
        assertThat(log("worker").lines().filter(line -> line.equals("did " + undone + " work")))
                .as("attempts of the step's own policy")
                .hasSize(2);
        ServeProcess.await("the dead letter", () -> server.state(dead).equals("FAILED"));
        assertThat(server.job(dead).get("failReason").stringValue()).isEqualTo("EXHAUSTED");
        ServeProcess.await("the unknown outcome", () -> server.state(unknown).equals("FAILED"));
        assertThat(server.job(unknown).get("failReason").stringValue()).isEqualTo("UNKNOWN_OUTCOME");
        assertThat(log("worker").lines().filter(line -> line.equals("did " + unknown + " work")))
                .hasSize(1);
        assertThat(log("worker")).doesNotContain("swallowed");
    }

    @Test
    void its_parts_pass_their_own_tests() throws Exception {
        Process tests = start("parts", partTests(), Map.of());
        assertThat(tests.waitFor(3, TimeUnit.MINUTES)).isTrue();
        assertThat(tests.exitValue()).as(log("parts")).isZero();
    }

    @Test
    void it_enqueues_finds_and_awaits() throws Exception {
        Process api = probe("api", Map.of(), "api");
        assertThat(api.waitFor(3, TimeUnit.MINUTES)).isTrue();
        assertThat(log("api")).contains("ok");
        assertThat(api.exitValue()).as(log("api")).isZero();
    }

    @Test
    void outcomes_of_handlers_reach_the_server() throws Exception {
        ServeProcess server = server();
        String good = server.enqueue("{\"type\":\"task\",\"payload\":{\"value\":7}}");
        String bad = server.enqueue("{\"type\":\"task\",\"payload\":{\"fail\":\"declined\",\"code\":\"card_declined\","
                + "\"status\":402,\"permanent\":true}}");
        String later = server.enqueue(
                "{\"type\":\"task\",\"payload\":{\"fail\":\"busy\",\"status\":503," + "\"retryAfter\":3000}}");
        String snoozed = server.enqueue("{\"type\":\"task\",\"payload\":{\"snooze\":0.2,\"value\":8}}");
        String unwritable = server.enqueue("{\"type\":\"task\",\"payload\":{\"unwritable\":true}}");
        String huge = server.enqueue("{\"type\":\"task\",\"payload\":{\"huge\":true}}");
        probe("worker", Map.of(), "work");
        for (String id : List.of(good, bad, snoozed, unwritable, huge)) {
            ServeProcess.await(id, () -> !List.of("PENDING", "RUNNING").contains(server.state(id)));
        }
        assertThat(server.job(good).get("result").get("value").intValue()).isEqualTo(7);
        assertThat(server.job(good).get("result").get("fence").intValue()).isPositive();
        assertThat(server.job(snoozed).get("result").get("value").intValue()).isEqualTo(8);
        assertThat(server.job(snoozed).get("snoozes").intValue()).isEqualTo(1);
        JsonNode declined = server.job(bad);
        assertThat(declined.get("failReason").stringValue()).isEqualTo("PERMANENT");
        JsonNode failure = declined.get("history").get(0).get("failure");
        assertThat(failure.get("code").stringValue()).isEqualTo("card_declined");
        assertThat(failure.get("httpStatus").intValue()).isEqualTo(402);
        assertThat(failure.get("trace").stringValue()).contains("declined");
        ServeProcess.await(
                "the retry", () -> !server.job(later).get("nextRetryAt").isNull());
        assertThat(server.job(later)
                        .get("history")
                        .get(0)
                        .get("failure")
                        .get("retryAfter")
                        .stringValue())
                .isEqualTo("50m");
        for (String id : List.of(unwritable, huge)) {
            assertThat(server.job(id).get("failReason").stringValue())
                    .as(log("worker"))
                    .isEqualTo("PERMANENT");
            assertThat(server.job(id).get("lastError").get("type").stringValue())
                    .isEqualTo("UnreportableOutcome");
        }
    }

    @Test
    void a_run_tells_the_parents_of_its_error_its_cost_and_that_the_job_is_not_wanted() throws Exception {
        ServeProcess server = server();
        String policy =
                "{\"maxAttempts\":3,\"rules\":[{\"name\":\"parent\",\"class\":\"PERMANENT\",\"types\":[\"Parent\"]}]}";
        String child = server.enqueue(
                "{\"type\":\"task\",\"payload\":{\"fail\":\"kind\",\"usd\":0.5},\"policy\":" + policy + "}");
        String unwanted = server.enqueue("{\"type\":\"task\",\"payload\":{\"cancel\":\"the order was withdrawn\"}}");
        probe("worker", Map.of(), "work");
        for (String id : List.of(child, unwanted)) {
            ServeProcess.await(id, () -> !List.of("PENDING", "RUNNING").contains(server.state(id)));
        }
        JsonNode failed = server.job(child);
        assertThat(failed.get("failReason").stringValue()).as(log("worker")).isEqualTo("PERMANENT");
        JsonNode run = failed.get("history").get(0);
        assertThat(run.get("failure").get("type").stringValue()).isEqualTo("Child");
        assertThat(run.get("decision").get("rule").stringValue()).isEqualTo("parent");
        assertThat(server.state(unwanted)).isEqualTo("CANCELLED");
        ServeProcess.await(
                "the cost",
                () -> server.call("GET", "/v1/stats", null).toString().contains("\"usd\""));
    }

    @Test
    void a_long_run_keeps_its_lease_and_shows_its_progress() throws Exception {
        ServeProcess server = server();
        String id = server.enqueue("{\"type\":\"task\",\"payload\":{\"percent\":40,\"thenSeconds\":6}}");
        probe("worker", Map.of("LEASE", "2"), "work");
        ServeProcess.await("progress", () -> !server.job(id).get("progress").isNull());
        assertThat(server.job(id).get("progress").get("percent").intValue()).isEqualTo(40);
        ServeProcess.await("the end", () -> server.state(id).equals("SUCCEEDED"));
        assertThat(server.job(id).get("history").size()).as(log("worker")).isLessThanOrEqualTo(1);
        assertThat(server.job(id).get("losses").intValue()).isZero();
    }

    @Test
    void a_cancelled_run_is_told_to_stop() throws Exception {
        ServeProcess server = server();
        String id = server.enqueue("{\"type\":\"task\",\"payload\":{\"seconds\":600}}");
        probe("worker", Map.of("LEASE", "2"), "work");
        ServeProcess.await("it runs", () -> log("worker").contains("ran " + id));
        server.call("POST", "/v1/jobs/" + id + "/cancel", "{}");
        ServeProcess.await("the end", () -> server.state(id).equals("CANCELLED"));
        assertThat(log("worker")).contains("stopped " + id + " cancelled");
    }

    @Test
    void a_killed_server_loses_and_repeats_no_outcome() throws Exception {
        ServeProcess server = server();
        int jobs = 400;
        Process load = probe("load", Map.of(), "load", "storm", Integer.toString(jobs));
        probe("worker", Map.of("LEASE", "5", "CONCURRENCY", "16"), "work");
        for (int kill = 1; kill <= 2; kill++) {
            int enough = kill * 60;
            ServeProcess.await("some have ended", () -> server.count("SUCCEEDED") >= enough);
            server.killAndStart();
        }
        assertThat(load.waitFor(4, TimeUnit.MINUTES)).as(log("load")).isTrue();
        assertThat(load.exitValue()).as(log("load")).isZero();
        ServeProcess.await("all have ended", () -> server.count("SUCCEEDED") >= jobs);
        assertThat(server.count("SUCCEEDED")).as("no job was enqueued twice").isEqualTo(jobs);
        assertThat(server.count("FAILED")).isZero();
    }

    @Test
    void answers_that_are_lost_are_asked_for_again() throws Exception {
        ServeProcess server = server();
        int jobs = 120;
        Process load = probe("load", Map.of(), "load", "lost", Integer.toString(jobs));
        probe("worker", Map.of("LEASE", "3", "CONCURRENCY", "4"), "work");
        for (int cut = 1; cut <= 6; cut++) {
            int broken = server.proxy.broken();
            // The request has taken effect, and its answer ends in the middle.
            server.proxy.cutAfter(40L * cut);
            ServeProcess.await("an answer is lost", () -> server.proxy.broken() > broken);
        }
        server.proxy.heal();
        assertThat(load.waitFor(3, TimeUnit.MINUTES)).as(log("load")).isTrue();
        ServeProcess.await("all have ended", () -> server.count("SUCCEEDED") >= jobs);
        assertThat(server.count("SUCCEEDED")).isEqualTo(jobs);
        assertThat(server.count("FAILED")).isZero();
    }

    @Test
    void a_run_whose_lease_is_lost_is_told_and_its_outcome_changes_nothing() throws Exception {
        ServeProcess server = server();
        String id = server.enqueue("{\"type\":\"task\",\"payload\":{\"seconds\":600}}");
        probe("worker", Map.of("LEASE", "2", "NAME", "first"), "work");
        ServeProcess.await("it runs", () -> log("worker").contains("ran " + id));
        // No heartbeat reaches the server; another worker, not through the proxy, would get the job.
        server.proxy.stall(TcpProxy.Direction.TO_SERVER);
        ServeProcess.await("the job is taken away", () -> server.state(id).equals("PENDING"));
        ServeProcess.await("the run is told", () -> log("worker").contains("stopped " + id + " lost"));
        JsonNode lease = server.call(
                        "POST",
                        "/v1/leases",
                        "{\"worker\":\"second\",\"wait\":\"30s\",\"queues\":[\"" + server.queue + "\"]}")
                .get("items")
                .get(0);
        server.proxy.heal();
        server.call(
                "POST",
                "/v1/leases/" + lease.get("token").stringValue() + "/complete",
                "{\"result\":{\"by\":\"second\"}}");
        ServeProcess.await("the late outcome is refused", () -> log("worker").contains("Outcome refused"));
        assertThat(server.job(id).get("result").get("by").stringValue()).isEqualTo("second");
        assertThat(server.job(id).get("attempts").intValue()).isLessThanOrEqualTo(1);
    }

    @Test
    void a_stop_lets_short_runs_finish_and_gives_long_ones_back() throws Exception {
        ServeProcess server = server();
        String quick = server.enqueue("{\"type\":\"task\",\"payload\":{\"seconds\":1,\"value\":1}}");
        String slow = server.enqueue("{\"type\":\"task\",\"payload\":{\"seconds\":600}}");
        String stubborn = server.enqueue("{\"type\":\"task\",\"payload\":{\"seconds\":600,\"stubborn\":true}}");
        Process worker = probe("worker", Map.of("GRACE", "4"), "work");
        for (String id : List.of(quick, slow, stubborn)) {
            ServeProcess.await("it runs", () -> log("worker").contains("ran " + id));
        }
        worker.destroy();
        assertThat(worker.waitFor(2, TimeUnit.MINUTES)).isTrue();
        assertThat(worker.exitValue()).as(log("worker")).isZero();
        assertThat(log("worker")).contains("stopped " + slow + " stopping").contains("stopped in peace");
        assertThat(server.state(quick)).isEqualTo("SUCCEEDED");
        for (String id : List.of(slow, stubborn)) {
            assertThat(server.state(id)).as(log("worker")).isEqualTo("PENDING");
            assertThat(server.job(id).get("attempts").intValue()).isZero();
        }
    }

    @Test
    void many_outcomes_need_few_requests() throws Exception {
        ServeProcess server = server();
        int jobs = 300;
        StringBuilder all = new StringBuilder("[");
        for (int n = 0; n < jobs; n++) {
            all.append(n == 0 ? "" : ",").append("{\"type\":\"task\",\"queue\":\"" + server.queue + "\"}");
        }
        server.call("POST", "/v1/jobs", all.append(']').toString());
        int before = server.proxy.accepted();
        probe("worker", Map.of("CONCURRENCY", "100"), "work");
        ServeProcess.await("all have ended", () -> server.count("SUCCEEDED") == jobs);
        // Each outcome alone would be a request, and in Python a connection, of its own.
        assertThat(server.proxy.accepted() - before).as(log("worker")).isLessThan(jobs);
    }

    @Test
    void webhooks_of_the_server_are_verified() throws Exception {
        ServeProcess server = server();
        LinkedBlockingQueue<Map<String, Object>> received = new LinkedBlockingQueue<>();
        HttpServer receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        receiver.createContext("/", exchange -> {
            Map<String, String> headers = new LinkedHashMap<>();
            exchange.getRequestHeaders().forEach((name, values) -> headers.put(name, values.get(0)));
            String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            received.add(Map.of("headers", headers, "body", body));
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        receiver.start();
        try {
            JsonNode hook = server.call(
                    "POST",
                    "/v1/webhooks",
                    "{\"url\":\"http://127.0.0.1:" + receiver.getAddress().getPort()
                            + "/\",\"events\":[\"succeeded\"]}");
            server.enqueue("{\"type\":\"task\"}");
            probe("worker", Map.of(), "work");
            Map<String, Object> message = received.poll(2, TimeUnit.MINUTES);
            assertThat(message).isNotNull();
            String secret = hook.get("secret").stringValue();
            assertThat(verified(secret, message)).startsWith("valid job.succeeded");
            Map<String, Object> changed = new LinkedHashMap<>(message);
            changed.put("body", message.get("body") + " ");
            assertThat(verified(secret, changed)).startsWith("invalid");
        } finally {
            receiver.stop(0);
        }
    }

    private String verified(String secret, Map<String, Object> message) throws Exception {
        Path in = Files.writeString(directory.resolve("message"), Json.text(message));
        Path out = directory.resolve("verified");
        List<String> command = new ArrayList<>(probe());
        command.addAll(List.of("verify", secret));
        Process process = new ProcessBuilder(command)
                .redirectInput(in.toFile())
                .redirectErrorStream(true)
                .redirectOutput(out.toFile())
                .start();
        started.add(process);
        assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
        return Files.readString(out);
    }

    Process probe(String name, Map<String, String> environment, String... words) throws IOException {
        List<String> command = new ArrayList<>(probe());
        command.addAll(List.of(words));
        return start(name, command, environment);
    }

    private Process start(String name, List<String> command, Map<String, String> environment) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve(name).toFile());
        builder.environment().put("REPRISE_URL", server().url());
        builder.environment().put("REPRISE_KEY", server().key());
        builder.environment().put("QUEUE", server().queue);
        builder.environment().putAll(environment);
        // Python writes compiled files beside the sources unless told not to.
        builder.environment().put("PYTHONDONTWRITEBYTECODE", "1");
        Process process = builder.start();
        started.add(process);
        return process;
    }

    String log(String name) {
        try {
            return Files.readString(directory.resolve(name));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static boolean isInstalled(List<String> command) {
        try {
            return new ProcessBuilder(command)
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
