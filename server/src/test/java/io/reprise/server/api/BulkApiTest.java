// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.server.api.TestServer.Reply;
import io.reprise.server.net.HttpSettings;
import io.reprise.store.Document;
import io.reprise.store.JobStore;
import io.reprise.store.StoreException;
import io.reprise.testing.InMemoryJobStore;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
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

    /** A store in which two bulks have both seen that there is no other, and then neither ends. */
    private static JobStore meeting(CyclicBarrier looked, CountDownLatch end) {
        JobStore store = new InMemoryJobStore();
        return (JobStore) Proxy.newProxyInstance(
                JobStore.class.getClassLoader(), new Class<?>[] {JobStore.class}, (proxy, method, args) -> {
                    if (method.getName().equals("putDocument") && args.length == 3 && args[1].equals("start-bulk")) {
                        looked.await(1, TimeUnit.MINUTES);
                    }
                    if (method.getName().equals("cancelAll")) {
                        end.await();
                    }
                    try {
                        return method.invoke(store, args);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    @Test
    void of_two_bulks_that_are_started_at_once_at_most_one_is_under_way() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        ExecutorService pool = Executors.newFixedThreadPool(2);
        try (TestServer two =
                new TestServer(meeting(new CyclicBarrier(2), end), HttpSettings.Limits.DEFAULT, 1_000_000)) {
            two.enqueue("{\"type\":\"a\",\"delay\":\"1h\"}");
            List<Future<Reply>> asked = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                asked.add(pool.submit(() ->
                        two.send(two.admin, "POST", "/v1/bulks", "{\"action\":\"cancel\",\"q\":\"state:pending\"}")));
            }
            List<Integer> statuses = new ArrayList<>();
            for (Future<Reply> reply : asked) {
                statuses.add(reply.get().status());
            }
            assertThat(statuses).isSubsetOf(202, 409).contains(409);
            end.countDown();
        } finally {
            end.countDown();
            pool.shutdown();
        }
    }

    @Test
    void a_bulk_that_fails_says_nothing_of_the_database() {
        JobStore store = new InMemoryJobStore();
        JobStore failing = (JobStore) Proxy.newProxyInstance(
                JobStore.class.getClassLoader(), new Class<?>[] {JobStore.class}, (proxy, method, args) -> {
                    if (method.getName().equals("cancelAll")) {
                        throw new StoreException("ERROR: relation db7.jobs", new IllegalStateException(), true);
                    }
                    try {
                        return method.invoke(store, args);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
        try (TestServer other = new TestServer(failing, HttpSettings.Limits.DEFAULT, 1_000_000)) {
            other.enqueue("{\"type\":\"a\",\"delay\":\"1h\"}");
            String id = other.send(other.admin, "POST", "/v1/bulks", "{\"action\":\"cancel\",\"q\":\"state:pending\"}")
                    .text("id");
            JsonNode ended = TestServer.await(() -> {
                JsonNode bulk = other.get("/v1/bulks/" + id).json();
                return bulk.get("endedAt").isNull() ? null : bulk;
            });
            assertThat(ended.get("state").stringValue()).isEqualTo("FAILED");
            assertThat(ended.get("note").stringValue()).doesNotContain("db7");
        }
    }

    @Test
    void ended_bulks_are_kept_in_a_bounded_number_also_among_those_of_many_tenants() {
        for (int i = 0; i < 1_200; i++) {
            server.store.putDocument(new Document("bulk", "0tenant/b" + i, 0, stored(i)));
            if (i < 250) {
                server.store.putDocument(new Document("bulk", "b" + i, 0, stored(i)));
            }
        }
        assertThat(server.get("/v1/bulks").json().get("items")).hasSize(250);
        ended(bulk("{\"action\":\"cancel\",\"q\":\"state:pending\"}").text("id"));
        assertThat(server.get("/v1/bulks").json().get("items")).hasSize(200);
        assertThat(server.store.document("bulk", "b0")).as("the oldest").isEmpty();
        assertThat(server.store.document("bulk", "b249")).isPresent();
    }

    private String stored(int number) {
        Instant at = server.store.now().minusSeconds(2_000 - number);
        return "{\"action\":\"cancel\",\"q\":\"state:pending\",\"state\":\"DONE\",\"by\":\"me\",\"createdAt\":\"" + at
                + "\",\"seenAt\":\"" + at + "\",\"endedAt\":\"" + at + "\"}";
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

    @Test
    void a_policy_is_applied_to_all_that_wait_and_a_payload_needs_a_type() {
        enqueue(250, "many");
        enqueue(2, "others");
        String order = "{\"action\":\"change\",\"q\":\"state:pending queue:many\",\"change\":{\"policy\":\"omniq\"}";
        assertThat(bulk(order + ",\"dryRun\":true}").json().get("matched").asInt())
                .isEqualTo(250);
        JsonNode done = ended(bulk(order + ",\"why\":\"a long outage\"}").text("id"));
        assertThat(done.get("done").asInt()).isEqualTo(250);
        JsonNode changed = server.get("/v1/jobs?queue=many&limit=1000").json().get("items");
        assertThat(changed)
                .allSatisfy(job -> assertThat(job.get("maxRetries").intValue()).isEqualTo(3));
        assertThat(server.get("/v1/jobs?queue=others")
                        .json()
                        .at("/items/0/maxRetries")
                        .intValue())
                .isEqualTo(19);
        String payload = "{\"action\":\"change\",\"q\":\"state:pending%s\",\"change\":{\"payload\":{\"n\":1}}}";
        assertThat(bulk(payload.formatted("")).raw().body()).contains("must name a type");
        assertThat(bulk(payload.formatted(" type:webhook")).status()).isEqualTo(400);
        assertThat(ended(bulk(payload.formatted(" type:a")).text("id"))
                        .get("done")
                        .asInt())
                .isEqualTo(252);
    }

    @Test
    void a_bulk_takes_only_times_that_can_be() {
        enqueue(1, "many");
        String retry = "{\"action\":\"retry\",\"q\":\"state:pending\",\"at\":\"%s\"}";
        assertThat(bulk(retry.formatted("2020-01-01T00:00:00Z")).raw().body())
                .contains("is 2020-01-01T00:00:00Z but must be");
        assertThat(ended(bulk(retry.formatted("2098-01-01T00:00:00Z")).text("id"))
                        .get("done")
                        .asInt())
                .isEqualTo(1);
        assertThat(bulk("{\"action\":\"cancel\",\"q\":\"state:pending\",\"at\":\"2098-01-01T00:00:00Z\"}")
                        .status())
                .isEqualTo(400);
        assertThat(bulk("{\"action\":\"change\",\"q\":\"state:pending\"}").raw().body())
                .contains("/change");
    }
}
