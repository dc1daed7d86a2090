// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.server.api.TestServer.Reply;
import java.util.Collections;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class StepApiTest {

    private final TestServer server = new TestServer();

    @AfterEach
    void stop() {
        server.close();
    }

    private String enqueue() {
        return server.post("/v1/jobs", "{\"type\":\"order\",\"policy\":{\"maxAttempts\":3,\"deadline\":\"30d\"}}")
                .text("id");
    }

    private String lease() {
        JsonNode leases = server.post("/v1/leases", "{\"worker\":\"w\",\"wait\":\"30s\",\"types\":[\"order\"]}")
                .json();
        return leases.at("/items/0/token").stringValue();
    }

    private JsonNode steps(String id) {
        return server.get("/v1/jobs/" + id + "/steps").json().path("items");
    }

    @Test
    void a_remote_run_stores_its_steps_and_the_next_run_finds_them() {
        String id = enqueue();
        String token = lease();
        assertThat(server.get("/v1/leases/" + token + "/steps").json().path("items"))
                .isEmpty();
        String step = "{\"name\":\"charge\",\"result\":{\"id\":9007199254740993}}";
        assertThat(server.post("/v1/leases/" + token + "/step", step).status()).isEqualTo(200);
        assertThat(server.post("/v1/leases/" + token + "/step", step).status()).isEqualTo(200);
        Reply other = server.post("/v1/leases/" + token + "/step", "{\"name\":\"charge\",\"result\":1}");
        assertThat(other.status()).isEqualTo(409);
        assertThat(other.raw().body()).contains("charge", "stored already");
        server.post("/v1/leases/" + token + "/fail", "{\"type\":\"Reset\"}");
        assertThat(server.post("/v1/leases/" + token + "/step", "{\"name\":\"late\"}")
                        .status())
                .isEqualTo(409);
        server.post("/v1/jobs/" + id + "/retry", "{}");
        JsonNode known = server.get("/v1/leases/" + lease() + "/steps").json().path("items");
        assertThat(known).hasSize(1);
        assertThat(known.at("/0/name").stringValue()).isEqualTo("charge");
        assertThat(known.at("/0/state").stringValue()).isEqualTo("DONE");
        assertThat(known.at("/0/value/id").longValue()).isEqualTo(9007199254740993L);
    }

    @Test
    void a_remote_run_sleeps() {
        String id = enqueue();
        String token = lease();
        Reply slept = server.post("/v1/leases/" + token + "/sleep", "{\"name\":\"night\",\"duration\":\"1d\"}");
        assertThat(slept.json().path("suspended").booleanValue()).isTrue();
        JsonNode job = server.get("/v1/jobs/" + id).json();
        assertThat(job.path("waitReason").stringValue()).isEqualTo("SLEEP");
        assertThat(job.path("attempts").intValue()).isZero();
        assertThat(steps(id).at("/0/kind").stringValue()).isEqualTo("SLEEP");
        assertThat(server.get("/v1/jobs/" + id + "/explain").text("sentence")).contains("sleep:night");
    }

    @Test
    void a_remote_run_waits_for_an_event_that_somebody_tells() {
        String id = enqueue();
        String wait = "{\"name\":\"approval\",\"duration\":\"7d\"}";
        server.post("/v1/leases/" + lease() + "/await", wait);
        assertThat(server.get("/v1/jobs/" + id).text("waitReason")).isEqualTo("EVENT");
        String event = "{\"name\":\"approval\",\"value\":{\"by\":\"ada\"}}";
        assertThat(server.post("/v1/jobs/" + id + "/events", event)
                        .json()
                        .path("told")
                        .booleanValue())
                .isTrue();
        assertThat(server.post("/v1/jobs/" + id + "/events", event)
                        .json()
                        .path("told")
                        .booleanValue())
                .isFalse();
        String token = lease();
        assertThat(server.post("/v1/leases/" + token + "/await", wait)
                        .json()
                        .path("suspended")
                        .booleanValue())
                .isFalse();
        assertThat(server.get("/v1/leases/" + token + "/steps")
                        .json()
                        .at("/items/0/value/by")
                        .stringValue())
                .isEqualTo("ada");
        server.post("/v1/leases/" + token + "/complete", "{}");
        Reply late = server.post("/v1/jobs/" + id + "/events", event);
        assertThat(late.status()).isEqualTo(409);
        assertThat(late.raw().body()).contains("has ended", "approval");
    }

    @Test
    void a_remote_run_joins_other_jobs() {
        String id = enqueue();
        String jobs =
                "{\"name\":\"labels\",\"jobs\":[{\"type\":\"label\",\"payload\":1},{\"type\":\"label\",\"payload\":2}]}";
        Reply begun = server.post("/v1/leases/" + lease() + "/join", jobs);
        assertThat(begun.json().path("suspended").booleanValue()).isTrue();
        assertThat(server.get("/v1/jobs/" + id).text("waitReason")).isEqualTo("BATCH");
        for (int i = 1; i <= 2; i++) {
            JsonNode child = server.post("/v1/leases", "{\"wait\":\"30s\",\"types\":[\"label\"]}")
                    .json()
                    .at("/items/0");
            String result = "{\"result\":{\"number\":" + child.at("/job/payload") + "}}";
            server.post("/v1/leases/" + child.path("token").stringValue() + "/complete", result);
        }
        JsonNode joined = server.post("/v1/leases/" + lease() + "/join", jobs).json();
        assertThat(joined.path("suspended").booleanValue()).isFalse();
        assertThat(joined.at("/results/0/number").intValue()).isEqualTo(1);
        assertThat(joined.at("/results/1/number").intValue()).isEqualTo(2);
        assertThat(joined.path("failure").isNull()).isTrue();
    }

    @Test
    void a_join_names_what_is_wrong_with_a_job() {
        enqueue();
        String token = lease();
        Reply keyed = server.post(
                "/v1/leases/" + token + "/join", "{\"name\":\"a\",\"jobs\":[{\"type\":\"label\",\"key\":\"k\"}]}");
        assertThat(keyed.status()).isEqualTo(400);
        assertThat(keyed.raw().body()).contains("/jobs", "has a key");
        Reply untyped = server.post("/v1/leases/" + token + "/join", "{\"name\":\"a\",\"jobs\":[{\"payload\":1}]}");
        assertThat(untyped.status()).isEqualTo(400);
    }

    @Test
    void one_more_job_follows_the_one_that_runs() {
        String keyed = "{\"type\":\"order\",\"payload\":%s,\"key\":\"customer\",\"keyRule\":\"FOLLOW\"}";
        String first = server.post("/v1/jobs", keyed.formatted("1")).text("id");
        String token = lease();
        String second = server.post("/v1/jobs", keyed.formatted("2")).text("id");
        assertThat(second).isNotEqualTo(first);
        assertThat(server.post("/v1/jobs", keyed.formatted("3")).text("id")).isEqualTo(second);
        assertThat(server.get("/v1/jobs/" + second).text("waitReason")).isEqualTo("FOLLOW");
        server.post("/v1/leases/" + token + "/complete", "{}");
        JsonNode next = server.post("/v1/leases", "{\"wait\":\"30s\",\"types\":[\"order\"]}")
                .json();
        assertThat(next.at("/items/0/job/id").stringValue()).isEqualTo(second);
        assertThat(next.at("/items/0/job/payload").intValue()).isEqualTo(3);
    }

    @Test
    void a_remote_run_writes_log_lines() {
        String id = enqueue();
        String token = lease();
        server.post("/v1/leases/" + token + "/heartbeat", "{\"log\":{\"from\":0,\"lines\":[\"one\",\"one\"]}}");
        server.post("/v1/leases/" + token + "/complete", "{\"log\":{\"from\":2,\"lines\":[\"three\"]}}");
        JsonNode lines = server.get("/v1/jobs/" + id + "/log").json().path("items");
        assertThat(lines).hasSize(3);
        assertThat(lines.at("/1/text").stringValue()).isEqualTo("one");
        assertThat(lines.at("/2/text").stringValue()).isEqualTo("three");
        assertThat(lines.at("/2/fence").longValue())
                .isEqualTo(lines.at("/0/fence").longValue());
        long fence = lines.at("/0/fence").longValue();
        String log = "/v1/jobs/" + id + "/log?from=";
        assertThat(server.get(log + fence).json().path("items")).hasSize(3);
        assertThat(server.get(log + (fence + 1)).json().path("items")).isEmpty();
        assertThat(server.get(log + "9223372036854775807").json().path("items")).isEmpty();
        assertThat(server.get(log + "-1").status()).isEqualTo(400);
        assertThat(server.post("/v1/leases/" + token + "/heartbeat", "{\"log\":{\"from\":-1,\"lines\":[]}}")
                        .status())
                .isEqualTo(400);
    }

    @Test
    void a_person_gives_no_larger_result_than_a_run_may() {
        String id = enqueue();
        server.post("/v1/leases/" + lease() + "/step", "{\"name\":\"charge\",\"started\":true}");
        Reply large = server.post(
                "/v1/jobs/" + id + "/steps/resolve",
                "{\"step\":\"charge\",\"outcome\":\"done\",\"result\":\"" + "x".repeat(300_000) + "\"}");
        assertThat(large.status()).isEqualTo(400);
        assertThat(large.raw().body()).contains("/result", "262144");
    }

    @Test
    void a_step_does_not_take_the_name_of_a_sleep() {
        enqueue();
        server.post("/v1/leases/" + lease() + "/sleep", "{\"name\":\"night\",\"duration\":\"0s\"}");
        Reply taken = server.post("/v1/leases/" + lease() + "/step", "{\"name\":\"night\",\"result\":1}");
        assertThat(taken.status()).isEqualTo(409);
        assertThat(taken.raw().body()).contains("as SLEEP");
    }

    @Test
    void a_wrong_label_is_named_by_its_field() {
        Reply wrong = server.post("/v1/leases", "{\"offers\":[\"a/b\"]}");
        assertThat(wrong.json().at("/errors/0/field").stringValue()).isEqualTo("/offers/0");
    }

    /** A worker that logs much must not lose its lease for it. */
    @Test
    void log_lines_beyond_the_bounds_are_dropped_and_not_refused() {
        String id = enqueue();
        String token = lease();
        String line = "\"" + "x".repeat(30_000) + "\"";
        String lines = String.join(",", Collections.nCopies(20, line));
        assertThat(server.post("/v1/leases/" + token + "/heartbeat", "{\"log\":{\"from\":0,\"lines\":[" + lines + "]}}")
                        .status())
                .isEqualTo(200);
        JsonNode kept = server.get("/v1/jobs/" + id + "/log").json().path("items");
        assertThat(kept.at("/0/text").stringValue()).hasSize(4_000).endsWith("…");
        assertThat(kept).hasSize(17);
        assertThat(kept.at("/16/text").stringValue()).contains("not kept");
        server.post("/v1/leases/" + token + "/heartbeat", "{\"log\":{\"from\":20,\"lines\":[" + line + "]}}");
        assertThat(server.get("/v1/jobs/" + id + "/log").json().path("items")).hasSize(17);
        String other = enqueue();
        String second = lease();
        String many = String.join(",", Collections.nCopies(1_001, "\"a\""));
        assertThat(server.post(
                                "/v1/leases/" + second + "/snooze",
                                "{\"delay\":\"1h\",\"log\":{\"from\":0,\"lines\":[" + many + "]}}")
                        .status())
                .isEqualTo(200);
        JsonNode all = server.get("/v1/jobs/" + other + "/log").json().path("items");
        assertThat(all).hasSize(1_001);
        assertThat(all.at("/1000/text").stringValue()).contains("not kept");
    }

    @Test
    void a_person_says_how_a_step_ended() {
        String id = enqueue();
        String token = lease();
        server.post("/v1/leases/" + token + "/step", "{\"name\":\"charge\",\"started\":true}");
        String resolve = "/v1/jobs/" + id + "/steps/resolve";
        String done = "{\"step\":\"charge\",\"outcome\":\"done\",\"result\":{\"id\":7},\"why\":\"I asked the bank\"}";
        assertThat(server.post(resolve, done).raw().body()).contains("runs");
        server.post("/v1/leases/" + token + "/fail", "{\"type\":\"Unknown\",\"permanent\":true}");
        assertThat(server.get("/v1/jobs/" + id).text("state")).isEqualTo("FAILED");
        assertThat(server.post(resolve, done).status()).isEqualTo(200);
        assertThat(steps(id).at("/0/state").stringValue()).isEqualTo("DONE");
        assertThat(steps(id).at("/0/value/id").intValue()).isEqualTo(7);
        assertThat(server.get("/v1/jobs/" + id).text("state")).isEqualTo("PENDING");
        assertThat(server.get("/v1/audit?job=" + id).raw().body()).contains("resolve-step", "I asked the bank");
        assertThat(server.post(resolve, done).status()).isEqualTo(409);
        server.post("/v1/leases/" + lease() + "/step", "{\"name\":\"pack\",\"result\":1}");
        assertThat(steps(id).findValues("resolvable"))
                .as("what a run has stored stays")
                .extracting(JsonNode::booleanValue)
                .containsExactlyInAnyOrder(true, false);
    }

    @Test
    void a_remote_run_that_finds_a_start_of_another_run_has_an_unknown_outcome() {
        String id = enqueue();
        String first = lease();
        server.post("/v1/leases/" + first + "/step", "{\"name\":\"charge\",\"started\":true}");
        server.post("/v1/leases/" + first + "/release", "{}");
        server.post("/v1/leases/" + lease() + "/fail", "{\"type\":\"Found\",\"step\":{\"name\":\"charge\"}}");
        JsonNode job = server.get("/v1/jobs/" + id).json();
        assertThat(job.path("state").stringValue()).isEqualTo("FAILED");
        assertThat(job.path("failReason").stringValue()).isEqualTo("UNKNOWN_OUTCOME");
        String again = "{\"step\":\"charge\",\"outcome\":\"again\"}";
        assertThat(server.post("/v1/jobs/" + id + "/steps/resolve", again)
                        .json()
                        .path("items"))
                .isEmpty();
        assertThat(server.get("/v1/jobs/" + id).text("state")).isEqualTo("PENDING");
    }

    @Test
    void a_step_of_a_remote_run_has_a_policy_of_its_own() {
        String id = enqueue();
        String failed = "{\"type\":\"Busy\",\"step\":{\"name\":\"charge\",\"policy\":{\"maxAttempts\":2,"
                + "\"backoff\":\"fixed\",\"base\":\"1ms\",\"jitter\":\"none\"},\"resource\":\"bank\"}}";
        for (int run = 0; run < 2; run++) {
            assertThat(server.post("/v1/leases/" + lease() + "/fail", failed).status())
                    .isEqualTo(200);
            assertThat(server.get("/v1/jobs/" + id).text("state")).isEqualTo("PENDING");
        }
        assertThat(steps(id).at("/0/state").stringValue()).isEqualTo("FAILED");
        assertThat(steps(id).at("/0/failure/reason").stringValue()).isEqualTo("EXHAUSTED");
        String token = lease();
        assertThat(server.get("/v1/leases/" + token + "/steps")
                        .json()
                        .at("/items/0/failure/type")
                        .stringValue())
                .isEqualTo("Busy");
        server.post("/v1/leases/" + token + "/fail", "{\"type\":\"StepFailed\",\"step\":{\"name\":\"charge\"}}");
        JsonNode job = server.get("/v1/jobs/" + id).json();
        assertThat(job.path("state").stringValue()).isEqualTo("FAILED");
        assertThat(job.path("failReason").stringValue()).isEqualTo("EXHAUSTED");
    }

    @Test
    void a_sleep_beyond_the_deadline_ends_the_job_and_says_so() {
        String id = enqueue();
        Reply refused = server.post("/v1/leases/" + lease() + "/sleep", "{\"name\":\"year\",\"duration\":\"365d\"}");
        assertThat(refused.status()).isEqualTo(409);
        assertThat(refused.raw().body()).contains("deadline", "year", "has failed");
        JsonNode job = server.get("/v1/jobs/" + id).json();
        assertThat(job.path("failReason").stringValue()).isEqualTo("DEADLINE");
    }

    @Test
    void a_person_forgets_steps() {
        String id = enqueue();
        String token = lease();
        server.post("/v1/leases/" + token + "/step", "{\"name\":\"one\"}");
        server.post("/v1/leases/" + token + "/step", "{\"name\":\"two\"}");
        String forget = "/v1/jobs/" + id + "/steps/forget";
        assertThat(server.post(forget, "{\"step\":\"one\"}").status()).isEqualTo(409);
        server.post("/v1/leases/" + token + "/fail", "{\"type\":\"Reset\",\"permanent\":true}");
        assertThat(server.post(forget, "{\"step\":\"none\"}").status()).isEqualTo(409);
        assertThat(server.post(forget, "{\"step\":\"one\"}").json().path("items"))
                .hasSize(1);
        assertThat(server.post(forget, "{}").json().path("items")).isEmpty();
    }

    @Test
    void bad_input_is_refused_with_the_field() {
        String id = enqueue();
        String token = lease();
        assertThat(server.post("/v1/jobs/" + id + "/events", "{\"name\":\"a b\",\"value\":1}")
                        .status())
                .isEqualTo(400);
        assertThat(server.post("/v1/jobs/" + id + "/events", "{\"name\":\"a\"}").status())
                .isEqualTo(400);
        String tooLong = "{\"name\":\"a\",\"result\":\"" + "x".repeat(300_000) + "\"}";
        Reply refused = server.post("/v1/leases/" + token + "/step", tooLong);
        assertThat(refused.status()).isEqualTo(400);
        assertThat(refused.raw().body()).contains("262144");
        assertThat(server.post("/v1/leases/" + token + "/sleep", "{\"name\":\"a\",\"duration\":\"-1s\"}")
                        .status())
                .isEqualTo(400);
    }
}
