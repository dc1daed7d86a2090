// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.server.api.TestServer.Reply;
import io.reprise.server.http.Scope;
import io.reprise.server.net.HttpSettings;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testkit.fixture.TestJobs;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** What an operator learns of errors and resources, and notes about them. */
class ErrorApiTest {

    private final TestServer server = new TestServer();

    @AfterEach
    void stop() {
        server.close();
    }

    private JsonNode group(String key, String type) {
        return TestServer.await(() -> {
            for (JsonNode each :
                    server.send(key, "GET", "/v1/errors", null).json().get("items")) {
                if (each.at("/error/type").stringValue().equals(type)) {
                    return each;
                }
            }
            return null;
        });
    }

    @Test
    void an_error_has_a_pattern_and_a_note_that_is_audited() {
        server.deadLetter("bill", "bills", "Odd");
        JsonNode group = group(server.admin, "Odd");
        String note = "/v1/errors/" + group.get("fingerprint").stringValue() + "/note";
        assertThat(server.get(note).json().get("note").isNull()).isTrue();
        Reply put = server.put(note, "{\"text\":\"known, INC-12\",\"muted\":true,\"why\":\"I read the ticket\"}");
        assertThat(put.status()).isEqualTo(200);
        assertThat(group(server.admin, "Odd").at("/note/text").stringValue()).isEqualTo("known, INC-12");
        assertThat(server.get(note).json().at("/note/muted").booleanValue()).isTrue();
        assertThat(server.put(note, "{\"text\":\"mended\"}").json().get("muted").booleanValue())
                .isFalse();
        assertThat(server.get("/v1/audit").raw().body()).contains("note-error", "I read the ticket", "INC-12");
        assertThat(server.delete(note + "?why=over").status()).isEqualTo(204);
        assertThat(group(server.admin, "Odd").get("note").isNull()).isTrue();
        assertThat(server.get("/v1/audit").raw().body()).contains("forget-note", "over");
    }

    @Test
    void a_note_of_one_tenant_is_not_seen_by_another_and_needs_the_scope_to_operate() {
        String acme = server.key("a", "acme", Scope.READ, Scope.OPERATE);
        String other = server.key("o", "other", Scope.READ, Scope.OPERATE);
        String reader = server.key("r", "acme", Scope.READ);
        String note = "/v1/errors/0123456789abcdef/note";
        assertThat(server.send(acme, "PUT", note, "{\"text\":\"ours\"}").status())
                .isEqualTo(200);
        assertThat(server.send(reader, "GET", note, null)
                        .json()
                        .at("/note/text")
                        .stringValue())
                .isEqualTo("ours");
        assertThat(server.send(reader, "PUT", note, "{\"text\":\"mine\"}").status())
                .isEqualTo(403);
        assertThat(server.send(other, "GET", note, null).json().get("note").isNull())
                .isTrue();
        assertThat(server.get(note).json().get("note").isNull()).isTrue();
    }

    @Test
    void payloads_of_an_error_are_compared_field_by_field() {
        for (int i = 0; i < 3; i++) {
            server.enqueue("{\"type\":\"bill\",\"queue\":\"bills\",\"payload\":{\"country\":\"CH\",\"order\":" + i
                    + ",\"big\":9007199254740993123}}");
            String token = server.lease(",\"queues\":[\"bills\"]").get("token").stringValue();
            server.post("/v1/leases/" + token + "/fail", "{\"type\":\"Odd\",\"permanent\":true}");
        }
        String fingerprint = group(server.admin, "Odd").get("fingerprint").stringValue();
        JsonNode fields = server.get("/v1/errors/" + fingerprint + "/payloads").json();
        assertThat(fields.get("looked").intValue()).isEqualTo(3);
        assertThat(fields.at("/items/0/name").stringValue()).isEqualTo("big");
        assertThat(fields.at("/items/0/values/0/text").stringValue()).isEqualTo("9007199254740993123");
        assertThat(fields.at("/items/1/distinct").intValue()).isEqualTo(1);
        assertThat(fields.at("/items/2/name").stringValue()).isEqualTo("order");
        assertThat(fields.at("/items/2/distinct").intValue()).isEqualTo(3);
    }

    @Test
    void parked_jobs_are_counted_by_their_age() {
        server.post("/v1/resources/api/force-open", "{}");
        for (int i = 0; i < 3; i++) {
            server.enqueue("{\"type\":\"call\",\"queue\":\"calls\",\"resource\":\"api\"}");
        }
        JsonNode ages = TestServer.await(() -> {
            // A worker that has not heard of it yet may lease a job once more, but not for long.
            server.post("/v1/leases", "{\"worker\":\"w\",\"lease\":\"1s\",\"max\":3,\"queues\":[\"calls\"]}");
            JsonNode seen = server.get("/v1/resources/api/parked").json();
            return seen.get("looked").intValue() == 3 ? seen : null;
        });
        int sum = 0;
        for (JsonNode age : ages.get("items")) {
            sum += age.get("jobs").intValue();
        }
        assertThat(sum).isEqualTo(3);
        assertThat(ages.get("oldest").isNull()).isFalse();
        assertThat(ages.get("more").booleanValue()).isFalse();
    }

    @Test
    void ages_of_parked_jobs_do_not_pass_over_a_whole_backlog() {
        InMemoryJobStore store = new InMemoryJobStore();
        for (int i = 0; i < 11; i++) {
            store.insert(Collections.nCopies(
                    1_000, TestJobs.spec("call").resource("api").build()));
        }
        try (TestServer large = new TestServer(store, HttpSettings.Limits.DEFAULT, 1_000_000)) {
            JsonNode ages = large.get("/v1/resources/api/parked").json();
            assertThat(ages.get("looked").intValue()).isZero();
            assertThat(ages.get("more").booleanValue()).isTrue();
        }
    }

    @Test
    void the_pulse_comes_over_the_stream_of_events_if_asked_for() throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(server.server.url() + "/v1/events?pulse=true"))
                .header("Authorization", "Bearer " + server.admin)
                .build();
        HttpResponse<Stream<String>> answer = server.client().send(request, HttpResponse.BodyHandlers.ofLines());
        try (Stream<String> lines = answer.body()) {
            List<String> seen = lines.dropWhile(line -> !line.equals("event: pulse"))
                    .limit(2)
                    .toList();
            assertThat(seen.get(1)).startsWith("data: {").contains("\"sentence\":");
        }
    }

    @Test
    void a_preview_draws_five_jobs_and_a_decision_says_its_delay_before_jitter() {
        JsonNode plan = server.post("/v1/policies/preview", "{\"base\":\"10s\",\"jitter\":\"full\",\"maxAttempts\":4}")
                .json();
        assertThat(plan.get("samples")).hasSize(5);
        assertThat(plan.at("/samples/0")).hasSize(3);
        String id = server.enqueue("{\"type\":\"a\",\"queue\":\"a\",\"policy\":{\"base\":\"1h\",\"jitter\":\"full\"}}");
        String token = server.lease(",\"queues\":[\"a\"]").get("token").stringValue();
        server.post("/v1/leases/" + token + "/fail", "{\"type\":\"Odd\"}");
        assertThat(server.get("/v1/jobs/" + id)
                        .json()
                        .at("/history/0/decision/rawDelay")
                        .stringValue())
                .isEqualTo("1h");
    }

    @Test
    void jobs_of_a_group_are_found_and_counted_where_they_wait() {
        server.enqueue("{\"type\":\"a\",\"queue\":\"q\",\"group\":\"tenant-7\"}");
        server.enqueue("{\"type\":\"a\",\"queue\":\"q\",\"group\":\"tenant-7\"}");
        server.enqueue("{\"type\":\"a\",\"queue\":\"q\"}");
        assertThat(server.get("/v1/jobs?q=group:tenant-7").json().get("items")).hasSize(2);
        assertThat(server.get("/v1/jobs?q=-group:tenant-7").json().get("items")).hasSize(1);
        JsonNode groups = server.get("/v1/queues/q/explain").json().get("groups");
        assertThat(groups).hasSize(1);
        assertThat(groups.at("/0/jobs").intValue()).isEqualTo(2);
    }

    @Test
    void a_replay_puts_back_no_more_than_its_limit() {
        for (int i = 0; i < 4; i++) {
            server.deadLetter("bill", "bills", "Odd");
        }
        server.post("/v1/replays", "{\"canary\":1,\"rate\":100,\"limit\":2,\"filter\":{\"type\":\"bill\"}}");
        for (int i = 0; i < 2; i++) {
            String token = server.lease(",\"queues\":[\"bills\"]").get("token").stringValue();
            server.post("/v1/leases/" + token + "/complete", "{}");
        }
        JsonNode done = TestServer.await(() -> {
            JsonNode replay = server.get("/v1/replays").json().at("/items/0");
            return replay.get("state").stringValue().equals("DONE") ? replay : null;
        });
        assertThat(done.get("replayed").intValue()).isEqualTo(2);
        assertThat(done.get("limit").intValue()).isEqualTo(2);
        assertThat(server.get("/v1/dead-letters").json().get("items")).hasSize(2);
    }
}
