// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.server.api.TestServer.Reply;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
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
    void a_worker_need_not_have_a_name() {
        String id = server.enqueue("{\"type\":\"a\"}");
        Reply leased = server.post("/v1/leases", "{\"queues\":[\"default\"],\"types\":[\"a\"],\"max\":5,\"wait\":\"20s\"}");
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
    void a_stale_token_is_refused_and_changes_nothing() {
        String id = server.enqueue("{\"type\":\"call\"}");
        JsonNode lease = server.lease("");
        assertThat(settle(lease, "complete", "{}").status()).isEqualTo(200);
        String before = server.get("/v1/jobs/" + id).raw().body();
        for (String how : List.of("complete", "heartbeat")) {
            Reply stale = settle(lease, how, "{}");
            assertThat(stale.status()).as(how).isEqualTo(409);
            assertThat(stale.problem()).isEqualTo("stale-lease");
        }
        assertThat(settle(lease, "fail", "{\"type\":\"X\"}").status()).isEqualTo(409);
        assertThat(settle(lease, "snooze", "{\"delay\":\"1s\"}").status()).isEqualTo(409);
        assertThat(server.get("/v1/jobs/" + id).raw().body()).isEqualTo(before);
        assertThat(server.post("/v1/leases/1-999999/complete", "{}").status()).isEqualTo(409);
    }

    @Test
    void a_worker_that_falls_silent_loses_the_job_and_its_word_no_longer_counts() {
        String id = server.enqueue("{\"type\":\"call\"}");
        JsonNode lost = server.lease(",\"lease\":\"1s\"");
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
}
