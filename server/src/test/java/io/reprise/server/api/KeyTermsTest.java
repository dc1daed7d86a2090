// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.server.api.TestServer.Reply;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Keys that count only for a while, from somewhere, or for some jobs. */
class KeyTermsTest {

    private final TestServer server = new TestServer();

    @AfterEach
    void stop() {
        server.close();
    }

    private Reply create(String scopes, String more) {
        return server.post("/v1/keys", "{\"name\":\"k\",\"scopes\":[" + scopes + "]," + more + "}");
    }

    private String key(String scopes, String more) {
        Reply made = create(scopes, more);
        assertThat(made.status()).as(made.raw().body()).isEqualTo(201);
        return made.text("key");
    }

    @Test
    void a_key_counts_until_it_expires() {
        String old = key("\"read\"", "\"expiresAt\":\"2020-01-01T00:00:00Z\"");
        Reply refused = server.send(old, "GET", "/v1/jobs", null);
        assertThat(refused.status()).isEqualTo(401);
        assertThat(refused.text("detail")).contains("expired at 2020-01-01");
        String young = key("\"read\"", "\"expiresAt\":\"2100-01-01T00:00:00Z\"");
        assertThat(server.send(young, "GET", "/v1/jobs", null).status()).isEqualTo(200);
    }

    @Test
    void a_key_counts_from_where_it_may_be_used() {
        String elsewhere = key("\"read\"", "\"addresses\":[\"10.0.0.0/8\",\"::1\"]");
        assertThat(server.send(elsewhere, "GET", "/v1/jobs", null).status()).isEqualTo(403);
        String here = key("\"read\"", "\"addresses\":[\"10.0.0.0/8\",\"127.0.0.0/8\"]");
        assertThat(server.send(here, "GET", "/v1/jobs", null).status()).isEqualTo(200);
        assertThat(create("\"read\"", "\"addresses\":[\"localhost\"]").status()).isEqualTo(400);
    }

    @Test
    void a_key_tells_whose_it_is_and_when_it_was_used() {
        Reply made = create("\"read\"", "\"owner\":\"team payments\"");
        assertThat(made.json().get("lastUsedAt").isNull()).isTrue();
        server.send(made.text("key"), "GET", "/v1/jobs", null);
        for (JsonNode shown : new JsonNode[] {
            server.get("/v1/keys/" + made.text("id")).json(),
            server.get("/v1/keys")
                    .json()
                    .get("items")
                    .valueStream()
                    .filter(each -> each.get("id").stringValue().equals(made.text("id")))
                    .findFirst()
                    .orElseThrow()
        }) {
            assertThat(shown.get("owner").stringValue()).isEqualTo("team payments");
            assertThat(shown.get("lastUsedAt").isNull()).isFalse();
        }
    }

    @Test
    void a_key_puts_in_only_what_it_is_for() {
        String key = key("\"enqueue\"", "\"queues\":[\"images\"],\"types\":[\"resize\"]");
        String job = "{\"type\":\"%s\",\"queue\":\"%s\"}";
        assertThat(server.send(key, "POST", "/v1/jobs", job.formatted("resize", "images"))
                        .status())
                .isEqualTo(202);
        assertThat(server.send(key, "POST", "/v1/jobs", job.formatted("resize", "other"))
                        .status())
                .isEqualTo(403);
        assertThat(server.send(key, "POST", "/v1/jobs", job.formatted("other", "images"))
                        .status())
                .isEqualTo(403);
        assertThat(server.send(key, "POST", "/v1/jobs", "{\"type\":\"resize\"}").status())
                .as("the default queue is not its own")
                .isEqualTo(403);
        String both = "[" + job.formatted("resize", "images") + "," + job.formatted("resize", "other") + "]";
        assertThat(server.send(key, "POST", "/v1/jobs", both).status()).isEqualTo(403);
        assertThat(server.get("/v1/jobs").json().get("items").size()).isEqualTo(1);
    }

    @Test
    void a_key_takes_out_only_what_it_is_for() {
        String key = key("\"work\"", "\"queues\":[\"images\"],\"types\":[\"resize\"]");
        server.enqueue("{\"type\":\"resize\",\"queue\":\"other\"}");
        server.enqueue("{\"type\":\"other\",\"queue\":\"images\"}");
        String mine = server.enqueue("{\"type\":\"resize\",\"queue\":\"images\"}");
        JsonNode leases =
                server.send(key, "POST", "/v1/leases", "{\"max\":10}").json().get("items");
        assertThat(leases.size()).isEqualTo(1);
        assertThat(leases.get(0).get("job").get("id").stringValue()).isEqualTo(mine);
        for (String leaseRequest : new String[] {"{\"queues\":[\"other\"]}", "{\"types\":[\"other\"]}"}) {
            assertThat(server.send(key, "POST", "/v1/leases", leaseRequest).status())
                    .isEqualTo(403);
        }
        String foreign = server.lease(",\"queues\":[\"other\"]").get("token").stringValue();
        assertThat(server.send(key, "POST", "/v1/leases/" + foreign + "/complete", "{}")
                        .status())
                .isEqualTo(403);
        String own = leases.get(0).get("token").stringValue();
        assertThat(server.send(key, "POST", "/v1/leases/" + own + "/complete", "{}")
                        .status())
                .isEqualTo(200);
    }

    @Test
    void a_key_tells_events_only_to_what_it_is_for() {
        String key = key("\"enqueue\"", "\"queues\":[\"images\"],\"types\":[\"resize\"]");
        String event = "{\"name\":\"paid\",\"value\":1}";
        String mine = server.enqueue("{\"type\":\"resize\",\"queue\":\"images\",\"delay\":\"1d\"}");
        assertThat(server.send(key, "POST", "/v1/jobs/" + mine + "/events", event)
                        .status())
                .isEqualTo(200);
        for (String job : new String[] {
            "{\"type\":\"resize\",\"queue\":\"other\",\"delay\":\"1d\"}",
            "{\"type\":\"other\",\"queue\":\"images\",\"delay\":\"1d\"}"
        }) {
            String foreign = server.enqueue(job);
            assertThat(server.send(key, "POST", "/v1/jobs/" + foreign + "/events", event)
                            .status())
                    .isEqualTo(403);
            assertThat(server.get("/v1/jobs/" + foreign + "/steps").json().get("items"))
                    .isEmpty();
        }
    }

    @Test
    void a_key_brings_about_no_end_of_a_batch_for_which_other_jobs_wait() {
        String key = key("\"enqueue\"", "\"queues\":[\"images\"],\"types\":[\"resize\"]");
        String job = "{\"type\":\"resize\",\"queue\":\"images\"}";
        server.send(server.admin, "PUT", "/v1/batches/theirs", "{\"onEnd\":{\"type\":\"bill\"}}");
        server.send(server.admin, "PUT", "/v1/batches/mine", "{\"onEnd\":" + job + "}");
        assertThat(server.send(key, "POST", "/v1/batches/theirs/close", "{}").status())
                .isEqualTo(403);
        assertThat(server.send(key, "POST", "/v1/batches/theirs/jobs", job).status())
                .isEqualTo(403);
        assertThat(server.send(key, "PUT", "/v1/batches/theirs", "{}").status()).isEqualTo(403);
        assertThat(server.send(key, "POST", "/v1/batches/mine/jobs", job).status())
                .isEqualTo(202);
        assertThat(server.send(key, "POST", "/v1/batches/mine/close", "{}").status())
                .isEqualTo(200);
    }

    @Test
    void what_shows_all_jobs_is_not_bound_to_some() {
        assertThat(create("\"read\",\"work\"", "\"queues\":[\"a\"]").status()).isEqualTo(400);
        assertThat(create("\"operate\"", "\"types\":[\"a\"]").status()).isEqualTo(400);
    }
}
