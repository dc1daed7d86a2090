// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.AuditNote;
import io.reprise.server.http.Json;
import io.reprise.server.http.Scope;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** What the audit log tells afterwards. */
class AuditTest {

    private final TestServer server = new TestServer();

    @AfterEach
    void stop() {
        server.close();
    }

    private JsonNode newest(String action) {
        for (JsonNode entry : server.get("/v1/audit").json().get("items")) {
            if (entry.get("action").stringValue().equals(action)) {
                return entry;
            }
        }
        throw new AssertionError("no " + action + " in the log");
    }

    @Test
    void an_entry_names_key_and_tenant() {
        String key = server.key("odd ) name (", "acme", Scope.OPERATE, Scope.READ);
        server.send(key, "POST", "/v1/queues/a/pause", "{}");
        JsonNode entry = newest("pause");
        assertThat(entry.get("key").stringValue()).isEqualTo(key.split("_", -1)[1]);
        assertThat(entry.get("tenant").stringValue()).isEqualTo("acme");
    }

    @Test
    void a_change_is_told_with_what_was_before() {
        server.put("/v1/policies/p", "{\"maxAttempts\":3}");
        server.put("/v1/policies/p", "{\"maxAttempts\":4}");
        JsonNode change = Json.parse(newest("put-policy").get("detail").stringValue());
        assertThat(change.at("/before/maxAttempts").intValue()).isEqualTo(3);
        assertThat(change.at("/after/maxAttempts").intValue()).isEqualTo(4);
        server.put("/v1/schedules/s", "{\"every\":\"1d\",\"job\":{\"type\":\"a\",\"payload\":\"secret\"}}");
        server.put("/v1/schedules/s", "{\"every\":\"2d\",\"job\":{\"type\":\"a\",\"payload\":\"secret\"}}");
        String schedule = newest("put-schedule").get("detail").stringValue();
        assertThat(schedule).contains("PT24H").contains("PT48H").doesNotContain("secret");
        String hook = server.post(
                        "/v1/webhooks", "{\"url\":\"http://127.0.0.1/one\",\"headers\":{\"X-Auth\":\"hidden\"}}")
                .text("id");
        server.put("/v1/webhooks/" + hook, "{\"url\":\"http://127.0.0.1/two\"}");
        assertThat(newest("change").get("detail").stringValue())
                .contains("/one")
                .contains("/two")
                .doesNotContain("hidden", "whsec");
        JsonNode made = newest("create");
        assertThat(made.get("detail").stringValue()).doesNotContain("hidden", "whsec");
    }

    @Test
    void keys_are_told_of_without_their_secrets() {
        String id = server.post("/v1/keys", "{\"name\":\"k\",\"scopes\":[\"read\"],\"owner\":\"ada\"}")
                .text("id");
        server.delete("/v1/keys/" + id);
        assertThat(newest("create-key").get("detail").stringValue())
                .contains("ada")
                .doesNotContain("hash");
        assertThat(newest("revoke-key").get("detail").stringValue())
                .contains("ada")
                .doesNotContain("hash");
    }

    @Test
    void refusals_are_written_down_once() {
        String reader = server.key("reader", "acme", Scope.READ);
        for (int i = 0; i < 3; i++) {
            assertThat(server.send(reader, "POST", "/v1/queues/a/pause", "{}").status())
                    .isEqualTo(403);
        }
        JsonNode entry = newest("refused");
        assertThat(entry.get("why").stringValue()).isEqualTo("scope operate is needed");
        assertThat(entry.get("tenant").stringValue()).isEqualTo("acme");
        assertThat(server.get("/v1/audit")
                        .json()
                        .get("items")
                        .valueStream()
                        .filter(each -> each.get("action").stringValue().equals("refused")))
                .hasSize(1);
        server.send("reprise_000000000000_" + "0".repeat(64), "GET", "/v1/jobs", null);
        assertThat(newest("refused").get("subject").stringValue()).isEqualTo("address/127.0.0.1");
        assertThat(server.send(reader, "GET", "/v1/audit", null).raw().body())
                .contains("scope operate")
                .doesNotContain("address/");
    }

    @Test
    void what_a_key_is_not_bound_to_is_written_down_once() {
        String id = server.post("/v1/keys", "{\"name\":\"k\",\"scopes\":[\"enqueue\"],\"queues\":[\"a\"]}")
                .text("key");
        for (String queue : new String[] {"b", "c", "d"}) {
            assertThat(server.send(id, "POST", "/v1/jobs", "{\"type\":\"x\",\"queue\":\"" + queue + "\"}")
                            .status())
                    .isEqualTo(403);
        }
        assertThat(refusals()).hasSize(1);
        assertThat(newest("refused").get("why").stringValue()).contains("not for queue 'b'");
        String subject = newest("refused").get("subject").stringValue();
        String named = server.key("named", subject.substring(0, subject.indexOf('/')), Scope.READ);
        assertThat(server.send(named, "GET", "/v1/audit", null).json().get("items"))
                .as("to a tenant that is called as the subject begins")
                .isEmpty();
    }

    private List<JsonNode> refusals() {
        return server.get("/v1/audit")
                .json()
                .get("items")
                .valueStream()
                .filter(each -> each.get("action").stringValue().equals("refused"))
                .toList();
    }

    @Test
    void reads_of_payloads_are_written_down_if_set() {
        try (TestServer watched = TestServer.thatAuditsReads()) {
            String id = watched.enqueue("{\"type\":\"a\",\"payload\":\"secret\"}");
            watched.get("/v1/jobs");
            watched.get("/v1/stats");
            assertThat(reads(watched)).as("nothing of a payload was shown").isEmpty();
            watched.get("/v1/jobs/" + id);
            watched.get("/v1/jobs?payloads=true&queue=default");
            watched.get("/v1/errors/0a1b/payloads");
            assertThat(reads(watched))
                    .extracting(entry -> entry.get("detail").stringValue())
                    .containsExactly(
                            "GET /v1/errors/0a1b/payloads",
                            "GET /v1/jobs?payloads=true&queue=default",
                            "GET /v1/jobs/" + id);
            assertThat(reads(watched).get(0).get("key").stringValue())
                    .isEqualTo(watched.admin.split("_", -1)[1]);
        }
        String id = server.enqueue("{\"type\":\"a\"}");
        server.get("/v1/jobs/" + id);
        assertThat(reads(server)).as("unless set").isEmpty();
    }

    private static List<JsonNode> reads(TestServer server) {
        return server.get("/v1/audit")
                .json()
                .get("items")
                .valueStream()
                .filter(entry -> entry.get("action").stringValue().equals("read"))
                .toList();
    }

    @Test
    void all_of_it_comes_in_one_stream_whatever_its_length() {
        int entries = 1_234;
        for (int i = 0; i < entries; i++) {
            server.store.note("tried", "thing/" + i, new AuditNote("me", null), "x".repeat(1_000));
        }
        String body = server.get("/v1/audit/export").raw().body();
        List<JsonNode> lines = body.lines().map(Json::parse).toList();
        assertThat(lines.stream()
                        .filter(line -> line.get("action").stringValue().equals("tried")))
                .hasSize(entries);
        assertThat(lines.get(0).get("subject").stringValue()).isEqualTo("thing/" + (entries - 1));
        String later = "/v1/audit/export?since=2999-01-01T00:00:00Z";
        assertThat(server.get(later).raw().body()).isEmpty();
        assertThat(server.get("/v1/audit/export").raw().headers().firstValue("Content-Type"))
                .contains("application/x-ndjson");
    }

    @Test
    void a_tenant_exports_what_is_its_own() {
        String key = server.key("k", "acme", Scope.OPERATE, Scope.READ);
        server.send(key, "POST", "/v1/queues/a/pause", "{}");
        server.post("/v1/queues/theirs/pause", "{}");
        List<JsonNode> lines = server.send(key, "GET", "/v1/audit/export", null)
                .raw()
                .body()
                .lines()
                .map(Json::parse)
                .toList();
        assertThat(lines).extracting(line -> line.get("subject").stringValue()).containsExactly("a");
    }
}
