// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.server.api.TestServer.Reply;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class BulkApiTest {

    private final TestServer server = new TestServer();

    @AfterEach
    void stop() {
        server.close();
    }

    private void enqueue(int count, String queue) {
        StringBuilder jobs = new StringBuilder("[");
        for (int i = 0; i < count; i++) {
            jobs.append(i == 0 ? "" : ",").append("{\"type\":\"a\",\"delay\":\"1h\",\"queue\":\"" + queue + "\"}");
        }
        server.send(server.admin, "POST", "/v1/jobs", jobs + "]");
    }

    private Reply bulk(String json) {
        return server.send(server.admin, "POST", "/v1/bulks", json);
    }

    private JsonNode ended(String id) {
        return TestServer.await(() -> {
            JsonNode bulk = server.get("/v1/bulks/" + id).json();
            return bulk.get("endedAt").isNull() ? null : bulk;
        });
    }

    @Test
    void a_bulk_changes_all_that_match_and_nothing_else() {
        enqueue(700, "many");
        enqueue(3, "others");
        JsonNode dry = bulk("{\"action\":\"cancel\",\"q\":\"state:pending queue:many\",\"dryRun\":true}")
                .json();
        assertThat(dry.get("matched").asInt()).isEqualTo(700);
        assertThat(dry.get("id").isNull()).isTrue();
        Reply started = bulk("{\"action\":\"cancel\",\"q\":\"state:pending queue:many\",\"why\":\"a mistake\"}");
        assertThat(started.status()).isEqualTo(202);
        JsonNode done = ended(started.text("id"));
        assertThat(done.get("state").stringValue()).isEqualTo("DONE");
        assertThat(done.get("done").asInt()).isEqualTo(700);
        assertThat(server.get("/v1/queues/others").json().at("/counts/PENDING").asInt())
                .isEqualTo(3);
        assertThat(server.get("/v1/audit?limit=1000").raw().body()).contains("start-bulk", "a mistake");
    }

    @Test
    void a_bulk_needs_a_state_and_words_that_a_filter_has() {
        assertThat(bulk("{\"action\":\"cancel\",\"q\":\"queue:many\"}").raw().body())
                .contains("must name a state");
        assertThat(bulk("{\"action\":\"cancel\",\"q\":\"state:pending attempt:>1\"}")
                        .status())
                .isEqualTo(400);
    }

    @Test
    void a_bulk_that_is_over_cannot_be_cancelled() {
        enqueue(1, "many");
        String id = bulk("{\"action\":\"cancel\",\"q\":\"state:pending\"}").text("id");
        ended(id);
        assertThat(server.send(server.admin, "POST", "/v1/bulks/" + id + "/cancel", "{}")
                        .status())
                .isEqualTo(409);
        assertThat(server.get("/v1/bulks").json().get("items")).hasSize(1);
    }

    @Test
    void a_policy_is_applied_to_all_that_wait_and_a_payload_needs_a_type() {
        enqueue(250, "many");
        enqueue(2, "others");
        String order = "{\"action\":\"change\",\"q\":\"state:pending queue:many\",\"change\":{\"policy\":\"omniq\"}";
        assertThat(bulk(order + ",\"dryRun\":true}").json().get("matched").asInt())
                .isEqualTo(250);
        JsonNode done = ended(bulk(order + ",\"why\":\"a long outage\"}").text("id"));
        assertThat(done.get("done").asInt()).isEqualTo(250);
        JsonNode changed = server.get("/v1/jobs?queue=many&limit=1000").json().get("items");
        assertThat(changed)
                .allSatisfy(job -> assertThat(job.get("maxRetries").intValue()).isEqualTo(3));
        assertThat(server.get("/v1/jobs?queue=others")
                        .json()
                        .at("/items/0/maxRetries")
                        .intValue())
                .isEqualTo(19);
        String payload = "{\"action\":\"change\",\"q\":\"state:pending%s\",\"change\":{\"payload\":{\"n\":1}}}";
        assertThat(bulk(payload.formatted("")).raw().body()).contains("must name a type");
        assertThat(bulk(payload.formatted(" type:webhook")).status()).isEqualTo(400);
        assertThat(ended(bulk(payload.formatted(" type:a")).text("id"))
                        .get("done")
                        .asInt())
                .isEqualTo(252);
    }

    @Test
    void a_bulk_takes_only_times_that_can_be() {
        enqueue(1, "many");
        String retry = "{\"action\":\"retry\",\"q\":\"state:pending\",\"at\":\"%s\"}";
        assertThat(bulk(retry.formatted("2020-01-01T00:00:00Z")).raw().body())
                .contains("is 2020-01-01T00:00:00Z but must be");
        assertThat(ended(bulk(retry.formatted("2098-01-01T00:00:00Z")).text("id"))
                        .get("done")
                        .asInt())
                .isEqualTo(1);
        assertThat(bulk("{\"action\":\"cancel\",\"q\":\"state:pending\",\"at\":\"2098-01-01T00:00:00Z\"}")
                        .status())
                .isEqualTo(400);
        assertThat(bulk("{\"action\":\"change\",\"q\":\"state:pending\"}").raw().body())
                .contains("/change");
    }
}
