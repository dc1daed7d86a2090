// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.retry.RetryPolicy;
import io.reprise.server.api.TestServer.Reply;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class JobApiTest {

    private final TestServer server = new TestServer();

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void a_job_is_enqueued_and_shown() {
        Reply enqueued = server.post("/v1/jobs", """
                {"type":"mail","queue":"out","payload":{"to":"ada","n":1.50},"tags":["a"],"priority":3,"maxRetries":3}
                """);
        assertThat(enqueued.status()).isEqualTo(202);
        String id = enqueued.text("id");
        assertThat(enqueued.raw().headers().firstValue("Location")).contains("/v1/jobs/" + id);
        Reply shown = server.get("/v1/jobs/" + id);
        assertThat(shown.status()).isEqualTo(200);
        JsonNode job = shown.json();
        assertThat(job.get("state").stringValue()).isEqualTo("PENDING");
        assertThat(job.get("waitReason").stringValue()).isEqualTo("NEW");
        assertThat(job.get("queue").stringValue()).isEqualTo("out");
        assertThat(job.get("payload").toString()).isEqualTo("{\"to\":\"ada\",\"n\":1.50}");
        assertThat(job.get("attempts").intValue()).isZero();
        assertThat(job.get("maxAttempts").intValue()).isEqualTo(4);
        assertThat(job.get("maxRetries").intValue()).isEqualTo(3);
        assertThat(job.get("isRetryable").booleanValue()).isTrue();
        assertThat(job.get("history").isEmpty()).isTrue();
    }

    @Test
    void half_of_a_surrogate_pair_is_refused_in_every_key_and_name() {
        for (String field :
                List.of("type", "queue", "group", "resource", "key", "idempotencyKey", "tags/0", "needs/0")) {
            String value = field.endsWith("/0") ? "[\"a\\ud83d\"]" : "\"a\\ud83d\"";
            String member = "\"" + field.replace("/0", "") + "\":" + value;
            String type = field.equals("type") ? "" : ",\"type\":\"a\"";
            Reply refused = server.post("/v1/jobs", "{" + member + type + "}");
            assertThat(refused.status()).as(field).isEqualTo(400);
            assertThat(refused.json().at("/errors/0/field").stringValue()).isEqualTo("/" + field);
        }
        assertThat(server.post("/v1/leases", "{\"worker\":\"a\\ud83d\"}")
                        .json()
                        .at("/errors/0/field")
                        .stringValue())
                .isEqualTo("/worker");
    }

    @Test
    void an_array_is_enqueued_as_a_whole_or_not_at_all() {
        Reply two = server.post("/v1/jobs", "[{\"type\":\"a\"},{\"type\":\"b\"}]");
        assertThat(two.status()).isEqualTo(202);
        assertThat(two.json()).hasSize(2);
        Reply bad = server.post("/v1/jobs", """
                [{"type":"a"},{"type":"b","priority":99,"delay":"soon","colour":"red"},{"queue":"x y"}]
                """);
        assertThat(bad.status()).isEqualTo(400);
        assertThat(bad.raw().headers().firstValue("Content-Type")).contains("application/problem+json");
        assertThat(bad.problem()).isEqualTo("invalid-request");
        assertThat(bad.json()
                        .get("errors")
                        .valueStream()
                        .map(error -> error.get("field").stringValue()))
                .containsExactlyInAnyOrder("/1/priority", "/1/delay", "/1/colour", "/2/type", "/2/queue");
        assertThat(server.get("/v1/jobs").json().get("items")).hasSize(2);
    }

    @Test
    void errors_that_only_the_core_knows_are_named_by_field_too() {
        Reply bad = server.post("/v1/jobs", """
                {"type":"a","delay":"1s","dueAt":"2030-01-01T00:00:00Z","keyRule":"KEEP","policy":{"base":"wrong"}}
                """);
        assertThat(bad.status()).isEqualTo(400);
        assertThat(bad.json()
                        .get("errors")
                        .valueStream()
                        .map(error -> error.get("field").stringValue()))
                .containsExactlyInAnyOrder("/dueAt", "/keyRule", "/policy/base");
    }

    @Test
    void a_body_that_is_none_is_called_the_body() {
        assertThat(server.post("/v1/jobs", "{").text("detail")).isEqualTo("body: is not JSON at line 1, column 2");
        assertThat(server.post("/v1/jobs", "[]").text("detail")).isEqualTo("body: must have 1 to 1000 items, not 0");
        assertThat(server.post("/v1/jobs", "7").text("detail")).isEqualTo("body: must be an object");
    }

    @Test
    void a_call_with_members_that_are_not_known_is_refused() {
        Reply bad = server.post(
                "/v1/jobs", "{\"type\":\"http\",\"payload\":{\"uri\":\"http://127.0.0.1/\",\"header\":{}}}");
        assertThat(bad.json()
                        .get("errors")
                        .valueStream()
                        .map(e -> e.get("field").stringValue()))
                .containsExactlyInAnyOrder("/payload/url", "/payload/uri", "/payload/header");
        assertThat(bad.json().get("errors").get(0).get("message").stringValue()).isEqualTo("is missing");
    }

    @Test
    void the_policy_of_a_job_leaves_out_the_default_rules() {
        String usual = server.enqueue("{\"type\":\"a\",\"policy\":{\"base\":\"5s\"}}");
        String body = server.get("/v1/jobs/" + usual).json().get("policy").toString();
        assertThat(body).contains("\"base\":\"PT5S\"").doesNotContain("rules").hasSizeLessThan(600);

        String own = server.enqueue("""
                {"type":"a","policy":{"rules":[{"name":"card","class":"PERMANENT","codes":["card_declined"]}]}}
                """);
        JsonNode shown = server.get("/v1/jobs/" + own).json().get("policy");
        assertThat(shown.get("rules").valueStream().map(rule -> rule.get("name").stringValue()))
                .containsExactly("card");
        Job job = server.store.find(new JobId(Long.parseLong(own))).orElseThrow();
        assertThat(RetryPolicy.fromJson(shown.toString()).complete())
                .isEqualTo(job.policy().complete());
    }

    @Test
    void policies_are_long_and_shown_with_one_job_only() {
        String id = server.enqueue("{\"type\":\"a\",\"policy\":\"conduit\"}");
        assertThat(server.get("/v1/jobs/" + id).json().get("policy").get("base").stringValue())
                .isEqualTo("PT30S");
        assertThat(server.get("/v1/jobs").json().get("items").get(0).has("policy"))
                .isFalse();
    }

    @Test
    void the_same_idempotency_key_enqueues_once() {
        String body = "{\"type\":\"mail\"}";
        Reply first = server.send(server.admin, "POST", "/v1/jobs", body, "Idempotency-Key", "k1");
        Reply again = server.send(server.admin, "POST", "/v1/jobs", body, "Idempotency-Key", "k1");
        assertThat(again.text("id")).isEqualTo(first.text("id"));
        assertThat(again.json().get("created").booleanValue()).isFalse();
        Reply other = server.send(server.admin, "POST", "/v1/jobs", "{\"type\":\"x\"}", "Idempotency-Key", "k1");
        assertThat(other.status()).isEqualTo(422);
        assertThat(other.problem()).isEqualTo("idempotency-key-reused");
    }

    private Reply keyed(String key, String body) {
        return server.send(server.admin, "POST", "/v1/jobs", body, "Idempotency-Key", key);
    }

    @Test
    void an_idempotency_key_is_for_one_request_with_all_that_is_in_it() {
        String body = "{\"type\":\"a\",\"payload\":{\"x\":1,\"y\":[2]},\"delay\":\"1h\",\"tags\":[\"t\"]}";
        String id = keyed("k", body).text("id");
        assertThat(keyed("k", "{\"tags\":[\"t\"],\"delay\":\"1h\",\"payload\":{\"y\":[2],\"x\":1},\"type\":\"a\"}")
                        .text("id"))
                .as("the order of members means nothing")
                .isEqualTo(id);
        for (String other : List.of(
                body.replace("\"x\":1", "\"x\":2"),
                body.replace("1h", "2h"),
                body.replace("[\"t\"]", "[\"u\"]"),
                body.replace("\"delay\"", "\"maxRetries\":1,\"delay\""))) {
            assertThat(keyed("k", other).problem()).as(other).isEqualTo("idempotency-key-reused");
        }
        assertThat(server.get("/v1/jobs").json().get("items")).hasSize(1);
    }

    @Test
    void an_array_under_a_used_key_stores_nothing() {
        String one = "{\"type\":\"a\"}";
        Reply first = keyed("k", "[" + one + "]");
        assertThat(first.status()).isEqualTo(202);
        assertThat(server.get(first.raw().headers().firstValue("Location").orElseThrow())
                        .json()
                        .get("items"))
                .hasSize(1);
        assertThat(keyed("k", "[" + one + "," + one + "]").problem()).isEqualTo("idempotency-key-reused");
        assertThat(keyed("k", one).problem()).as("one is not an array").isEqualTo("idempotency-key-reused");
        assertThat(server.get("/v1/jobs").json().get("items")).hasSize(1);
        assertThat(keyed("single", one).status()).isEqualTo(202);
        assertThat(keyed("single", "[" + one + "]").problem()).isEqualTo("idempotency-key-reused");
        assertThat(server.get("/v1/jobs").json().get("items")).hasSize(2);
    }

    @Test
    void tags_leave_room_for_the_key() {
        String tags = IntStream.range(0, 10).mapToObj(i -> "\"t" + i + "\"").collect(Collectors.joining(","));
        String body = "{\"type\":\"a\",\"tags\":[" + tags + "]}";
        assertThat(keyed("k", body).problem()).isEqualTo("invalid-request");
        assertThat(server.post("/v1/jobs", body).status()).isEqualTo(202);
    }

    @Test
    void of_requests_at_once_under_one_key_one_enqueues() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(8);
        try {
            List<Future<Reply>> same = new ArrayList<>();
            List<Future<Reply>> different = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                String body = "{\"type\":\"b\",\"payload\":" + i + "}";
                same.add(threads.submit(() -> keyed("same", "{\"type\":\"a\"}")));
                different.add(threads.submit(() -> keyed("different", body)));
            }
            Set<String> ids = new HashSet<>();
            for (Future<Reply> reply : same) {
                ids.add(reply.get().text("id"));
            }
            assertThat(ids).hasSize(1);
            int accepted = 0;
            for (Future<Reply> reply : different) {
                accepted += reply.get().status() == 202 ? 1 : 0;
                assertThat(reply.get().status()).isIn(202, 422);
            }
            assertThat(accepted).isEqualTo(1);
            assertThat(server.get("/v1/jobs").json().get("items")).hasSize(2);
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void jobs_are_listed_by_what_they_are_page_by_page() {
        for (int i = 0; i < 5; i++) {
            server.enqueue("{\"type\":\"t" + i % 2 + "\",\"queue\":\"q\",\"tags\":[\"x\"],\"resource\":\"r\"}");
        }
        Reply first = server.get("/v1/jobs?queue=q&limit=3&tag=x&resource=r&state=pending");
        assertThat(first.json().get("items")).hasSize(3);
        Reply second = server.get("/v1/jobs?queue=q&limit=3&cursor=" + first.text("next"));
        assertThat(second.json().get("items")).hasSize(2);
        assertThat(second.json().get("next").isNull()).isTrue();
        assertThat(server.get("/v1/jobs?type=t1").json().get("items")).hasSize(2);
        assertThat(server.get("/v1/jobs?state=SUCCEEDED,FAILED").json().get("items"))
                .isEmpty();
        assertThat(server.get("/v1/jobs?since=2999-01-01T00:00:00Z").json().get("items"))
                .isEmpty();
        assertThat(server.get("/v1/jobs?cursor=x").problem()).isEqualTo("invalid-request");
        assertThat(server.get("/v1/jobs?state=gone").problem()).isEqualTo("invalid-request");
        assertThat(server.get("/v1/jobs?colour=red").problem()).isEqualTo("invalid-request");
    }

    @Test
    void an_unchanged_job_need_not_be_sent_again() {
        String id = server.enqueue("{\"type\":\"mail\"}");
        String tag =
                server.get("/v1/jobs/" + id).raw().headers().firstValue("ETag").orElseThrow();
        assertThat(server.send(server.admin, "GET", "/v1/jobs/" + id, null, "If-None-Match", tag)
                        .status())
                .isEqualTo(304);
    }

    @Test
    void a_pending_job_is_cancelled_and_one_that_ended_is_not() {
        String id = server.enqueue("{\"type\":\"mail\",\"delay\":\"1h\"}");
        Reply cancelled = server.post("/v1/jobs/" + id + "/cancel", "{\"why\":\"no more\"}");
        assertThat(cancelled.text("state")).isEqualTo("CANCELLED");
        assertThat(server.post("/v1/jobs/" + id + "/cancel", "{}").problem()).isEqualTo("invalid-state");
        JsonNode audit = server.get("/v1/audit?job=" + id).json().get("items").get(0);
        assertThat(audit.get("action").stringValue()).isEqualTo("cancel");
        assertThat(audit.get("by").stringValue()).startsWith("key admin (");
        assertThat(audit.get("why").stringValue()).isEqualTo("no more");
    }

    @Test
    void a_dead_letter_is_retried_only_as_far_as_it_may() {
        String id = server.deadLetter("mail", "default", "Broken");
        assertThat(server.post("/v1/jobs/" + id + "/retry", "{}").problem()).isEqualTo("not-retryable");
        Reply forced = server.post("/v1/jobs/" + id + "/retry", "{\"force\":true}");
        assertThat(forced.status()).isEqualTo(200);
        assertThat(forced.text("state")).isEqualTo("PENDING");
        assertThat(forced.text("waitReason")).isEqualTo("MANUAL");
    }

    @Test
    void a_job_explains_itself() {
        String id = server.enqueue("{\"type\":\"mail\",\"delay\":\"1h\"}");
        Reply why = server.get("/v1/jobs/" + id + "/explain");
        assertThat(why.text("sentence")).contains("is due in");
        assertThat(why.json().get("reasons").get(0).get("kind").stringValue()).isEqualTo("NotDue");
    }

    @Test
    void a_result_is_waited_for() {
        String id = server.enqueue("{\"type\":\"sum\"}");
        Reply early = server.get("/v1/jobs/" + id + "/result");
        assertThat(early.status()).isEqualTo(202);
        JsonNode lease = server.lease("");
        var waiting = server.client()
                .sendAsync(
                        HttpRequest.newBuilder(URI.create(server.server.url() + "/v1/jobs/" + id + "/result?wait=30s"))
                                .timeout(Duration.ofMinutes(3))
                                .header("Authorization", "Bearer " + server.admin)
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
        server.post("/v1/leases/" + lease.get("token").stringValue() + "/complete", "{\"result\":{\"sum\":3}}");
        var done = waiting.join();
        assertThat(done.statusCode()).isEqualTo(200);
        assertThat(done.body()).contains("\"result\":{\"sum\":3}").contains("SUCCEEDED");
        assertThat(server.get("/v1/jobs/" + id + "/result?wait=2m").problem()).isEqualTo("invalid-request");
    }

    @Test
    void what_is_not_there_is_not_found() {
        for (String path : List.of("/v1/jobs/99", "/v1/jobs/99/explain", "/v1/nothing", "/v1/queues/none")) {
            Reply reply = server.get(path);
            assertThat(reply.status()).as(path).isEqualTo(404);
            assertThat(reply.problem()).isEqualTo("not-found");
        }
        assertThat(server.get("/v1/jobs/99").text("instance"))
                .startsWith("urn:uuid:")
                .isNotEqualTo(server.get("/v1/jobs/99").text("instance"));
        Reply method = server.delete("/v1/jobs");
        assertThat(method.status()).isEqualTo(405);
        assertThat(method.raw().headers().firstValue("Allow")).contains("GET, POST");
    }

    @Test
    void an_array_under_a_key_that_meets_a_held_unique_key_is_answered_like_one_without() {
        String holder = server.enqueue("{\"type\":\"a\",\"key\":\"k\",\"delay\":\"1h\"}");
        String array =
                "[{\"type\":\"b\",\"delay\":\"1h\"},{\"type\":\"b\",\"key\":\"k\"},{\"type\":\"b\",\"delay\":\"1h\"}]";
        Reply first = keyed("request", array);
        assertThat(first.status()).isEqualTo(202);
        assertThat(first.json().at("/1/id").stringValue()).isEqualTo(holder);
        assertThat(first.json().at("/1/created").booleanValue()).isFalse();
        server.post("/v1/jobs/" + holder + "/cancel", "{}");
        Reply again = keyed("request", array);
        assertThat(again.status()).isEqualTo(202);
        for (int i = 0; i < 3; i++) {
            assertThat(again.json().get(i).get("id"))
                    .isEqualTo(first.json().get(i).get("id"));
        }
        assertThat(server.get("/v1/jobs").json().get("items")).hasSize(3);
    }

    @Test
    void an_array_that_is_refused_leaves_nothing_behind() {
        assertThat(keyed("request", "[{\"type\":\"a\"}]").status()).isEqualTo(202);
        for (String other : List.of("[{\"type\":\"a\"},{\"type\":\"b\"}]", "{\"type\":\"a\"}", "[{\"type\":\"b\"}]")) {
            Reply refused = keyed("request", other);
            assertThat(refused.status()).as(other).isEqualTo(422);
            assertThat(refused.problem()).isEqualTo("idempotency-key-reused");
        }
        assertThat(server.get("/v1/jobs").json().get("items")).hasSize(1);
    }

    @Test
    void a_request_is_repeated_word_for_word_after_its_job_was_replaced() {
        String body = "{\"type\":\"a\",\"key\":\"k\",\"keyRule\":\"REPLACE\",\"delay\":\"1h\",\"payload\":1}";
        String first = keyed("one", body).text("id");
        assertThat(keyed("two", body.replace(":1}", ":2}")).text("id")).isEqualTo(first);
        Reply again = keyed("one", body);
        assertThat(again.status()).isEqualTo(202);
        assertThat(again.text("id")).isEqualTo(first);
        assertThat(server.get("/v1/jobs/" + first).json().get("payload").intValue())
                .as("a repetition replaces nothing")
                .isEqualTo(2);
    }

    @Test
    void the_trace_of_a_request_is_a_tag_of_its_jobs_and_a_wrong_one_is_ignored() {
        String trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        Reply traced = server.send(
                server.admin, "POST", "/v1/jobs", "{\"type\":\"a\",\"tags\":[\"own\"]}", "traceparent", trace);
        assertThat(server.get("/v1/jobs/" + traced.text("id"))
                        .json()
                        .get("tags")
                        .toString())
                .contains("\"own\"")
                .contains("\"trace:" + trace + "\"");
        Reply wrong = server.send(server.admin, "POST", "/v1/jobs", "{\"type\":\"a\"}", "traceparent", "00-nonsense");
        assertThat(wrong.status()).isEqualTo(202);
        assertThat(server.get("/v1/jobs/" + wrong.text("id")).json().get("tags"))
                .isEmpty();
    }

    private String waiting(String more) {
        return server.post("/v1/jobs", "{\"type\":\"bill\",\"delay\":\"1h\"" + more + "}")
                .text("id");
    }

    private Reply change(String id, String json) {
        return server.send(server.admin, "POST", "/v1/jobs/" + id + "/change", json);
    }

    @Test
    void a_waiting_job_is_changed() {
        String id = waiting("");
        String at = Instant.now()
                .plus(Duration.ofHours(5))
                .truncatedTo(ChronoUnit.MILLIS)
                .toString();
        Reply changed = change(
                id,
                "{\"dueAt\":\"" + at + "\",\"priority\":4,\"queue\":\"late\",\"policy\":\"omniq\","
                        + "\"payload\":{\"n\":2},\"why\":\"by hand\"}");
        assertThat(changed.status()).as(changed.raw().body()).isEqualTo(200);
        JsonNode job = changed.json();
        assertThat(Instant.parse(job.get("dueAt").stringValue())).isEqualTo(at);
        assertThat(job.get("priority").intValue()).isEqualTo(4);
        assertThat(job.get("queue").stringValue()).isEqualTo("late");
        assertThat(job.get("maxRetries").intValue()).isEqualTo(3);
        assertThat(job.get("payload").toString()).isEqualTo("{\"n\":2}");
        assertThat(server.get("/v1/audit?job=" + id).raw().body()).contains("by hand", "to queue late");
    }

    @Test
    void a_change_that_cannot_be_is_refused_with_field_value_and_bounds() {
        String id = waiting("");
        Reply past = change(id, "{\"dueAt\":\"2020-01-01T00:00:00Z\"}");
        assertThat(past.status()).isEqualTo(400);
        assertThat(past.raw().body()).contains("dueAt is 2020-01-01T00:00:00Z but must be", "before its deadline");
        Reply late = change(id, "{\"dueAt\":\"2099-01-01T00:00:00Z\"}");
        assertThat(late.status()).isEqualTo(400);
        assertThat(late.raw().body()).contains("2099-01-01T00:00:00Z", "before its deadline");
        assertThat(change(id, "{}").raw().body()).contains("must have dueAt, priority, queue, policy or payload");
        assertThat(change(id, "{\"priority\":10}").status()).isEqualTo(400);
        assertThat(change(id, "{\"policy\":\"nope\"}").raw().body()).contains("/policy", "no stored policy 'nope'");
        assertThat(change("987654321", "{\"priority\":1}").status()).isEqualTo(404);
        assertThat(server.get("/v1/jobs/" + id).json().get("priority").intValue())
                .isZero();
        server.send(server.admin, "POST", "/v1/jobs/" + id + "/cancel", "{}");
        assertThat(change(id, "{\"priority\":1}").status()).isEqualTo(409);
    }

    @Test
    void a_job_that_runs_is_not_changed() {
        String id = server.post("/v1/jobs", "{\"type\":\"bill\",\"queue\":\"remote\"}")
                .text("id");
        Reply leased = server.send(
                server.admin,
                "POST",
                "/v1/leases",
                "{\"worker\":\"w\",\"queues\":[\"remote\"],\"max\":1,\"types\":[\"bill\"]}");
        assertThat(leased.raw().body()).contains(id);
        Reply refused = change(id, "{\"priority\":1}");
        assertThat(refused.status()).isEqualTo(409);
        assertThat(refused.raw().body()).contains("runs now");
    }

    @Test
    void a_job_is_retried_at_a_time() {
        String id = waiting("");
        String at = Instant.now()
                .plus(Duration.ofDays(60))
                .truncatedTo(ChronoUnit.MILLIS)
                .toString();
        Reply retried = server.send(server.admin, "POST", "/v1/jobs/" + id + "/retry", "{\"at\":\"" + at + "\"}");
        assertThat(retried.status()).as(retried.raw().body()).isEqualTo(200);
        assertThat(Instant.parse(retried.json().get("dueAt").stringValue())).isEqualTo(at);
        Reply past =
                server.send(server.admin, "POST", "/v1/jobs/" + id + "/retry", "{\"at\":\"2020-01-01T00:00:00Z\"}");
        assertThat(past.status()).isEqualTo(400);
        assertThat(past.raw().body()).contains("at is 2020-01-01T00:00:00Z but must be");
        Reply both = server.send(
                server.admin, "POST", "/v1/jobs/" + id + "/retry", "{\"at\":\"" + at + "\",\"backoff\":true}");
        assertThat(both.status()).isEqualTo(400);
    }

    @Test
    void the_error_of_a_name_says_what_a_name_is() {
        Reply reply = server.post("/v1/jobs", "{\"type\":\"a b\",\"queue\":\"a b\",\"group\":\"a b\"}");
        assertThat(reply.status()).isEqualTo(400);
        reply.json()
                .get("errors")
                .forEach(error -> assertThat(error.get("message").stringValue())
                        .isEqualTo("must be 1 to 100 letters, digits or _ . : / @ -"));
        assertThat(reply.json().get("errors")).hasSize(3);
    }
}
