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
}
