// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.reprise.server.api.TestServer.Reply;
import io.reprise.server.http.Scope;
import io.reprise.server.net.HttpSettings;
import io.reprise.testing.InMemoryJobStore;
import java.util.List;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;

class AccessTest {

    private final TestServer server = new TestServer();

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void nobody_gets_in_without_a_key() {
        for (String key :
                List.of("", "reprise_", "nonsense", server.admin + "0", server.admin.replace("reprise_", "xx_"))) {
            Reply reply = server.send(key.isEmpty() ? null : key, "GET", "/v1/jobs", null);
            assertThat(reply.status()).as(key).isEqualTo(401);
            assertThat(reply.problem()).isEqualTo("unauthorized");
            assertThat(reply.raw().headers().firstValue("WWW-Authenticate")).contains("Bearer");
        }
    }

    @Test
    void a_key_may_do_what_its_scopes_say_and_no_more() {
        String reader = server.key("reader", null, Scope.READ);
        String producer = server.key("producer", null, Scope.ENQUEUE);
        String worker = server.key("worker", null, Scope.WORK);
        String operator = server.key("operator", null, Scope.OPERATE, Scope.READ);
        String id =
                server.send(producer, "POST", "/v1/jobs", "{\"type\":\"a\"}").text("id");
        assertThat(server.send(reader, "GET", "/v1/jobs/" + id, null).status()).isEqualTo(200);
        assertThat(server.send(reader, "POST", "/v1/jobs", "{\"type\":\"a\"}").problem())
                .isEqualTo("forbidden");
        assertThat(server.send(producer, "GET", "/v1/jobs/" + id, null).status())
                .isEqualTo(403);
        assertThat(server.send(reader, "POST", "/v1/queues/q/pause", "{}").status())
                .isEqualTo(403);
        assertThat(server.send(operator, "POST", "/v1/queues/q/pause", "{}").status())
                .isEqualTo(200);
        assertThat(server.send(operator, "POST", "/v1/leases", "{\"worker\":\"w\"}")
                        .status())
                .isEqualTo(403);
        assertThat(server.send(worker, "POST", "/v1/leases", "{\"worker\":\"w\"}")
                        .status())
                .isEqualTo(200);
        for (String key : List.of(reader, producer, worker, operator)) {
            assertThat(server.send(key, "GET", "/v1/keys", null).status()).isEqualTo(403);
        }
    }

    @Test
    void keys_are_made_shown_once_rotated_and_revoked() {
        Reply made = server.post("/v1/keys", "{\"name\":\"ci\",\"scopes\":[\"read\"]}");
        assertThat(made.status()).isEqualTo(201);
        String id = made.text("id");
        String text = made.text("key");
        String secret = text.substring(text.lastIndexOf('_') + 1);
        assertThat(server.send(text, "GET", "/v1/stats", null).status()).isEqualTo(200);
        assertThat(server.get("/v1/keys").raw().body()).doesNotContain(secret).contains("\"ci\"");
        assertThat(server.get("/v1/keys/" + id).raw().body())
                .doesNotContain(secret)
                .doesNotContain("hash");
        assertThat(server.store.document("api-key", id).orElseThrow().json()).doesNotContain(secret);

        String second =
                server.post("/v1/keys/" + id + "/rotate", "{\"grace\":\"1h\"}").text("key");
        assertThat(server.send(second, "GET", "/v1/stats", null).status()).isEqualTo(200);
        assertThat(server.send(text, "GET", "/v1/stats", null).status())
                .as("in the grace")
                .isEqualTo(200);
        String third = server.post("/v1/keys/" + id + "/rotate", "{}").text("key");
        assertThat(server.send(second, "GET", "/v1/stats", null).status()).isEqualTo(401);

        assertThat(server.delete("/v1/keys/" + id).status()).isEqualTo(204);
        assertThat(server.send(third, "GET", "/v1/stats", null).status()).isEqualTo(401);
        assertThat(server.get("/v1/audit")
                        .json()
                        .get("items")
                        .valueStream()
                        .map(e -> e.get("action").stringValue()))
                .contains("create-key", "rotate-key", "revoke-key");
    }

    @Test
    void metrics_have_names_of_all_tenants_and_are_not_for_one() {
        assertThat(server.send(server.key("acme", "acme", Scope.READ), "GET", "/metrics", null)
                        .problem())
                .isEqualTo("forbidden");
        assertThat(server.send(server.key("all", null, Scope.READ), "GET", "/metrics", null)
                        .status())
                .isEqualTo(200);
    }

    @Test
    void a_tenants_key_is_never_an_admins() {
        Reply refused = server.post("/v1/keys", "{\"name\":\"x\",\"scopes\":[\"admin\"],\"tenant\":\"acme\"}");
        assertThat(refused.status()).isEqualTo(400);
        assertThat(server.post("/v1/keys", "{\"name\":\"x\",\"scopes\":[\"read\"],\"tenant\":\"a/b\"}")
                        .status())
                .isEqualTo(400);
    }

    @Test
    void a_tenant_sees_its_own_jobs_and_no_others() {
        Scope[] all = {Scope.READ, Scope.ENQUEUE, Scope.WORK, Scope.OPERATE};
        String acme = server.key("acme", "acme", all);
        String evil = server.key("evil", "evil", all);
        String body = "{\"type\":\"a\",\"queue\":\"q\",\"resource\":\"r\",\"key\":\"k\",\"tags\":[\"t\"]}";
        String mine = server.send(acme, "POST", "/v1/jobs", body).text("id");
        String theirs = server.send(evil, "POST", "/v1/jobs", body).text("id");
        assertThat(theirs).as("the same unique key of another tenant").isNotEqualTo(mine);

        JsonNode shown = server.send(acme, "GET", "/v1/jobs/" + mine, null).json();
        assertThat(shown.get("queue").stringValue()).isEqualTo("q");
        assertThat(shown.get("resource").stringValue()).isEqualTo("r");
        assertThat(shown.get("key").stringValue()).isEqualTo("k");
        assertThat(server.get("/v1/jobs/" + mine).text("queue")).isEqualTo("acme/q");
        for (String path : List.of("", "/explain", "/result")) {
            Reply foreign = server.send(acme, "GET", "/v1/jobs/" + theirs + path, null);
            assertThat(foreign.status()).as(path).isEqualTo(404);
            assertThat(foreign.raw().body().replaceAll("\"instance\":\"[^\"]*\"", ""))
                    .as("no word different from a job that does not exist")
                    .isEqualTo(server.send(acme, "GET", "/v1/jobs/999999" + path, null)
                            .raw()
                            .body()
                            .replaceAll("\"instance\":\"[^\"]*\"", "")
                            .replace("999999", theirs));
        }
        for (String action : List.of("retry", "cancel")) {
            assertThat(server.send(acme, "POST", "/v1/jobs/" + theirs + "/" + action, "{}")
                            .status())
                    .isEqualTo(404);
        }
        assertThat(server.send(acme, "GET", "/v1/jobs?tag=t", null).json().get("items"))
                .hasSize(1);
        assertThat(server.send(acme, "GET", "/v1/queues", null).json().get("items"))
                .hasSize(1);
        assertThat(server.get("/v1/jobs").json().get("items")).hasSize(2);
        assertThat(server.send(acme, "GET", "/v1/stats", null)
                        .json()
                        .get("counts")
                        .get("PENDING")
                        .intValue())
                .isEqualTo(1);
    }

    @Test
    void a_tenants_worker_gets_its_own_jobs_and_cannot_touch_others() {
        String acme = server.key("acme", "acme", Scope.WORK, Scope.ENQUEUE);
        String evil = server.key("evil", "evil", Scope.WORK, Scope.ENQUEUE);
        server.send(evil, "POST", "/v1/jobs", "{\"type\":\"a\"}");
        assertThat(server.send(acme, "POST", "/v1/leases", "{\"worker\":\"w\"}")
                        .json()
                        .get("items"))
                .isEmpty();
        assertThat(server.send(acme, "POST", "/v1/leases", "{\"worker\":\"w\",\"queues\":[\"evil/default\"]}")
                        .json()
                        .get("items"))
                .isEmpty();
        JsonNode lease = server.send(evil, "POST", "/v1/leases", "{\"worker\":\"w\"}")
                .json()
                .get("items")
                .get(0);
        String token = lease.get("token").stringValue();
        assertThat(server.send(acme, "POST", "/v1/leases/" + token + "/complete", "{}")
                        .status())
                .isEqualTo(409);
        assertThat(server.send(evil, "POST", "/v1/leases/" + token + "/complete", "{}")
                        .status())
                .isEqualTo(200);
    }

    @Test
    void tenants_have_their_own_schedules_policies_and_replays() {
        Scope[] all = {Scope.READ, Scope.ENQUEUE, Scope.WORK, Scope.OPERATE};
        String acme = server.key("acme", "acme", all);
        String evil = server.key("evil", "evil", all);
        String schedule = "{\"every\":\"1h\",\"job\":{\"type\":\"a\",\"policy\":\"mine\"}}";
        assertThat(server.send(acme, "PUT", "/v1/policies/mine", "{\"maxAttempts\":2}")
                        .status())
                .isEqualTo(200);
        assertThat(server.send(acme, "PUT", "/v1/schedules/nightly", schedule).status())
                .isEqualTo(200);
        assertThat(server.send(evil, "GET", "/v1/policies/mine", null).status()).isEqualTo(404);
        assertThat(server.send(evil, "GET", "/v1/schedules/nightly", null).status())
                .isEqualTo(404);
        assertThat(server.send(evil, "PUT", "/v1/schedules/nightly", schedule).status())
                .isEqualTo(400);
        assertThat(server.send(evil, "POST", "/v1/schedules/nightly/trigger", "{}")
                        .status())
                .isEqualTo(404);
        assertThat(server.send(evil, "GET", "/v1/schedules", null).json().get("items"))
                .isEmpty();
        String replay = server.send(acme, "POST", "/v1/replays", "{}").text("id");
        assertThat(server.send(evil, "GET", "/v1/replays/" + replay, null).status())
                .isEqualTo(404);
        assertThat(server.send(evil, "GET", "/v1/replays", null).json().get("items"))
                .isEmpty();
        assertThat(server.send(acme, "GET", "/v1/replays", null).json().get("items"))
                .hasSize(1);
    }

    @Test
    void a_right_key_is_let_in_whatever_others_show_from_its_address() {
        Reply last = server.get("/v1/jobs");
        for (int i = 1; i <= 350; i++) {
            String madeUp = "reprise_%012x_%064x".formatted(i, i);
            last = server.send(madeUp, "GET", "/v1/jobs", null);
            assertThat(last.status()).isIn(401, 429);
        }
        assertThat(last.status()).as("wrong keys are slowed down").isEqualTo(429);
        assertThat(last.raw().headers().firstValue("Retry-After")).isPresent();
        String wrong = server.admin.substring(0, server.admin.length() - 4)
                + (server.admin.endsWith("0000") ? "1111" : "0000");
        assertThat(server.send(wrong, "GET", "/v1/jobs", null).status()).isEqualTo(429);
        assertThat(server.get("/v1/jobs").status()).isEqualTo(200);
        String made = server.key("new", null, Scope.READ);
        TestServer.await(() -> server.send(made, "GET", "/v1/jobs", null).status() == 200 ? true : null);
        assertThat(server.get("/metrics").raw().body()).contains("reprise_http_wrong_keys_total");
    }

    @Test
    void a_wrong_key_is_logged_with_its_address_and_id_and_without_its_secret() {
        Logger logger = (Logger) LoggerFactory.getLogger("io.reprise.server");
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        lines.start();
        logger.addAppender(lines);
        logger.setLevel(Level.WARN);
        try {
            String secret = "1b".repeat(32);
            assertThat(server.send("reprise_0a0a0a0a0a0a_" + secret, "GET", "/v1/jobs", null)
                            .status())
                    .isEqualTo(401);
            assertThat(List.copyOf(lines.list))
                    .extracting(ILoggingEvent::getFormattedMessage)
                    .filteredOn(line -> line.contains("wrong API key"))
                    .singleElement(InstanceOfAssertFactories.STRING)
                    .contains("127.0.0.1", "0a0a0a0a0a0a")
                    .doesNotContain(secret);
        } finally {
            logger.setLevel(null);
            logger.detachAppender(lines);
        }
    }

    @Test
    void who_asks_too_often_is_told_to_wait() {
        try (TestServer slow = new TestServer(new InMemoryJobStore(), HttpSettings.Limits.DEFAULT, 1)) {
            int status = 0;
            for (int i = 0; i < 50 && status != 429; i++) {
                status = slow.get("/v1/queues").status();
            }
            assertThat(status).isEqualTo(429);
        }
    }

    @Test
    void a_tenant_sees_in_the_audit_log_what_is_its_own_and_nothing_else() {
        String acme = server.key("acme", "acme", Scope.READ, Scope.OPERATE);
        String evil = server.key("evil", "evil", Scope.READ, Scope.OPERATE);
        server.send(acme, "PUT", "/v1/policies/mine", "{\"maxAttempts\":2}");
        server.send(acme, "POST", "/v1/resources/api/force-open", "{}");
        server.post("/v1/queues/acme%2Fq/pause", "{}");
        List<String> seen = server.send(acme, "GET", "/v1/audit", null)
                .json()
                .get("items")
                .valueStream()
                .map(entry -> entry.get("action").stringValue())
                .toList();
        assertThat(seen).contains("put-policy").doesNotContain("create-key").hasSize(3);
        assertThat(server.send(evil, "GET", "/v1/audit", null).json().get("items"))
                .isEmpty();
        for (String reserved :
                List.of("api-key", "policy", "replay", "webhook", "breaker", "budget", "operation", "oidc")) {
            assertThat(server.post("/v1/keys", "{\"name\":\"x\",\"scopes\":[\"read\"],\"tenant\":\"" + reserved + "\"}")
                            .status())
                    .as(reserved)
                    .isEqualTo(400);
        }
    }

    @Test
    void two_keys_of_one_name_are_told_apart_in_the_audit_log() {
        String one = server.key("twin", null, Scope.OPERATE);
        String two = server.key("twin", null, Scope.OPERATE);
        server.send(one, "POST", "/v1/queues/a/pause", "{}");
        server.send(two, "POST", "/v1/queues/b/pause", "{}");
        JsonNode entries = server.get("/v1/audit?limit=2").json().get("items");
        assertThat(entries.get(0).get("by").stringValue()).contains(two.split("_", -1)[1]);
        assertThat(entries.get(1).get("by").stringValue()).contains(one.split("_", -1)[1]);
    }

    @Test
    void a_key_is_revoked_for_a_reason() {
        String id = server.key("old", null, Scope.READ).split("_", -1)[1];
        assertThat(server.delete("/v1/keys/" + id + "?why=leaked").status()).isEqualTo(204);
        assertThat(server.get("/v1/audit?limit=1").json().at("/items/0/why").stringValue())
                .isEqualTo("leaked");
    }

    @Test
    void paths_that_there_are_not_are_throttled_too() {
        try (TestServer slow = new TestServer(new InMemoryJobStore(), HttpSettings.Limits.DEFAULT, 1)) {
            int status = 0;
            for (int i = 0; i < 50 && status != 429; i++) {
                status = slow.get("/nothing/here").status();
            }
            assertThat(status).isEqualTo(429);
        }
    }
}
