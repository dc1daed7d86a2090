// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.server.api.TestServer.Reply;
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
