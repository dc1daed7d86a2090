// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.server.api.TestServer.Reply;
import io.reprise.server.net.HttpSettings;
import io.reprise.testing.InMemoryJobStore;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class DeadLetterApiTest {

    private final TestServer server = new TestServer();

    @AfterEach
    void stop() {
        server.close();
    }

    private List<String> deadLetters(int count, String error) {
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            ids.add(server.deadLetter("call", "dead", error));
        }
        return ids;
    }

    /** Runs what is pending until the replay has ended, each job as told. */
    private JsonNode runUntilOver(String replay, String how, String body) {
        return TestServer.await(() -> {
            for (JsonNode lease : server.post("/v1/leases", "{\"worker\":\"w\",\"queues\":[\"dead\"],\"max\":50}")
                    .json()
                    .get("items")) {
                server.post("/v1/leases/" + lease.get("token").stringValue() + "/" + how, body);
            }
            JsonNode now = server.get("/v1/replays/" + replay).json();
            return now.get("endedAt").isNull() ? null : now;
        });
    }

    @Test
    void dead_letters_are_listed_and_grouped() {
        deadLetters(2, "TimeoutError");
        deadLetters(1, "ParseError");
        server.enqueue("{\"type\":\"call\",\"queue\":\"dead\"}");
        assertThat(server.get("/v1/dead-letters").json().get("items")).hasSize(3);
        JsonNode groups = server.get("/v1/dead-letters/groups").json().get("items");
        assertThat(groups).hasSize(2);
        assertThat(groups.get(0).get("count").intValue()).isEqualTo(2);
        assertThat(groups.get(0).get("error").get("type").stringValue()).isEqualTo("TimeoutError");
        String fingerprint = groups.get(1).get("fingerprint").stringValue();
        assertThat(server.get("/v1/dead-letters?fingerprint=" + fingerprint)
                        .json()
                        .get("items"))
                .hasSize(1);
    }

    @Test
    void one_is_replayed_with_another_payload_and_one_discarded() {
        List<String> ids = deadLetters(2, "X");
        Reply replayed = server.post(
                "/v1/dead-letters/" + ids.get(0) + "/replay", "{\"payload\":{\"fixed\":true},\"queue\":\"b\"}");
        assertThat(replayed.status()).isEqualTo(200);
        assertThat(replayed.text("state")).isEqualTo("PENDING");
        assertThat(replayed.text("queue")).isEqualTo("b");
        assertThat(replayed.json().get("payload").get("fixed").booleanValue()).isTrue();
        assertThat(server.post("/v1/dead-letters/" + ids.get(0) + "/replay", "{}")
                        .problem())
                .isEqualTo("invalid-state");
        assertThat(server.post("/v1/dead-letters/" + ids.get(1) + "/discard", "{}")
                        .status())
                .isEqualTo(204);
        assertThat(server.get("/v1/jobs/" + ids.get(1)).status()).isEqualTo(404);
    }

    @Test
    void bulk_work_counts_first_and_then_does_it() {
        deadLetters(3, "X");
        deadLetters(1, "Y");
        String filter = "\"filter\":{\"queue\":\"dead\"}";
        JsonNode dry = server.post("/v1/dead-letters/bulk", "{\"action\":\"replay\",\"dryRun\":true," + filter + "}")
                .json();
        assertThat(dry.get("matched").intValue()).isEqualTo(4);
        assertThat(dry.get("done").intValue()).isZero();
        JsonNode some = server.post("/v1/dead-letters/bulk", "{\"action\":\"replay\",\"limit\":2}")
                .json();
        assertThat(some.get("done").intValue()).isEqualTo(2);
        JsonNode rest = server.post("/v1/dead-letters/bulk", "{\"action\":\"discard\"," + filter + "}")
                .json();
        assertThat(rest.get("done").intValue()).isEqualTo(2);
        assertThat(server.get("/v1/dead-letters").json().get("items")).isEmpty();
    }

    @Test
    void a_paced_replay_waits_for_room_in_its_queue() {
        deadLetters(3, "X");
        server.put("/v1/settings/queues/dead", "{\"ceilings\":{\"queueDepth\":1}}");
        TestServer.await(() -> server.post("/v1/jobs", "{\"type\":\"call\",\"queue\":\"dead\"}")
                                .status()
                        == 429
                ? true
                : null);
        String id = server.post("/v1/replays", "{\"rate\":200,\"filter\":{\"queue\":\"dead\"}}")
                .text("id");
        // It comes to the jobs while the queue is full.
        TestServer.await(
                () -> server.get("/v1/replays/" + id).json().get("replayed").intValue() > 0 ? true : null);
        JsonNode over = runUntilOver(id, "complete", "{}");
        assertThat(over.get("state").stringValue()).isEqualTo("DONE");
        assertThat(over.get("refused").intValue()).isZero();
        assertThat(over.get("succeeded").intValue()).isEqualTo(3);
    }

    @Test
    void a_paced_replay_sends_a_canary_first_and_then_the_others() {
        deadLetters(6, "X");
        Reply dry = server.post("/v1/replays", "{\"dryRun\":true}");
        assertThat(dry.json().get("matched").intValue()).isEqualTo(6);
        Reply started = server.post("/v1/replays", "{\"rate\":200,\"canary\":2,\"filter\":{\"queue\":\"dead\"}}");
        assertThat(started.status()).isEqualTo(202);
        String id = started.text("id");
        TestServer.await(
                () -> server.get("/v1/replays/" + id).json().get("replayed").intValue() == 2 ? true : null);
        assertThat(server.get("/v1/replays/" + id).text("state")).isEqualTo("CANARY");
        // What it is about to do is stored before it is done.
        TestServer.await(
                () -> server.get("/v1/dead-letters").json().get("items").size() == 4 ? true : null);
        JsonNode over = runUntilOver(id, "complete", "{}");
        assertThat(over.get("state").stringValue()).isEqualTo("DONE");
        assertThat(over.get("replayed").intValue()).isEqualTo(6);
        assertThat(over.get("succeeded").intValue()).isEqualTo(6);
        assertThat(server.get("/v1/dead-letters").json().get("items")).isEmpty();
    }

    @Test
    void a_replay_stops_when_its_canary_fails_again() {
        deadLetters(5, "X");
        String id = server.post("/v1/replays", "{\"rate\":200}").text("id");
        JsonNode over = runUntilOver(id, "fail", "{\"type\":\"X\",\"permanent\":true}");
        assertThat(over.get("state").stringValue()).isEqualTo("STOPPED");
        assertThat(over.get("note").stringValue()).contains("failed again");
        assertThat(over.get("replayed").intValue()).isEqualTo(1);
        assertThat(server.get("/v1/dead-letters").json().get("items")).hasSize(5);
    }

    @Test
    void a_replay_stops_when_failures_return_after_the_canary() {
        deadLetters(40, "X");
        String id = server.post("/v1/replays", "{\"rate\":3,\"stopAt\":0.5}").text("id");
        TestServer.await(() -> {
            for (JsonNode lease : server.post("/v1/leases", "{\"worker\":\"w\",\"max\":50}")
                    .json()
                    .get("items")) {
                server.post("/v1/leases/" + lease.get("token").stringValue() + "/complete", "{}");
            }
            return server.get("/v1/replays/" + id).text("state").equals("RUNNING") ? true : null;
        });
        JsonNode over = runUntilOver(id, "fail", "{\"type\":\"X\",\"permanent\":true}");
        assertThat(over.get("state").stringValue()).isEqualTo("STOPPED");
        assertThat(over.get("replayed").intValue()).isLessThan(40);
    }

    @Test
    void a_replay_whose_dead_letters_are_all_refused_comes_to_an_end() {
        server.enqueue("{\"type\":\"call\",\"queue\":\"dead\",\"key\":\"k\"}");
        String token = server.post("/v1/leases", "{\"worker\":\"w\",\"queues\":[\"dead\"]}")
                .json()
                .at("/items/0/token")
                .stringValue();
        server.post("/v1/leases/" + token + "/fail", "{\"type\":\"X\",\"permanent\":true}");
        server.enqueue("{\"type\":\"call\",\"queue\":\"other\",\"key\":\"k\"}");
        String id = server.post("/v1/replays", "{\"rate\":200}").text("id");
        JsonNode over = runUntilOver(id, "complete", "{}");
        assertThat(over.get("state").stringValue()).isEqualTo("DONE");
        assertThat(over.get("refused").intValue()).isEqualTo(1);
        assertThat(over.get("replayed").intValue()).isZero();
        assertThat(over.get("note").stringValue()).contains("refused");
    }

    @Test
    void a_replay_is_cancelled_and_then_over() {
        deadLetters(2, "X");
        String id = server.post("/v1/replays", "{\"rate\":0.01}").text("id");
        assertThat(server.post("/v1/replays/" + id + "/cancel", "{}").text("state"))
                .isEqualTo("CANCELLED");
        assertThat(server.post("/v1/replays/" + id + "/cancel", "{}").problem()).isEqualTo("invalid-state");
        assertThat(server.get("/v1/replays").json().get("items")).hasSize(1);
    }

    @Test
    void a_replay_goes_on_after_the_server_was_restarted() {
        InMemoryJobStore store = new InMemoryJobStore();
        TestServer first = new TestServer(store, HttpSettings.Limits.DEFAULT, 1_000_000);
        String id;
        for (int i = 0; i < 3; i++) {
            first.deadLetter("call", "dead", "X");
        }
        id = first.post("/v1/replays", "{\"rate\":200}").text("id");
        TestServer.await(
                () -> first.get("/v1/replays/" + id).json().get("replayed").intValue() == 1 ? true : null);
        first.close();
        try (TestServer second = new TestServer(store, HttpSettings.Limits.DEFAULT, 1_000_000)) {
            JsonNode over = TestServer.await(() -> {
                for (JsonNode lease : second.post("/v1/leases", "{\"worker\":\"w\",\"max\":50}")
                        .json()
                        .get("items")) {
                    second.post("/v1/leases/" + lease.get("token").stringValue() + "/complete", "{}");
                }
                JsonNode now = second.get("/v1/replays/" + id).json();
                return now.get("endedAt").isNull() ? null : now;
            });
            assertThat(over.get("state").stringValue()).isEqualTo("DONE");
            assertThat(over.get("succeeded").intValue()).isEqualTo(3);
        }
    }

    @Test
    void a_key_starts_one_replay_and_none_with_another_order() {
        String body = "{\"rate\":0.5,\"filter\":{\"queue\":\"none\"},\"why\":\"w\"}";
        Reply first = server.send(server.admin, "POST", "/v1/replays", body, "Idempotency-Key", "k");
        Reply again = server.send(server.admin, "POST", "/v1/replays", body, "Idempotency-Key", "k");
        assertThat(again.status()).isEqualTo(202);
        assertThat(again.text("id")).isEqualTo(first.text("id"));
        for (String other : List.of(body.replace("0.5", "5"), body.replace("none", "all"), "{}")) {
            assertThat(server.send(server.admin, "POST", "/v1/replays", other, "Idempotency-Key", "k")
                            .problem())
                    .isEqualTo("idempotency-key-reused");
        }
    }

    private void dead(String type, String payload) {
        server.post("/v1/jobs", "{\"type\":\"" + type + "\",\"queue\":\"dead\",\"payload\":" + payload + "}");
        String token = server.post("/v1/leases", "{\"worker\":\"w\",\"wait\":\"30s\",\"queues\":[\"dead\"]}")
                .json()
                .at("/items/0/token")
                .stringValue();
        server.post("/v1/leases/" + token + "/fail", "{\"type\":\"X\",\"permanent\":true}");
    }

    @Test
    void a_paced_replay_changes_each_payload_by_a_patch_that_was_tried_before() {
        dead("ship", "{\"order\":9007199254740993123,\"country\":\"\"}");
        dead("ship", "{\"order\":2,\"old\":true}");
        String order = "{\"rate\":200,\"canary\":2,\"filter\":{\"type\":\"ship\"},"
                + "\"patch\":{\"country\":\"NO\",\"old\":null}";
        JsonNode dry = server.post("/v1/replays", order + ",\"dryRun\":true}").json();
        assertThat(dry.at("/sample/before").toString()).isEqualTo("{\"order\":2,\"old\":true}");
        assertThat(dry.at("/sample/after").toString()).isEqualTo("{\"order\":2,\"country\":\"NO\"}");
        assertThat(dry.get("patched").toString()).isEqualTo("[\"country\",\"old\"]");
        Reply started = server.send(server.admin, "POST", "/v1/replays", order + "}", "Idempotency-Key", "patched");
        assertThat(started.status()).as(started.raw().body()).isEqualTo(202);
        assertThat(server.send(server.admin, "POST", "/v1/replays", order + "}", "Idempotency-Key", "patched")
                        .text("id"))
                .isEqualTo(started.text("id"));
        JsonNode over = runUntilOver(started.text("id"), "complete", "{}");
        assertThat(over.get("succeeded").intValue()).as(over.toString()).isEqualTo(2);
        assertThat(server.get("/v1/jobs?type=ship&payloads=true").raw().body())
                .contains("{\"order\":9007199254740993123,\"country\":\"NO\"}", "{\"order\":2,\"country\":\"NO\"}");
        assertThat(server.get("/v1/audit").raw().body()).contains("payload edited");
    }

    @Test
    void a_patch_that_does_not_fit_every_dead_letter_starts_nothing() {
        dead("ship", "{\"order\":1}");
        dead("ship", "[1]");
        String filter = "\"filter\":{\"type\":\"ship\"}";
        for (String wrong : List.of(
                "{\"patch\":{\"a\":1}," + filter + "}",
                "{\"patch\":{\"a\":1},\"dryRun\":true," + filter + "}",
                "{\"patch\":{\"a\":1}}",
                "{\"patch\":[1]," + filter + "}",
                "{\"patch\":null," + filter + "}")) {
            Reply refused = server.post("/v1/replays", wrong);
            assertThat(refused.status()).as(wrong).isEqualTo(400);
        }
        assertThat(server.post("/v1/replays", "{\"patch\":{\"a\":1}," + filter + "}")
                        .raw()
                        .body())
                .contains("payload is not a JSON object");
        assertThat(server.get("/v1/replays").json().get("items")).isEmpty();
        assertThat(server.get("/v1/dead-letters").json().get("items")).hasSize(2);
    }

    @Test
    void one_is_replayed_with_a_patch() {
        dead("ship", "{\"order\":9007199254740993123}");
        String id = server.get("/v1/dead-letters").json().at("/items/0/id").stringValue();
        String path = "/v1/dead-letters/" + id + "/replay";
        assertThat(server.post(path, "{\"patch\":{\"a\":1},\"payload\":{}}").status())
                .isEqualTo(400);
        Reply replayed = server.post(path, "{\"patch\":{\"a\":1}}");
        assertThat(replayed.raw().body()).contains("{\"order\":9007199254740993123,\"a\":1}");
    }
}
