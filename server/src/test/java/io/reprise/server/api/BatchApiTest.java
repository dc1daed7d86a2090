// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.server.api.TestServer.Reply;
import io.reprise.server.http.Scope;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class BatchApiTest {

    private static final String TWO = "[{\"type\":\"part\"},{\"type\":\"part\"}]";
    private static final String FOLLOWERS = "{\"onSuccess\":{\"type\":\"report\"},\"onEnd\":{\"type\":\"clean\"}}";

    private final TestServer server = new TestServer();

    @AfterEach
    void stop() {
        server.close();
    }

    private void run(String type, String verb, String body) {
        JsonNode leases = server.post("/v1/leases", "{\"worker\":\"w\",\"wait\":\"30s\",\"types\":[\"" + type + "\"]}")
                .json();
        String token = leases.at("/items/0/token").stringValue();
        assertThat(server.post("/v1/leases/" + token + "/" + verb, body).status())
                .isEqualTo(200);
    }

    @Test
    void a_batch_goes_from_its_members_to_its_end() {
        JsonNode created = server.put("/v1/batches/import-7", FOLLOWERS).json();
        assertThat(created.path("total").intValue()).isZero();
        Reply added = server.post("/v1/batches/import-7/jobs", TWO);
        assertThat(added.status()).isEqualTo(202);
        String first = added.json().at("/ids/0").stringValue();
        assertThat(server.get("/v1/jobs/" + first).text("batch")).isEqualTo("import-7");
        assertThat(server.get("/v1/jobs/" + created.path("onEnd").stringValue()).text("waitReason"))
                .isEqualTo("BATCH");
        JsonNode closed = server.post("/v1/batches/import-7/close", "{\"why\":\"the producer died\"}")
                .json();
        assertThat(server.get("/v1/audit").raw().body()).contains("close-batch", "the producer died");
        assertThat(closed.path("open").intValue()).isEqualTo(2);
        run("part", "complete", "{}");
        run("part", "fail", "{\"type\":\"Broken\",\"class\":\"PERMANENT\"}");
        JsonNode ended = server.get("/v1/batches/import-7").json();
        assertThat(ended.path("succeeded").intValue()).isOne();
        assertThat(ended.path("dead").intValue()).isOne();
        assertThat(ended.path("percent").intValue()).isEqualTo(100);
        assertThat(ended.path("endedAt").isString()).isTrue();
        assertThat(ended.path("succeededAt").isNull()).isTrue();
        assertThat(server.get("/v1/jobs?q=batch:import-7").json().path("items")).hasSize(2);
        assertThat(server.get("/v1/jobs?q=batch:import-7%20state:failed").json().path("items"))
                .hasSize(1);
        assertThat(server.get("/v1/jobs?q=batch:import").json().path("items")).isEmpty();
        assertThat(server.get("/v1/jobs?q=-batch:import-7").status()).isEqualTo(400);
        assertThat(server.post(
                                "/v1/bulks",
                                "{\"action\":\"replay\",\"q\":\"state:failed batch:import-7\",\"dryRun\":true}")
                        .json()
                        .path("matched")
                        .intValue())
                .isOne();
        run("clean", "complete", "{}");
        String watcher = server.key("watcher", null, Scope.READ, Scope.ENQUEUE);
        assertThat(server.send(watcher, "POST", "/v1/batches/import-7/finish", "{}")
                        .status())
                .isEqualTo(403);
        JsonNode finished = server.post("/v1/batches/import-7/finish", "{\"why\":\"part 2 is not needed\"}")
                .json();
        assertThat(finished.path("succeededAt").isString()).isTrue();
        assertThat(server.get("/v1/audit").raw().body()).contains("finish-batch", "part 2 is not needed");
        run("report", "complete", "{}");
        Reply twice = server.post("/v1/batches/import-7/finish", "{}");
        assertThat(twice.status()).isEqualTo(409);
        assertThat(twice.raw().body()).contains("Batch 'import-7' has succeeded at");
        assertThat(server.get("/v1/batches?prefix=imp")
                        .json()
                        .at("/items/0/name")
                        .stringValue())
                .isEqualTo("import-7");
    }

    @Test
    void bad_use_is_refused_with_a_sentence() {
        assertThat(server.get("/v1/batches/nothing").status()).isEqualTo(404);
        assertThat(server.post("/v1/batches/nothing/jobs", TWO).status()).isEqualTo(404);
        server.put("/v1/batches/b", "{}");
        server.post("/v1/batches/b/close", "{}");
        Reply twice = server.post("/v1/batches/b/close", "{}");
        assertThat(twice.status()).isEqualTo(409);
        assertThat(twice.raw().body()).contains("'b' was closed before, at ");
        Reply late = server.post("/v1/batches/b/jobs", TWO);
        assertThat(late.status()).isEqualTo(409);
        assertThat(late.raw().body()).contains("'b' is closed");
        assertThat(server.put("/v1/batches/a%0Ab", "{}").status()).isBetween(400, 499);
        assertThat(server.put("/v1/batches/c", "{\"onEnd\":{\"type\":\"x\",\"delay\":\"1h\"}}")
                        .status())
                .isEqualTo(400);
        assertThat(server.get("/v1/jobs").json().path("items")).isEmpty();
    }

    private Reply keyed(String path, String body) {
        return server.send(server.admin, "POST", path, body, "Idempotency-Key", "k");
    }

    @Test
    void a_request_under_a_key_adds_its_members_once() {
        server.put("/v1/batches/b", "{}");
        Reply first = keyed("/v1/batches/b/jobs", TWO);
        Reply again = keyed("/v1/batches/b/jobs", TWO);
        assertThat(again.status()).isEqualTo(202);
        assertThat(again.json().path("ids")).isEqualTo(first.json().path("ids"));
        assertThat(again.json().at("/batch/total").intValue()).isEqualTo(2);
        Reply other = keyed("/v1/batches/b/jobs", "{\"type\":\"part\"}");
        assertThat(other.status()).isEqualTo(422);
        server.put("/v1/batches/c", "{}");
        assertThat(keyed("/v1/batches/c/jobs", TWO).status()).isEqualTo(422);
        assertThat(keyed("/v1/jobs", TWO).status()).isEqualTo(422);
        assertThat(server.post("/v1/batches/b/jobs", "{\"type\":\"part\"}")
                        .json()
                        .at("/batch/total")
                        .intValue())
                .isEqualTo(3);
        // A caller that lost the answer gets it, though the batch was closed meanwhile.
        server.post("/v1/batches/b/close", "{}");
        Reply late = keyed("/v1/batches/b/jobs", TWO);
        assertThat(late.status()).as(late.raw().body()).isEqualTo(202);
        assertThat(late.json().path("ids")).isEqualTo(first.json().path("ids"));
        assertThat(late.json().at("/batch/total").intValue()).isEqualTo(3);
        assertThat(server.post("/v1/batches/b/jobs", TWO).status()).isEqualTo(409);
    }

    @Test
    void a_job_that_waits_for_a_batch_is_not_started_by_hand() {
        JsonNode created = server.put("/v1/batches/b", FOLLOWERS).json();
        String end = created.path("onEnd").stringValue();
        Reply retried = server.post("/v1/jobs/" + end + "/retry", "{\"force\":true}");
        assertThat(retried.status()).isEqualTo(409);
        assertThat(retried.raw().body()).contains("Job " + end + " waits for the end or the success of a batch");
        Reply moved = server.post("/v1/jobs/" + end + "/change", "{\"dueAt\":\"2100-01-01T00:00:00Z\"}");
        assertThat(moved.status()).isEqualTo(409);
        assertThat(moved.raw().body()).contains("waits for the end or the success of a batch");
        Reply keyed = server.put("/v1/batches/c", "{\"onEnd\":{\"type\":\"x\",\"key\":\"k\",\"keyRule\":\"REPLACE\"}}");
        assertThat(keyed.status()).isEqualTo(400);
        assertThat(keyed.raw().body()).contains("under KEEP or REJECT only");
        assertThat(server.get("/v1/batches/c").status()).isEqualTo(404);
    }

    @Test
    void a_batch_belongs_to_its_tenant() {
        String acme = server.key("acme", "acme", Scope.READ, Scope.ENQUEUE, Scope.WORK);
        String evil = server.key("evil", "evil", Scope.READ, Scope.ENQUEUE, Scope.WORK);
        server.send(acme, "PUT", "/v1/batches/import", FOLLOWERS);
        server.send(acme, "POST", "/v1/batches/import/jobs", TWO);
        assertThat(server.send(evil, "GET", "/v1/batches/import", null).status())
                .isEqualTo(404);
        assertThat(server.send(evil, "POST", "/v1/batches/import/jobs", TWO).status())
                .isEqualTo(404);
        assertThat(server.send(evil, "POST", "/v1/batches/import/close", "{}").status())
                .isEqualTo(404);
        assertThat(server.send(evil, "GET", "/v1/batches", null).json().path("items"))
                .isEmpty();
        server.send(evil, "PUT", "/v1/batches/import", "{}");
        assertThat(server.send(acme, "GET", "/v1/batches/import", null)
                        .json()
                        .path("total")
                        .intValue())
                .isEqualTo(2);
        server.send(acme, "POST", "/v1/batches/import/close", "{}");
        Reply twice = server.send(acme, "POST", "/v1/batches/import/close", "{}");
        assertThat(twice.raw().body()).contains("'import' was closed before").doesNotContain("acme/import");
        assertThat(server.get("/v1/batches?limit=1").json().path("next").isString())
                .isTrue();
        assertThat(server.send(acme, "GET", "/v1/batches", null)
                        .json()
                        .at("/items/0/name")
                        .stringValue())
                .isEqualTo("import");
    }

    private String lease(String key) {
        return server.send(key, "POST", "/v1/leases", "{\"wait\":\"30s\",\"types\":[\"part\"]}")
                .json()
                .at("/items/0/token")
                .stringValue();
    }

    @Test
    void a_running_member_adds_others_to_its_closed_batch() {
        String acme = server.key("acme", "acme", Scope.READ, Scope.ENQUEUE, Scope.WORK);
        server.send(acme, "PUT", "/v1/batches/import", FOLLOWERS);
        server.send(acme, "POST", "/v1/batches/import/jobs", "{\"type\":\"part\"}");
        server.send(acme, "POST", "/v1/batches/import/close", "{}");
        String add = "/v1/leases/" + lease(acme) + "/batch";
        String more =
                "{\"jobs\":[{\"type\":\"part\",\"idempotencyKey\":\"a\"},{\"type\":\"part\",\"idempotencyKey\":\"b\"}]}";
        Reply added = server.send(acme, "POST", add, more);
        assertThat(added.status()).as(added.raw().body()).isEqualTo(202);
        assertThat(added.json().path("ids")).hasSize(2);
        assertThat(server.send(acme, "POST", add, more).json()).isEqualTo(added.json());
        String sibling = added.json().at("/ids/0").stringValue();
        assertThat(server.send(acme, "GET", "/v1/jobs/" + sibling, null).text("batch"))
                .isEqualTo("import");
        Reply batch = server.send(acme, "GET", "/v1/batches/import", null);
        assertThat(batch.json().path("total").intValue()).isEqualTo(3);
        assertThat(batch.json().path("endedAt").isNull()).isTrue();
        Reply replaced = server.send(
                acme, "POST", add, "{\"jobs\":[{\"type\":\"part\",\"key\":\"k\",\"keyRule\":\"REPLACE\"}]}");
        assertThat(replaced.status()).isEqualTo(400);
        assertThat(replaced.raw().body()).contains("batch 'import' may hold").doesNotContain("acme/");
        Reply untyped = server.send(acme, "POST", add, "{\"jobs\":[{\"type\":\"part\",\"keyRule\":\"KEEP\"}]}");
        assertThat(untyped.raw().body()).contains("/jobs/0/keyRule");
    }

    @Test
    void a_member_adds_nothing_without_its_lease_its_batch_or_the_scope() {
        String acme = server.key("acme", "acme", Scope.READ, Scope.ENQUEUE, Scope.WORK);
        String worker = server.key("worker", "acme", Scope.WORK);
        server.send(acme, "POST", "/v1/jobs", "{\"type\":\"part\"}");
        String alone = "/v1/leases/" + lease(worker);
        String more = "{\"jobs\":[{\"type\":\"more\"}]}";
        assertThat(server.send(worker, "POST", alone + "/batch", more).status()).isEqualTo(403);
        Reply none = server.send(acme, "POST", alone + "/batch", more);
        assertThat(none.status()).isEqualTo(409);
        assertThat(none.raw().body()).contains("is in no batch");
        server.send(worker, "POST", alone + "/complete", "{}");
        Reply late = server.send(acme, "POST", alone + "/batch", more);
        assertThat(late.status()).isEqualTo(409);
        assertThat(late.raw().body()).contains("stale-lease");
        assertThat(server.get("/v1/jobs?type=more").json().path("items")).isEmpty();
    }
}
