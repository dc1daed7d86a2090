// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.server.api.TestServer.Reply;
import io.reprise.server.http.Scope;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class ChainApiTest {

    private final TestServer server = new TestServer();

    @AfterEach
    void stop() {
        server.close();
    }

    private static String items(JsonNode jobs) {
        StringBuilder types = new StringBuilder();
        jobs.get("items")
                .forEach(job -> types.append(job.get("type").stringValue()).append(' '));
        return types.toString().strip();
    }

    private void complete(String tenantKey, String type) {
        JsonNode lease = server.send(tenantKey, "POST", "/v1/leases", "{\"types\":[\"" + type + "\"],\"wait\":\"20s\"}")
                .json()
                .get("items")
                .get(0);
        server.send(tenantKey, "POST", "/v1/leases/" + lease.get("token").stringValue() + "/complete", "{}");
    }

    @Test
    void a_remote_success_is_followed_and_the_follower_names_the_job_before() {
        String key = server.key("acme", "acme", Scope.ENQUEUE, Scope.WORK, Scope.READ);
        Reply stored = server.send(key, "POST", "/v1/jobs", """
                {"type":"ship","queue":"shop","then":[{"type":"mail","payload":{"n":12345678901234567890},"queue":"shop",
                 "then":[{"type":"archive"}]}],"whenDead":[{"type":"refund"}]}
                """);
        assertThat(stored.status()).isEqualTo(202);
        JsonNode ship =
                server.send(key, "GET", "/v1/jobs/" + stored.text("id"), null).json();
        assertThat(ship.get("follows").isNull()).isTrue();
        assertThat(ship.get("followers").toString())
                .contains("{\"when\":\"SUCCEEDED\",\"type\":\"mail\",\"queue\":\"shop\"}")
                .contains("refund")
                .doesNotContain("archive");
        complete(key, "ship");
        JsonNode mail = server.send(key, "GET", "/v1/jobs?state=PENDING&payloads=true", null)
                .json()
                .get("items")
                .get(0);
        assertThat(mail.get("payload").toString()).isEqualTo("{\"n\":12345678901234567890}");
        assertThat(server.send(key, "GET", "/v1/jobs/" + mail.get("id").stringValue(), null)
                        .text("follows"))
                .isEqualTo(stored.text("id"));
        complete(key, "mail");
        complete(key, "archive");
        assertThat(items(server.send(key, "GET", "/v1/jobs?state=SUCCEEDED", null)
                                .json())
                        .split(" "))
                .containsExactlyInAnyOrder("ship", "mail", "archive");
    }

    @Test
    void a_follower_obeys_the_rules_of_every_job() {
        String[] refused = {
            "{\"type\":\"webhook\"}",
            "{\"type\":\"a\",\"priority\":99}",
            "{\"type\":\"a\",\"key\":\"k\",\"keyRule\":\"REJECT\"}",
            "{\"type\":\"a\",\"unknown\":1}",
            "{\"type\":\"a\",\"tags\":[\"webhook:1\"]}"
        };
        for (String follower : refused) {
            Reply reply = server.send(
                    server.admin,
                    "POST",
                    "/v1/jobs",
                    "{\"type\":\"a\",\"then\":[{\"type\":\"b\",\"whenDead\":[" + follower + "]}]}");
            assertThat(reply.status()).as(follower).isIn(400, 422);
            assertThat(reply.raw().body()).contains("/then/0/whenDead/0");
        }
        assertThat(server.get("/v1/jobs").json().get("items")).isEmpty();
    }

    @Test
    void a_bound_key_cannot_reach_further_through_a_follower() {
        String key = server.send(
                        server.admin,
                        "POST",
                        "/v1/keys",
                        "{\"name\":\"bound\",\"scopes\":[\"enqueue\"],\"queues\":[\"images\"],\"types\":[\"resize\"]}")
                .text("key");
        String inside = "{\"type\":\"resize\",\"queue\":\"images\"}";
        String chain = "{\"type\":\"resize\",\"queue\":\"images\",\"then\":[%s]}";
        assertThat(server.send(key, "POST", "/v1/jobs", chain.formatted(inside)).status())
                .isEqualTo(202);
        for (String outside : new String[] {
            "{\"type\":\"other\",\"queue\":\"images\"}",
            "{\"type\":\"resize\",\"queue\":\"other\"}",
            chain.formatted("{\"type\":\"resize\"}")
        }) {
            assertThat(server.send(key, "POST", "/v1/jobs", chain.formatted(outside))
                            .status())
                    .isEqualTo(403);
        }
    }

    @Test
    void a_debounced_job_is_put_off_only_to_its_bound() {
        String job = "{\"type\":\"index\",\"key\":\"k\",\"keyRule\":\"REPLACE\",\"delay\":\"%s\",\"atLatest\":\"1h\"}";
        String id = server.enqueue(job.formatted("10m"));
        Reply again = server.send(server.admin, "POST", "/v1/jobs", job.formatted("2h"));
        assertThat(again.text("id")).isEqualTo(id);
        JsonNode stored = server.get("/v1/jobs/" + id).json();
        assertThat(Duration.between(
                        Instant.parse(stored.get("createdAt").stringValue()),
                        Instant.parse(stored.get("dueAt").stringValue())))
                .isEqualTo(Duration.ofHours(1));
        assertThat(server.send(server.admin, "POST", "/v1/jobs", "{\"type\":\"a\",\"atLatest\":\"1h\"}")
                        .raw()
                        .body())
                .contains("/atLatest", "needs a key with keyRule REPLACE");
    }

    @Test
    void a_chain_that_is_too_long_is_the_clients_mistake() {
        String key = server.key("acme", "acme", Scope.ENQUEUE, Scope.OPERATE, Scope.READ);
        String many = "[" + String.join(",", Collections.nCopies(60, "{\"type\":\"mail\"}")) + "]";
        String large = "["
                + String.join(
                        ",", Collections.nCopies(60, "{\"type\":\"mail\",\"payload\":\"" + "a".repeat(20_000) + "\"}"))
                + "]";
        String both = "{\"type\":\"ship\",\"then\":" + many + ",\"whenDead\":" + many + "}";
        String wide = "{\"type\":\"ship\",\"then\":" + large + "}";
        for (String job : List.of(both, wide)) {
            assertThat(server.send(key, "POST", "/v1/jobs", job).status()).isEqualTo(400);
            assertThat(server.send(key, "POST", "/v1/jobs", "[" + job + "]").status())
                    .isEqualTo(400);
            assertThat(server.send(key, "PUT", "/v1/schedules/often", "{\"every\":\"1h\",\"job\":" + job + "}")
                            .status())
                    .isEqualTo(400);
        }
        assertThat(server.send(key, "GET", "/v1/jobs", null).json().get("items").isEmpty())
                .isTrue();
    }

    @Test
    void a_short_request_does_not_become_a_large_one_by_its_followers() {
        String key = server.key("acme", "acme", Scope.ENQUEUE, Scope.READ);
        // A number of attempts of its own makes a policy of its own.
        String job = IntStream.rangeClosed(1, 100)
                .mapToObj(i -> "{\"type\":\"b\",\"maxAttempts\":" + i + "}")
                .collect(Collectors.joining(",", "{\"type\":\"a\",\"delay\":\"1h\",\"then\":[", "]}"));
        String most = "[" + String.join(",", Collections.nCopies(20, job)) + "]";
        String more = "[" + String.join(",", Collections.nCopies(21, job)) + "]";

        Reply refused = server.send(key, "POST", "/v1/jobs", more);

        assertThat(refused.status()).isEqualTo(400);
        assertThat(refused.text("detail")).contains("has 2100 jobs that follow others; one request may have 2000");
        assertThat(server.send(key, "GET", "/v1/jobs", null).json().get("items").isEmpty())
                .isTrue();
        server.send(key, "PUT", "/v1/batches/b", "{}");
        assertThat(server.send(key, "POST", "/v1/batches/b/jobs", more).status())
                .isEqualTo(400);
        assertThat(server.send(key, "POST", "/v1/jobs", most).status()).isEqualTo(202);
    }
}
