// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.server.api.TestServer.Reply;
import io.reprise.server.http.Scope;
import io.reprise.store.Document;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Settings of the fleet over HTTP. */
class SettingsApiTest {

    private final TestServer server = new TestServer();

    @AfterEach
    void stop() {
        server.close();
    }

    private int maxAttempts(String type) {
        String id = server.enqueue("{\"type\":\"" + type + "\",\"queue\":\"s\"}");
        return server.get("/v1/jobs/" + id).json().get("maxAttempts").intValue(0);
    }

    @Test
    void a_policy_is_set_for_a_type_and_jobs_have_it() {
        Reply empty = server.get("/v1/settings");
        assertThat(empty.raw().body()).isEqualTo("{}");
        assertThat(empty.raw().headers().firstValue("ETag")).contains("\"0\"");
        Reply put = server.put("/v1/settings/types/bill", "{\"policy\":\"weave\"}");
        assertThat(put.status()).as(put.raw().body()).isEqualTo(200);
        assertThat(put.json()
                        .get("types")
                        .get("bill")
                        .get("policy")
                        .get("maxAttempts")
                        .intValue())
                .as("a preset is stored in full")
                .isEqualTo(4);
        TestServer.await(() -> maxAttempts("bill") == 4 ? true : null);
        assertThat(maxAttempts("other")).isEqualTo(20);
        assertThat(server.delete("/v1/settings/types/bill").status()).isEqualTo(200);
        TestServer.await(() -> maxAttempts("bill") == 20 ? true : null);
        assertThat(server.delete("/v1/settings/types/bill").status()).isEqualTo(404);
    }

    @Test
    void settings_that_are_too_long_in_all_are_refused() {
        String rule = "{\"name\":\"busy\",\"class\":\"THROTTLED\",\"codes\":[\"" + "\u00e9".repeat(100) + "\"]}";
        String part = "{\"policy\":{\"rules\":[" + String.join(",", Collections.nCopies(200, rule)) + "]}}";
        StringBuilder types = new StringBuilder();
        for (int i = 0; i < (1 << 20) / part.getBytes(StandardCharsets.UTF_8).length; i++) {
            types.append(i == 0 ? "" : ",").append("\"t" + i + "\":" + part);
        }
        server.store.putDocument(new Document("settings", "fleet", 0, "{\"types\":{" + types + "}}"));
        Reply tooLong = server.put("/v1/settings/types/more", part);
        assertThat(tooLong.status()).as(tooLong.raw().body()).isEqualTo(400);
        assertThat(server.put("/v1/settings", "{}").status()).isEqualTo(200);
    }

    @Test
    void every_kind_is_replaced_by_itself_and_all_at_once() {
        server.put("/v1/settings/defaults", "{\"retries\":false,\"poll\":\"2s\"}");
        server.put("/v1/settings/queues/mail", "{\"policy\":{\"maxAttempts\":3}}");
        server.put("/v1/settings/resources/smtp", "{\"breaker\":{\"streak\":5},\"budget\":{\"floor\":2}}");
        Reply all = server.get("/v1/settings");
        assertThat(all.json().get("defaults").get("retries").booleanValue()).isFalse();
        assertThat(all.json()
                        .get("queues")
                        .get("mail")
                        .get("policy")
                        .get("maxAttempts")
                        .intValue())
                .isEqualTo(3);
        assertThat(all.json()
                        .get("resources")
                        .get("smtp")
                        .get("breaker")
                        .get("streak")
                        .intValue())
                .isEqualTo(5);
        Reply replaced = server.put("/v1/settings", "{\"queues\":{\"mail\":{}}}");
        assertThat(replaced.status()).as(replaced.raw().body()).isEqualTo(200);
        assertThat(replaced.json().has("defaults")).isFalse();
    }

    @Test
    void a_change_names_the_version_that_it_replaces_and_is_audited() {
        String first = tag(server.put("/v1/settings/defaults", "{\"poll\":\"2s\"}"));
        Reply second =
                server.send(server.admin, "PUT", "/v1/settings/defaults", "{\"poll\":\"3s\"}", "If-Match", first);
        assertThat(second.status()).isEqualTo(200);
        Reply late = server.send(server.admin, "PUT", "/v1/settings/defaults", "{\"poll\":\"4s\"}", "If-Match", first);
        assertThat(late.status()).isEqualTo(412);
        assertThat(late.problem()).isEqualTo("version-mismatch");
        assertThat(server.get("/v1/settings").json().get("defaults").get("poll").stringValue())
                .isEqualTo("PT3S");
        assertThat(server.get("/v1/audit").raw().body())
                .contains("put-settings")
                .contains("PT2S")
                .contains("PT3S");
    }

    private static String tag(Reply reply) {
        return reply.raw().headers().firstValue("ETag").orElseThrow();
    }

    @Test
    void what_is_wrong_is_named_and_nothing_is_stored() {
        for (String[] wrong : new String[][] {
            {"/v1/settings/types/bill", "{\"policy\":\"nope\"}", "there is no stored policy 'nope'"},
            {"/v1/settings/types/bill", "{\"policy\":{\"maxAttempts\":0}}", "types/bill: maxAttempts is 0 but must be 1"
            },
            {"/v1/settings/defaults", "{\"poll\":\"2h\"}", "poll is PT2H but must be PT0.01S to PT1M"},
            {"/v1/settings/resources/r", "{\"kind\":\"x\"}", "resources/r has no field"},
        }) {
            Reply reply = server.put(wrong[0], wrong[1]);
            assertThat(reply.status()).as(wrong[1]).isEqualTo(400);
            assertThat(reply.raw().body().replace("\\", "")).contains(wrong[2]);
        }
        assertThat(server.get("/v1/settings").raw().body()).isEqualTo("{}");
    }

    @Test
    void each_wrong_field_is_named_by_its_place_in_the_body() {
        for (String[] wrong : new String[][] {
            {"/queues/mail", "{\"perGroup\":{\"*\":{\"running\":0}}}", "/perGroup/*/running"},
            {"/queues/mail", "{\"weights\":{\"a/b\":0,\"c\":1}}", "/weights/a~1b"},
            {"/queues/mail", "{\"lateFirst\":true}", "/lateFirst"},
            {"/queues/mail", "{\"rate\":{\"starts\":5,\"per\":\"0s\"}}", "/rate"},
            {"/queues/eu/mail", "{\"policy\":\"nope\"}", "/policy"},
            {"/types/bill", "{\"concurrency\":2,\"policy\":{\"base\":\"1s\",\"maxAttempts\":0}}", "/policy/maxAttempts"
            },
            {"/types/bill", "{\"nothing\":2}", "/nothing"},
            {"/resources/r", "{\"breaker\":{\"failureRate\":2}}", "/breaker/failureRate"},
            {"/defaults", "{\"retries\":false,\"pool\":0}", "/pool"},
            {
                "",
                "{\"defaults\":{\"pool\":0},\"queues\":{\"eu/mail\":{\"order\":\"x\"},\"b\":{\"order\":\"share\"}}}",
                "/defaults/pool,/queues/eu~1mail/order"
            },
            {"", "{\"queues\":{\"mail!\":{}}}", "/queues/mail!"},
            {"", "{\"types\":{\"bill\":{\"policy\":\"nope\"}}}", "/types/bill/policy"},
        }) {
            Reply reply = server.put("/v1/settings" + wrong[0].replace("eu/mail", "eu%2Fmail"), wrong[1]);
            assertThat(reply.status()).as(wrong[1]).isEqualTo(400);
            assertThat(reply.json().at("/errors").values())
                    .as(reply.raw().body())
                    .extracting(error -> error.get("field").stringValue())
                    .containsExactly(wrong[2].split(",", -1));
        }
        server.put("/v1/settings/defaults", "{\"ceilings\":{\"maxAttempts\":5}}");
        Reply above = server.put("/v1/settings/types/bill", "{\"policy\":{\"maxAttempts\":6}}");
        assertThat(above.json().at("/errors/0/field").stringValue()).isEqualTo("/policy");
        Reply named = server.put("/v1/policies/gold", "{\"base\":\"1s\",\"maxAttempts\":6}");
        assertThat(named.json().at("/errors/0/field").stringValue()).isEqualTo("/maxAttempts");
    }

    @Test
    void a_tenant_and_a_reader_may_not_change_them() {
        String tenant = server.key("tenant", "acme", Scope.OPERATE, Scope.READ);
        assertThat(server.send(tenant, "GET", "/v1/settings", null).status()).isEqualTo(403);
        assertThat(server.send(tenant, "PUT", "/v1/settings/defaults", "{}").status())
                .isEqualTo(403);
        String reader = server.key("reader", null, Scope.READ);
        assertThat(server.send(reader, "GET", "/v1/settings", null).status()).isEqualTo(200);
        assertThat(server.send(reader, "PUT", "/v1/settings/defaults", "{}").status())
                .isEqualTo(403);
    }

    @Test
    void a_full_queue_answers_429_and_says_when_to_try_again() {
        server.put("/v1/settings/queues/small", "{\"ceilings\":{\"queueDepth\":2,\"payloadBytes\":50}}");
        String job = "{\"type\":\"a\",\"queue\":\"small\",\"delay\":\"1h\"}";
        Reply full = TestServer.await(() -> {
            Reply reply = server.post("/v1/jobs", job);
            return reply.status() == 202 ? null : reply;
        });
        assertThat(full.status()).isEqualTo(429);
        assertThat(full.raw().headers().firstValue("Retry-After"))
                .hasValueSatisfying(
                        seconds -> assertThat(Integer.parseInt(seconds)).isPositive());
        assertThat(full.raw().body()).contains("queue-full", "Queue 'small' would hold", "must hold at most 2");
        assertThat(server.post("/v1/jobs", "{\"type\":\"a\"}").status()).isEqualTo(202);
        Reply large =
                server.post("/v1/jobs", "{\"type\":\"a\",\"queue\":\"small\",\"payload\":\"" + "x".repeat(60) + "\"}");
        assertThat(large.status()).isEqualTo(400);
        assertThat(large.raw().body()).contains("bytes but in queue 'small' must be at most 50");
    }

    @Test
    void a_full_queue_is_named_as_the_caller_knows_it() {
        String tenant = server.key("tenant", "acme", Scope.ENQUEUE);
        server.put("/v1/settings/queues/acme%2Fmail%2Flate", "{\"ceilings\":{\"payloadBytes\":50}}");
        String job = "{\"type\":\"a\",\"queue\":\"%s\",\"payload\":\"" + "x".repeat(60) + "\"}";
        assertThat(refused(null, job.formatted("acme/mail/late"))).contains("in queue 'acme/mail/late' must");
        assertThat(refused(tenant, job.formatted("mail/late"))).contains("in queue 'mail/late' must");
        assertThat(refused(tenant, "[" + job.formatted("mail/late") + "]")).contains("in queue 'mail/late' must");
    }

    private String refused(@Nullable String key, String job) {
        return TestServer.await(() -> {
            Reply reply = key == null ? server.post("/v1/jobs", job) : server.send(key, "POST", "/v1/jobs", job);
            return reply.status() == 202 ? null : reply.raw().body();
        });
    }

    @Test
    void a_tenant_sees_the_limits_of_groups_by_the_names_of_its_groups() {
        String tenant = server.key("tenant", "acme", Scope.READ);
        server.put("/v1/settings/queues/acme%2Fmail", "{\"perGroup\":{\"acme/gold\":{\"running\":1}}}");
        String limits = TestServer.await(() -> {
            String items = server.send(tenant, "GET", "/v1/queues/mail/limits", null)
                    .json()
                    .at("/items")
                    .toString();
            return items.equals("[]") ? null : items;
        });
        assertThat(limits).contains("\"name\":\"acme/gold\"");
    }

    @Test
    void a_policy_above_a_ceiling_is_warned_about() {
        server.put("/v1/settings/types/bill", "{\"policy\":{\"maxAttempts\":null}}");
        assertThat(server.get("/v1/settings/warnings").json().get("items").isEmpty())
                .isTrue();
        Reply put = server.put("/v1/settings/defaults", "{\"ceilings\":{\"maxAttempts\":7}}");
        assertThat(put.status()).as(put.raw().body()).isEqualTo(200);
        assertThat(server.get("/v1/settings/warnings").raw().body())
                .contains("The ceiling maxAttempts 7 is below the policy of type 'bill', which asks for unlimited");
        TestServer.await(() -> maxAttempts("bill") == 7 ? true : null);
    }

    @Test
    void a_ceiling_below_a_stored_policy_is_refused_and_nothing_is_stored() {
        server.put("/v1/settings/types/bill", "{\"policy\":{\"maxAttempts\":50}}");
        server.put("/v1/policies/gold", "{\"maxAttempts\":30,\"deadline\":\"2d\"}");
        String before = server.get("/v1/settings").raw().body();
        Reply low = server.put("/v1/settings/defaults", "{\"ceilings\":{\"maxAttempts\":20,\"deadline\":\"1d\"}}");
        assertThat(low.status()).isEqualTo(400);
        assertThat(low.json().get("detail").stringValue())
                .contains("policy 'gold'.maxAttempts is 30 but must be at most 20, which is the ceiling")
                .contains("policy 'gold'.deadline is PT48H but must be at most PT24H, which is the ceiling")
                .contains("types/bill: policy.maxAttempts is 50 but must be at most 20, which is the ceiling");
        assertThat(server.get("/v1/settings").raw().body()).isEqualTo(before);
        Reply put = server.put("/v1/settings/defaults", "{\"ceilings\":{\"maxAttempts\":50}}");
        assertThat(put.status()).as(put.raw().body()).isEqualTo(200);
    }

    @Test
    void a_policy_above_a_stored_ceiling_is_refused_and_nothing_is_stored() {
        server.put("/v1/settings/defaults", "{\"ceilings\":{\"maxAttempts\":20}}");
        String tenant = server.key("tenant", "acme", Scope.OPERATE, Scope.READ);
        String job = server.enqueue("{\"type\":\"a\",\"delay\":\"1h\"}");
        String change = "{\"policy\":{\"maxAttempts\":21}}";
        for (Reply high : List.of(
                server.post("/v1/jobs/" + job + "/change", change),
                server.post("/v1/bulks", "{\"action\":\"change\",\"q\":\"state:pending\",\"change\":" + change + "}"),
                server.put("/v1/settings/types/bill", "{\"policy\":{\"maxAttempts\":21}}"),
                server.put("/v1/policies/gold", "{\"maxAttempts\":21}"),
                server.send(tenant, "PUT", "/v1/policies/gold", "{\"maxAttempts\":21}"))) {
            assertThat(high.status()).isEqualTo(400);
            assertThat(high.raw().body()).contains("maxAttempts is 21 but must be at most 20, which is the ceiling");
        }
        assertThat(server.get("/v1/jobs/" + job).json().get("maxAttempts").intValue())
                .isEqualTo(20);
        assertThat(server.get("/v1/settings").json().has("types")).isFalse();
        assertThat(server.get("/v1/policies/gold").status()).isEqualTo(404);
        assertThat(server.send(tenant, "GET", "/v1/policies/gold", null).status())
                .isEqualTo(404);
        assertThat(server.put("/v1/policies/gold", "{\"maxAttempts\":null}").status())
                .as("unlimited obeys the ceiling")
                .isEqualTo(200);
        assertThat(server.get("/v1/settings/warnings").raw().body())
                .contains("below the policy of name 'gold', which asks for unlimited");
    }

    @Test
    void a_budget_of_a_type_is_kept() {
        Reply put = server.put(
                "/v1/settings/types/bill", "{\"budget\":{\"retries\":100,\"per\":\"1h\",\"overflow\":\"fail\"}}");
        assertThat(put.status()).as(put.raw().body()).isEqualTo(200);
        assertThat(put.json().at("/types/bill/budget").toString())
                .isEqualTo("{\"enabled\":true,\"retries\":100,\"per\":\"PT1H\",\"overflow\":\"fail\"}");
        assertThat(server.put("/v1/settings/types/bill", "{\"budget\":{\"retries\":0,\"per\":\"1h\"}}")
                        .raw()
                        .body())
                .contains("types/bill", "retries");
    }

    @Test
    void limits_of_a_queue_bind_remote_workers_and_explain_names_them() {
        Reply put = server.put(
                "/v1/settings/queues/mail",
                "{\"perGroup\":{\"*\":{\"running\":1}},\"perType\":{\"send\":{\"starts\":100,\"per\":\"1s\"}},"
                        + "\"rate\":{\"starts\":50,\"per\":\"1s\"},\"policy\":{\"maxAttempts\":3}}");
        assertThat(put.status()).as(put.raw().body()).isEqualTo(200);
        assertThat(put.json().at("/queues/mail/perGroup").toString()).isEqualTo("{\"*\":{\"running\":1}}");
        assertThat(server.get("/v1/settings/warnings").raw().body())
                .contains("The limit of type 'send' in queue 'mail' allows 100 starts per PT1S");
        TestServer.await(() -> {
            String id = server.enqueue("{\"type\":\"other\",\"queue\":\"mail\"}");
            return server.get("/v1/jobs/" + id).json().get("maxAttempts").intValue() == 3 ? true : null;
        });
        server.enqueue("{\"type\":\"send\",\"queue\":\"mail\",\"group\":\"a\"}");
        String waits = server.enqueue("{\"type\":\"send\",\"queue\":\"mail\",\"group\":\"a\"}");
        String lease = "{\"worker\":\"far\",\"queues\":[\"mail\"],\"types\":[\"send\"],\"max\":10}";
        TestServer.await(
                () -> server.post("/v1/leases", lease).json().at("/items").size() == 1 ? true : null);
        assertThat(server.get("/v1/jobs/" + waits + "/explain").raw().body())
                .contains("FlowLimitReached", "the limit of group a in queue mail is reached: 1 of 1 jobs are running");
        for (String path : List.of("/v1/queues/mail/explain", "/v1/types/send/explain")) {
            assertThat(server.get(path).json().get("reasons").valueStream())
                    .filteredOn(reason -> reason.get("kind").stringValue().equals("FlowLimitReached"))
                    .singleElement()
                    .satisfies(reason -> {
                        assertThat(reason.get("name").stringValue()).isEqualTo("mail");
                        assertThat(reason.get("jobs").intValue()).isEqualTo(1);
                    });
        }
        assertThat(server.get("/v1/queues/mail/limits").json().at("/items").toString())
                .isEqualTo(
                        "[{\"of\":\"QUEUE\",\"name\":\"\",\"running\":null,\"starts\":50,\"per\":\"1s\",\"burst\":50,"
                                + "\"inOrder\":false,\"from\":\"SETTINGS\",\"workers\":0},"
                                + "{\"of\":\"GROUP\",\"name\":\"*\",\"running\":1,\"starts\":null,\"per\":null,\"burst\":null,"
                                + "\"inOrder\":false,\"from\":\"SETTINGS\",\"workers\":0},"
                                + "{\"of\":\"TYPE\",\"name\":\"send\",\"running\":null,\"starts\":100,\"per\":\"1s\",\"burst\":100,"
                                + "\"inOrder\":false,\"from\":\"SETTINGS\",\"workers\":0}]");
        assertThat(server.put("/v1/settings/queues/mail", "{\"weights\":{\"a\":0}}")
                        .raw()
                        .body())
                .contains("queues/mail", "weight of group 'a' must be 1 to 1000");
    }
}
