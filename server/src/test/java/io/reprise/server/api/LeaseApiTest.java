// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.jdbc.JdbcJobStore;
import io.reprise.server.api.TestServer.Reply;
import io.reprise.server.net.HttpSettings;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

class LeaseApiTest {

    private final TestServer server = new TestServer();

    @AfterEach
    void stop() {
        server.close();
    }

    private Reply settle(JsonNode lease, String how, String body) {
        return server.post("/v1/leases/" + lease.get("token").stringValue() + "/" + how, body);
    }

    @Test
    void a_remote_worker_runs_a_job() {
        String id = server.enqueue("{\"type\":\"resize\",\"queue\":\"images\",\"payload\":{\"w\":100}}");
        JsonNode lease = server.lease(",\"queues\":[\"images\"],\"types\":[\"resize\"]");
        assertThat(lease.get("job").get("id").stringValue()).isEqualTo(id);
        assertThat(lease.get("job").get("state").stringValue()).isEqualTo("RUNNING");
        assertThat(lease.get("attempt").intValue()).isEqualTo(1);
        Reply beat = settle(lease, "heartbeat", "{\"progress\":{\"percent\":40,\"message\":\"half\"}}");
        assertThat(beat.json().get("cancelled").booleanValue()).isFalse();
        assertThat(server.get("/v1/jobs/" + id)
                        .json()
                        .get("progress")
                        .get("percent")
                        .intValue())
                .isEqualTo(40);
        Reply done = settle(lease, "complete", "{\"result\":[1,2]}");
        assertThat(done.text("state")).isEqualTo("SUCCEEDED");
        assertThat(done.json().get("result").toString()).isEqualTo("[1,2]");
    }

    @Test
    void the_answer_to_a_completion_is_the_job_as_it_is_stored() {
        String id = server.enqueue(
                "{\"type\":\"resize\",\"payload\":{\"w\":100},\"tags\":[\"a\"],\"resource\":\"disk\",\"priority\":3,\"maxAttempts\":5}");
        settle(server.lease(""), "fail", "{\"type\":\"X\",\"message\":\"down\"}");
        server.post("/v1/jobs/" + id + "/retry", "{}");
        JsonNode lease = server.lease("");
        settle(lease, "heartbeat", "{\"progress\":{\"percent\":40,\"message\":\"half\"}}");
        assertAnswerIsStored(id, settle(lease, "complete", "{\"result\":{\"n\":1.50}}"));
        assertAnswerIsStored(id, settle(lease, "complete", "{\"result\":{\"n\":1.50}}"));
    }

    private void assertAnswerIsStored(String id, Reply answer) {
        assertThat(answer.status()).isEqualTo(200);
        JsonNode stored = server.get("/v1/jobs/" + id).json();
        answer.json()
                .properties()
                .forEach(member ->
                        assertThat(member.getValue()).as(member.getKey()).isEqualTo(stored.get(member.getKey())));
    }

    @Test
    void a_worker_need_not_have_a_name() {
        String id = server.enqueue("{\"type\":\"a\"}");
        Reply leased =
                server.post("/v1/leases", "{\"queues\":[\"default\"],\"types\":[\"a\"],\"max\":5,\"wait\":\"20s\"}");
        JsonNode lease = leased.json().get("items").get(0);
        assertThat(lease.get("job").get("worker").stringValue()).isEqualTo("remote");
        assertThat(settle(lease, "complete", "{}").text("id")).isEqualTo(id);
    }

    @Test
    void a_failure_is_decided_by_the_policy_once() {
        String id = server.enqueue("{\"type\":\"call\",\"maxAttempts\":2}");
        JsonNode lease = server.lease("");
        Reply failed = settle(lease, "fail", """
                {"type":"HttpError","code":"E42","httpStatus":503,"message":"down","trace":"at x"}
                """);
        assertThat(failed.text("state")).isEqualTo("PENDING");
        assertThat(failed.text("waitReason")).isEqualTo("RETRY");
        JsonNode job = server.get("/v1/jobs/" + id).json();
        assertThat(job.get("attempts").intValue()).isEqualTo(1);
        assertThat(job.get("nextRetryAt").stringValue())
                .isEqualTo(job.get("dueAt").stringValue());
        JsonNode attempt = job.get("history").get(0);
        assertThat(attempt.get("failure").get("code").stringValue()).isEqualTo("E42");
        assertThat(attempt.get("failure").get("httpStatus").intValue()).isEqualTo(503);
        assertThat(attempt.get("decision").get("kind").stringValue()).isEqualTo("RETRY");
        assertThat(attempt.get("worker").stringValue()).isEqualTo("w");
        server.post("/v1/jobs/" + id + "/retry", "{}");
        Reply dead = settle(server.lease(""), "fail", "{\"type\":\"HttpError\",\"httpStatus\":503}");
        assertThat(dead.text("state")).isEqualTo("FAILED");
        assertThat(dead.text("failReason")).isEqualTo("EXHAUSTED");
    }

    @Test
    void the_trace_of_a_run_that_failed_comes_with_the_next_lease() {
        String id = server.enqueue("{\"type\":\"call\",\"tags\":[\"own\"],\"maxAttempts\":5}");
        String first = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        String second = first.replace("00f067aa0ba902b7", "00f067aa0ba902b8");
        String token = server.lease("").get("token").stringValue();
        server.send(server.admin, "POST", "/v1/leases/" + token + "/fail", "{\"type\":\"X\"}", "traceparent", first);
        server.post("/v1/jobs/" + id + "/retry", "{}");
        JsonNode again = server.lease("");
        assertThat(again.get("job").get("tags").values().stream().map(JsonNode::stringValue))
                .containsExactlyInAnyOrder("own", "run:" + first);
        server.post(
                "/v1/leases/report",
                "{\"reports\":[{\"token\":\"" + again.get("token").stringValue()
                        + "\",\"outcome\":\"fail\",\"failure\":{\"type\":\"X\"},\"traceparent\":\"" + second + "\"}]}");
        server.post("/v1/jobs/" + id + "/retry", "{}");
        JsonNode third = server.lease("");
        assertThat(third.get("job").get("tags").values().stream().map(JsonNode::stringValue))
                .containsExactlyInAnyOrder("own", "run:" + second);
        settle(third, "fail", "{\"type\":\"X\"}");
        assertThat(server.get("/v1/jobs/" + id).json().get("tags").toString()).contains(second);
    }

    @Test
    void a_failure_names_the_parents_of_its_type_its_class_and_its_cost() {
        String id = server.enqueue(
                "{\"type\":\"call\",\"policy\":{\"rules\":[{\"name\":\"net\",\"class\":\"PERMANENT\",\"types\":[\"OSError\"]}]}}");
        Reply dead = settle(server.lease(""), "fail", """
                {"types":["ConnectionRefusedError","ConnectionError","OSError"],"cost":{"usd":0.25,"tokens":800}}
                """);
        assertThat(dead.text("failReason")).isEqualTo("PERMANENT");
        JsonNode attempt = server.get("/v1/jobs/" + id).json().get("history").get(0);
        assertThat(attempt.get("decision").get("rule").stringValue()).isEqualTo("net");
        server.enqueue("{\"type\":\"call\"}");
        JsonNode lease = server.lease("");
        for (String wrong : List.of(
                "{\"message\":\"x\"}",
                "{\"type\":\"X\",\"types\":[\"X\"]}",
                "{\"type\":\"X\",\"cost\":{\"usd\":-1}}",
                "{\"type\":\"X\",\"cost\":{\"seconds\":1}}",
                "{\"type\":\"X\",\"class\":\"LOST\"}")) {
            assertThat(settle(lease, "fail", wrong).status()).as(wrong).isEqualTo(400);
        }
        assertThat(settle(lease, "fail", "{\"type\":\"X\",\"class\":\"THROTTLED\"}")
                        .text("state"))
                .isEqualTo("PENDING");
    }

    @Test
    void a_worker_cancels_a_job_and_gives_one_back_with_an_empty_object() {
        server.enqueue("{\"type\":\"call\"}");
        JsonNode lease = server.lease("");
        assertThat(settle(lease, "release", "{}").text("state")).isEqualTo("PENDING");
        assertThat(settle(server.lease(""), "cancel", "{\"reason\":\"no longer needed\",\"cost\":{\"usd\":1}}")
                        .text("state"))
                .isEqualTo("CANCELLED");
    }

    @Test
    void a_stale_token_is_refused_and_changes_nothing() {
        String id = server.enqueue("{\"type\":\"call\"}");
        JsonNode lease = server.lease("");
        assertThat(settle(lease, "complete", "{}").status()).isEqualTo(200);
        String before = server.get("/v1/jobs/" + id).raw().body();
        for (String how : List.of("heartbeat")) {
            Reply stale = settle(lease, how, "{}");
            assertThat(stale.status()).as(how).isEqualTo(409);
            assertThat(stale.problem()).isEqualTo("stale-lease");
        }
        assertThat(settle(lease, "fail", "{\"type\":\"X\"}").status()).isEqualTo(409);
        assertThat(settle(lease, "snooze", "{\"delay\":\"1s\"}").status()).isEqualTo(409);
        assertThat(server.get("/v1/jobs/" + id).raw().body()).isEqualTo(before);
        assertThat(server.post("/v1/leases/1-999999-00000000000000000000/complete", "{}")
                        .status())
                .isEqualTo(409);
    }

    @Test
    void a_worker_that_falls_silent_loses_the_job_and_its_word_no_longer_counts() {
        String id = server.enqueue("{\"type\":\"call\"}");
        JsonNode lost = server.lease(",\"lease\":\"1s\"");
        assertThat(settle(lost, "heartbeat", "{\"lease\":\"1s\"}").status()).isEqualTo(200);
        JsonNode second = TestServer.await(() -> {
            JsonNode items =
                    server.post("/v1/leases", "{\"worker\":\"w2\"}").json().get("items");
            return items.isEmpty() ? null : items.get(0);
        });
        assertThat(second.get("job").get("id").stringValue()).isEqualTo(id);
        assertThat(second.get("fence").longValue())
                .isGreaterThan(lost.get("fence").longValue());
        assertThat(settle(lost, "complete", "{}").status()).isEqualTo(409);
        assertThat(settle(second, "complete", "{}").text("state")).isEqualTo("SUCCEEDED");
        JsonNode job = server.get("/v1/jobs/" + id).json();
        assertThat(job.get("losses").intValue()).isEqualTo(1);
        assertThat(job.get("attempts").intValue()).isEqualTo(1);
    }

    /** Whether the answer was lost on its way is not known; that the worker never said a word is. */
    @Test
    void a_lease_that_was_never_renewed_nor_answered_is_no_loss() {
        String id = server.enqueue("{\"type\":\"call\"}");
        for (int i = 0; i < 2; i++) {
            server.lease(",\"lease\":\"1s\"");
            awaitState(id, "PENDING");
        }
        JsonNode job = server.get("/v1/jobs/" + id).json();
        assertThat(job.get("losses").intValue()).isZero();
        assertThat(job.get("interruptions").intValue()).isEqualTo(2);
        assertThat(server.get("/v1/jobs/" + id).raw().body()).contains("was never heard of");
    }

    @Test
    void a_snooze_and_a_release_spend_no_attempt() {
        String id = server.enqueue("{\"type\":\"call\"}");
        assertThat(settle(server.lease(""), "release", null).text("state")).isEqualTo("PENDING");
        Reply snoozed = settle(server.lease(""), "snooze", "{\"delay\":\"1h\"}");
        assertThat(snoozed.text("waitReason")).isEqualTo("SNOOZE");
        assertThat(server.get("/v1/jobs/" + id).json().get("attempts").intValue())
                .isZero();
    }

    @Test
    void many_runs_are_reported_in_one_request_and_each_is_answered() {
        List<String> tokens = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            server.enqueue("{\"type\":\"call\"}");
        }
        server.post("/v1/leases", "{\"worker\":\"w\",\"max\":10}")
                .json()
                .get("items")
                .forEach(lease -> tokens.add(lease.get("token").stringValue()));
        String forged = tokens.get(4).replaceAll("[0-9a-f]{20}$", "00000000000000000000");
        String body = "{\"reports\":[" + report(tokens.get(0), "complete", ",\"result\":{\"sum\":3}") + ","
                + report(tokens.get(1), "fail", ",\"failure\":{\"type\":\"E\",\"permanent\":true}") + ","
                + report(tokens.get(2), "snooze", ",\"delay\":\"1h\"") + ","
                + report(tokens.get(3), "release", "") + "," + report(forged, "complete", "") + ","
                + report(tokens.get(0), "fail", ",\"failure\":{\"type\":\"late\"}") + "]}";
        JsonNode answers = server.post("/v1/leases/report", body).json().get("items");
        assertThat(accepted(answers)).containsExactly(true, true, true, true, false, false);
        assertThat(answers.get(4).at("/problem/type").stringValue()).isEqualTo("urn:reprise:problem:stale-lease");
        assertThat(answers.get(0).get("problem").isNull()).isTrue();
        assertThat(answers.get(3).get("token").stringValue()).isEqualTo(tokens.get(3));
        assertThat(tokens.stream().map(this::state))
                .containsExactly("SUCCEEDED", "FAILED", "PENDING", "PENDING", "RUNNING");
        JsonNode again = server.post("/v1/leases/report", body).json().get("items");
        assertThat(accepted(again))
                .as("a release leaves nothing to know it by")
                .containsExactly(true, true, true, false, false, false);
        assertThat(server.get("/v1/queues/default")
                        .json()
                        .at("/counts/SUCCEEDED")
                        .intValue())
                .isEqualTo(1);
    }

    @Test
    void reports_of_which_one_cannot_be_read_change_nothing() {
        server.enqueue("{\"type\":\"call\"}");
        String token = server.lease("").get("token").stringValue();
        for (String wrong :
                List.of(report(token, "fail", ""), report(token, "snooze", ""), report(token, "lose", ""), "{}", "1")) {
            String body = "{\"reports\":[" + report(token, "complete", "") + "," + wrong + "]}";
            assertThat(server.post("/v1/leases/report", body).status()).as(body).isEqualTo(400);
        }
        assertThat(state(token)).isEqualTo("RUNNING");
    }

    private static String report(String token, String outcome, String more) {
        return "{\"token\":\"" + token + "\",\"outcome\":\"" + outcome + "\"" + more + "}";
    }

    private static List<Boolean> accepted(JsonNode answers) {
        List<Boolean> accepted = new ArrayList<>();
        answers.forEach(answer -> accepted.add(answer.get("accepted").booleanValue()));
        return accepted;
    }

    private String state(String token) {
        return server.get("/v1/jobs/" + token.split("-", -1)[1]).text("state");
    }

    @Test
    void a_batch_of_leases_is_settled_one_by_one() {
        for (int i = 0; i < 5; i++) {
            server.enqueue("{\"type\":\"call\"}");
        }
        JsonNode items = server.post("/v1/leases", "{\"worker\":\"w\",\"max\":10}")
                .json()
                .get("items");
        assertThat(items).hasSize(5);
        for (JsonNode lease : items) {
            assertThat(settle(lease, "complete", "{}").text("state")).isEqualTo("SUCCEEDED");
        }
        assertThat(server.get("/v1/queues/default")
                        .json()
                        .get("counts")
                        .get("SUCCEEDED")
                        .intValue())
                .isEqualTo(5);
    }

    @Test
    void jobs_of_other_types_and_queues_are_left_alone() {
        server.enqueue("{\"type\":\"a\"}");
        server.enqueue("{\"type\":\"b\",\"queue\":\"other\"}");
        assertThat(server.post("/v1/leases", "{\"worker\":\"w\",\"types\":[\"c\"]}")
                        .json()
                        .get("items"))
                .isEmpty();
        assertThat(server.post("/v1/leases", "{\"worker\":\"w\",\"queues\":[\"other\"],\"max\":5}")
                        .json()
                        .get("items"))
                .hasSize(1);
    }

    @Test
    void a_cancelled_run_is_told_with_its_heartbeat() {
        String id = server.enqueue("{\"type\":\"call\"}");
        JsonNode lease = server.lease("");
        assertThat(server.post("/v1/jobs/" + id + "/cancel", "{}").status()).isEqualTo(202);
        assertThat(settle(lease, "heartbeat", "{}").json().get("cancelled").booleanValue())
                .isTrue();
        assertThat(settle(lease, "fail", "{\"type\":\"Stopped\"}").text("state"))
                .isEqualTo("CANCELLED");
    }

    @Test
    void a_run_that_exceeds_the_timeout_fails_at_its_next_heartbeat() {
        String id = server.enqueue("{\"type\":\"call\",\"timeout\":\"1ms\",\"maxAttempts\":1}");
        JsonNode lease = server.lease("");
        TestServer.await(() -> settle(lease, "heartbeat", "{}").status() == 409 ? true : null);
        JsonNode job = server.get("/v1/jobs/" + id).json();
        assertThat(job.get("state").stringValue()).isEqualTo("FAILED");
        assertThat(job.get("history").get(0).get("decision").get("failureClass").stringValue())
                .isEqualTo("TIMEOUT");
    }

    @Test
    void a_forced_open_breaker_parks_jobs_instead_of_leasing_them() {
        server.post("/v1/resources/api/force-open", "{\"why\":\"maintenance\"}");
        String id = server.enqueue("{\"type\":\"call\",\"resource\":\"api\"}");
        TestServer.await(() -> {
            // A worker that has not heard of it yet may lease the job once more, but not for long.
            server.post("/v1/leases", "{\"worker\":\"w\",\"lease\":\"1s\"}");
            return server.get("/v1/jobs/" + id).text("waitReason").equals("BREAKER") ? true : null;
        });
        assertThat(server.get("/v1/jobs/" + id).json().get("attempts").intValue())
                .isZero();
        assertThat(server.get("/v1/resources/api").json().get("parked").intValue())
                .isEqualTo(1);
        assertThat(server.post("/v1/resources/api/force-close", "{}").text("phase"))
                .isEqualTo("CLOSED");
        JsonNode lease = server.lease("");
        assertThat(lease.get("job").get("id").stringValue()).isEqualTo(id);
    }

    @Test
    void a_remote_worker_is_seen_among_the_workers() {
        server.post("/v1/leases", "{\"worker\":\"py-1\",\"types\":[\"resize\"]}");
        assertThat(server.get("/v1/workers")
                        .json()
                        .get("items")
                        .valueStream()
                        .map(w -> w.get("name").stringValue()))
                .contains("py-1");
    }

    @Test
    void a_worker_that_names_no_types_gets_none_of_the_servers_own_jobs() {
        server.post("/v1/queues/default/pause", "{}");
        server.enqueue(
                "{\"type\":\"http\",\"queue\":\"calls\",\"delay\":\"1h\",\"payload\":{\"url\":\"http://127.0.0.1:1/\","
                        + "\"headers\":{\"Authorization\":\"Bearer upstream-secret\"}}}");
        String call = server.get("/v1/jobs?type=http").json().at("/items/0/id").stringValue();
        server.post("/v1/resources/127.0.0.1/force-open", "{}");
        server.post("/v1/jobs/" + call + "/retry", "{}");
        String own = server.enqueue("{\"type\":\"a\",\"queue\":\"calls\"}");
        Reply leased = server.post("/v1/leases", "{\"max\":100,\"wait\":\"20s\"}");
        assertThat(leased.json().get("items")).hasSize(1);
        assertThat(leased.json().at("/items/0/job/id").stringValue()).isEqualTo(own);
        assertThat(leased.raw().body()).doesNotContain("upstream-secret");
        assertThat(server.post("/v1/leases", "{\"types\":[\"http\"]}").status()).isEqualTo(400);
    }

    @Test
    void who_never_got_the_answer_may_report_the_same_outcome_again() {
        String id = server.enqueue("{\"type\":\"a\"}");
        String token = server.lease("").get("token").stringValue();
        for (int i = 0; i < 2; i++) {
            Reply done = server.post("/v1/leases/" + token + "/complete", "{\"result\":1}");
            assertThat(done.status()).isEqualTo(200);
            assertThat(done.text("state")).isEqualTo("SUCCEEDED");
        }
        assertThat(server.post("/v1/leases/" + token + "/fail", "{\"type\":\"x\"}")
                        .status())
                .as("another outcome")
                .isEqualTo(409);
        assertThat(server.get("/v1/jobs/" + id).json().get("history")).hasSize(1);
    }

    @Test
    void a_failure_that_is_reported_again_counts_once() {
        String id = server.enqueue("{\"type\":\"a\",\"maxAttempts\":5}");
        String token = server.lease("").get("token").stringValue();
        for (int i = 0; i < 2; i++) {
            assertThat(server.post("/v1/leases/" + token + "/fail", "{\"type\":\"x\"}")
                            .status())
                    .isEqualTo(200);
        }
        assertThat(server.get("/v1/jobs/" + id).json().get("attempts").intValue())
                .isEqualTo(1);
    }

    private Socket connect(String body) throws IOException {
        Socket client = new Socket(InetAddress.getLoopbackAddress(), server.server.port());
        send(client, "POST /v1/leases", body);
        return client;
    }

    private void send(Socket client, String what, String body) throws IOException {
        String request = what + " HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer " + server.admin
                + "\r\nContent-Type: application/json\r\nContent-Length: " + body.length() + "\r\n\r\n" + body;
        client.getOutputStream().write(request.getBytes(StandardCharsets.UTF_8));
    }

    private void awaitWaiting(int requests) {
        TestServer.await(() -> server.server.waiting() == requests ? true : null);
    }

    private void awaitState(String id, String state) {
        TestServer.await(() -> server.get("/v1/jobs/" + id).text("state").equals(state) ? true : null);
    }

    @Test
    void a_request_whose_client_has_gone_takes_no_job() throws Exception {
        try (Socket client = connect("{\"worker\":\"gone\",\"wait\":\"60s\"}")) {
            assertThat(client.isConnected()).isTrue();
            awaitWaiting(1);
        }
        String id = server.enqueue("{\"type\":\"a\"}");
        awaitWaiting(0);
        assertThat(server.get("/v1/jobs/" + id).text("state")).isEqualTo("PENDING");
    }

    @Test
    void what_a_client_sends_while_it_waits_is_not_lost() throws Exception {
        try (Socket client = connect("{\"wait\":\"60s\"}")) {
            awaitWaiting(1);
            send(client, "GET /v1/stats", "");
            send(client, "POST /v1/leases", "{\"max\":0}");
            client.shutdownOutput();
            awaitWaiting(0);
            String answers = new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(answers.split("HTTP/1.1 ", -1)).hasSize(4);
        }
    }

    @Test
    void jobs_of_an_answer_that_was_not_taken_are_given_back() throws Exception {
        String payload = "\"" + "x".repeat(300_000) + "\"";
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            ids.add(server.enqueue("{\"type\":\"a\",\"payload\":" + payload + "}"));
        }
        try (Socket client = connect("{\"max\":20,\"lease\":\"1h\"}")) {
            assertThat(client.isConnected()).isTrue();
            awaitState(ids.get(0), "RUNNING");
        }
        ids.forEach(id -> awaitState(id, "PENDING"));
        assertThat(server.get("/v1/jobs/" + ids.get(0)).json().get("losses").intValue())
                .isZero();
    }

    /** Each restore moves ids and tokens a billion ahead. */
    @Test
    void after_many_restores_every_answer_is_as_the_document_says(@TempDir Path directory) {
        JdbcJobStore restored = JdbcJobStore.sqlite(directory.resolve("jobs.db"));
        restored.prepare();
        for (int times = 0; times < 3; times++) {
            restored.afterRestore();
        }
        try (TestServer after = new TestServer(restored, HttpSettings.Limits.DEFAULT, 1_000_000)) {
            String id = after.enqueue("{\"type\":\"a\"}");
            JsonNode lease = after.lease("");
            assertThat(lease.get("fence").longValue()).isGreaterThan(Integer.MAX_VALUE);
            String path = "/v1/leases/" + lease.get("token").stringValue();
            assertThat(after.post(path + "/complete", "{\"log\":{\"from\":0,\"lines\":[\"done\"]}}")
                            .status())
                    .isEqualTo(200);
            assertThat(after.get("/v1/jobs/" + id + "/log").json().at("/items/0/fence"))
                    .isEqualTo(lease.get("fence"));
        }
    }

    @Test
    void a_token_cannot_be_guessed() {
        String id = server.enqueue("{\"type\":\"a\"}");
        String token = server.lease("").get("token").stringValue();
        String guessed = token.substring(0, token.length() - 20) + "0".repeat(20);
        for (String how : List.of("complete", "heartbeat", "release")) {
            String body = how.equals("release") ? null : "{}";
            Reply refused = server.send(server.admin, "POST", "/v1/leases/" + guessed + "/" + how, body);
            assertThat(refused.status()).as(refused.raw().body()).isEqualTo(409);
        }
        assertThat(server.get("/v1/jobs/" + id).text("state")).isEqualTo("RUNNING");
        assertThat(server.post("/v1/leases/" + token + "/complete", "{}").status())
                .isEqualTo(200);
    }
}
