// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.insight.Activity;
import io.reprise.insight.ControlEvent;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSpec;
import io.reprise.job.WorkerReport;
import io.reprise.server.api.TestServer.Reply;
import io.reprise.server.http.Scope;
import io.reprise.server.net.HttpSettings;
import io.reprise.store.JobStore;
import io.reprise.store.WorkerCounts;
import io.reprise.testing.InMemoryJobStore;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Pulse, series, plans and the search: what the dashboard reads. */
class PulseTest {

    private final TestServer server = new TestServer();

    @AfterEach
    void stop() {
        server.close();
    }

    private String enqueue(String json) {
        return server.send(server.admin, "POST", "/v1/jobs", json).text("id");
    }

    private String fail(String queue, String failure) {
        Reply lease =
                server.send(server.admin, "POST", "/v1/leases", "{\"wait\":\"20s\",\"queues\":[\"" + queue + "\"]}");
        String token = lease.json().at("/items/0/token").stringValue();
        server.send(server.admin, "POST", "/v1/leases/" + token + "/fail", failure);
        return token;
    }

    @Test
    void the_pulse_counts_waiting_jobs_by_their_reason() {
        enqueue("{\"type\":\"a\",\"queue\":\"a\"}");
        enqueue("{\"type\":\"a\",\"queue\":\"b\",\"delay\":\"1h\"}");
        enqueue("{\"type\":\"a\",\"queue\":\"c\"}");
        fail("c", "{\"type\":\"x\",\"retryAfter\":\"1h\"}");
        JsonNode pulse = TestServer.await(() -> {
            JsonNode seen = server.get("/v1/pulse").json();
            return seen.at("/waiting/RETRY").asInt() == 1 ? seen : null;
        });
        assertThat(pulse.at("/waiting/NEW").asInt()).isEqualTo(1);
        assertThat(pulse.at("/waiting/DELAYED").asInt()).isEqualTo(1);
        assertThat(pulse.at("/counts/PENDING").asInt()).isEqualTo(3);
        assertThat(pulse.at("/queueCount").asInt()).isEqualTo(3);
    }

    @Test
    void a_pulse_that_nobody_read_anew_is_not_sent_again() {
        Reply first = server.get("/v1/pulse");
        String tag = first.raw().headers().firstValue("ETag").orElseThrow();
        int status = TestServer.await(() -> {
            // A second may pass between the two.
            Reply pulse = server.get("/v1/pulse");
            String now = pulse.raw().headers().firstValue("ETag").orElseThrow();
            Reply again = server.send(server.admin, "GET", "/v1/pulse", null, "If-None-Match", now);
            return again.status() == 304 ? 304 : null;
        });
        assertThat(status).isEqualTo(304);
        assertThat(tag).isNotEmpty();
    }

    @Test
    void a_tenant_sees_its_own_sums_and_nothing_of_the_fleet() {
        String tenant = server.key("t", "acme", Scope.READ, Scope.ENQUEUE);
        enqueue("{\"type\":\"a\",\"queue\":\"foreign\"}");
        server.send(tenant, "POST", "/v1/jobs", "{\"type\":\"a\",\"queue\":\"own\"}");
        JsonNode pulse = TestServer.await(() -> {
            JsonNode seen = server.send(tenant, "GET", "/v1/pulse", null).json();
            return seen.at("/counts/PENDING").asInt() == 1 ? seen : null;
        });
        assertThat(pulse.at("/queues/0/name").stringValue()).isEqualTo("own");
        assertThat(pulse.get("waiting").isNull()).isTrue();
        assertThat(pulse.get("minute").isNull()).isTrue();
        assertThat(server.send(tenant, "GET", "/v1/series", null).json().get("items"))
                .isEmpty();
    }

    @Test
    void a_series_has_a_row_for_each_minute() {
        JsonNode series = server.get("/v1/series?periods=5").json().get("items");
        assertThat(series).hasSize(5);
        Instant first = Instant.parse(series.get(0).get("at").stringValue());
        assertThat(Instant.parse(series.get(4).get("at").stringValue())).isEqualTo(first.plusSeconds(240));
    }

    private static Activity activity(Activity.Subject subject, String name, long failed) {
        return new Activity(
                subject,
                name,
                new Activity.Counts(10, 8, failed, 1, 1, 1, Duration.ofSeconds(3), Duration.ofSeconds(20)));
    }

    @Test
    void a_series_is_of_types_queues_resources_or_errors_by_minute_or_hour() {
        server.store.addCounts(new WorkerCounts(
                List.of(),
                List.of(),
                List.of(
                        activity(Activity.Subject.TYPE, "a", 2),
                        activity(Activity.Subject.QUEUE, "acme/own", 2),
                        activity(Activity.Subject.QUEUE, "foreign", 5),
                        activity(Activity.Subject.RESOURCE, "acme/host", 2),
                        activity(Activity.Subject.ERROR, "0f3a", 2))));
        for (String step : List.of("1m", "1h")) {
            JsonNode sum = server.get("/v1/series?of=queue&step=" + step + "&periods=3")
                    .json()
                    .get("items");
            assertThat(sum).hasSize(3);
            assertThat(total(sum)).isEqualTo(7);
            JsonNode one = server.get("/v1/series?of=queue&name=foreign&step=" + step + "&periods=3")
                    .json()
                    .get("items");
            assertThat(total(one)).isEqualTo(5);
            JsonNode each = server.get("/v1/series?of=queue&each=true&step=" + step + "&periods=3")
                    .json()
                    .get("items");
            assertThat(each).hasSize(2);
            assertThat(each.at("/0/name").stringValue()).isEqualTo("acme/own");
            assertThat(each.at("/0/meanRunSeconds").doubleValue()).isEqualTo(2);
        }
        assertThat(server.get("/v1/series?step=1m&periods=200").status()).isEqualTo(400);
        String tenant = server.key("t", "acme", Scope.READ);
        JsonNode own = server.send(tenant, "GET", "/v1/series?of=queue&periods=3", null)
                .json()
                .get("items");
        assertThat(total(own)).isEqualTo(2);
        JsonNode names = server.send(tenant, "GET", "/v1/series?of=resource&each=true&periods=3", null)
                .json()
                .get("items");
        assertThat(names).hasSize(1);
        assertThat(names.at("/0/name").stringValue()).isEqualTo("host");
        assertThat(total(server.send(tenant, "GET", "/v1/series?of=queue&name=foreign&periods=3", null)
                        .json()
                        .get("items")))
                .isZero();
        assertThat(server.send(tenant, "GET", "/v1/series?of=error&name=0f3a&periods=3", null)
                        .json()
                        .get("items"))
                .isEmpty();
    }

    private static long total(JsonNode rows) {
        return rows.valueStream().mapToLong(row -> row.get("failed").asLong()).sum();
    }

    @Test
    void an_error_is_told_while_its_jobs_are_retried_and_when_they_are_dead() {
        enqueue("{\"type\":\"a\",\"queue\":\"c\"}");
        fail("c", "{\"type\":\"Busy\",\"message\":\"later\",\"retryAfter\":\"1h\"}");
        JsonNode waiting = TestServer.await(() -> {
            JsonNode seen = server.get("/v1/errors").json();
            return seen.get("items").size() == 1 ? seen : null;
        });
        assertThat(waiting.at("/items/0/waiting").asInt()).isEqualTo(1);
        assertThat(waiting.at("/items/0/dead").asInt()).isZero();
        assertThat(waiting.at("/items/0/error/type").stringValue()).isEqualTo("Busy");
        assertThat(waiting.at("/items/0/firstAt").isNull()).isTrue();
        assertThat(waiting.at("/items/0/failedByHour")).hasSize(24);
        enqueue("{\"type\":\"a\",\"queue\":\"d\",\"maxAttempts\":1}");
        fail("d", "{\"type\":\"Busy\",\"message\":\"later\"}");
        JsonNode both = TestServer.await(() -> {
            JsonNode seen = server.get("/v1/errors").json();
            return seen.at("/items/0/dead").asInt() == 1 ? seen : null;
        });
        assertThat(both.get("items")).hasSize(1);
        assertThat(both.at("/items/0/waiting").asInt()).isEqualTo(1);
        String tenant = server.key("t", "acme", Scope.READ);
        assertThat(server.send(tenant, "GET", "/v1/errors", null).json().get("items"))
                .isEmpty();
    }

    @Test
    void workers_that_are_full_of_a_type_are_a_reason_only_for_jobs_that_are_due() {
        server.store.checkIn(
                new WorkerReport("elsewhere", List.of("full"), List.of("slow"), 10, 1).full(Set.of("slow")),
                Duration.ofMinutes(1));
        enqueue("{\"type\":\"slow\",\"queue\":\"full\",\"delay\":\"1h\"}");
        assertThat(kinds("/v1/queues/full/explain")).containsExactly("NotDue");
        enqueue("{\"type\":\"slow\",\"queue\":\"full\"}");
        assertThat(kinds("/v1/queues/full/explain")).containsExactly("TypeFull", "NotDue");
        assertThat(server.get("/v1/queues/full/explain")
                        .json()
                        .at("/reasons/0/jobs")
                        .asInt())
                .isEqualTo(1);
    }

    private List<String> kinds(String path) {
        return server.get(path)
                .json()
                .get("reasons")
                .valueStream()
                .map(reason -> reason.get("kind").stringValue())
                .toList();
    }

    @Test
    void a_queue_and_a_type_say_why_their_jobs_wait() {
        enqueue("{\"type\":\"a\",\"queue\":\"held\",\"resource\":\"mail\"}");
        server.send(server.admin, "POST", "/v1/queues/held/pause", "{\"why\":\"a move\"}");
        server.send(server.admin, "POST", "/v1/resources/mail/force-open", "{}");
        for (String path : List.of("/v1/queues/held/explain", "/v1/types/a/explain")) {
            JsonNode why = server.get(path).json();
            assertThat(why.at("/looked").asInt()).isEqualTo(1);
            assertThat(why.at("/sentence").stringValue()).contains("wait: queue held was paused");
            assertThat(why.at("/reasons/0/kind").stringValue()).isEqualTo("QueuePaused");
            assertThat(why.at("/reasons/0/name").stringValue()).isEqualTo("held");
            assertThat(why.get("reasons")
                            .valueStream()
                            .map(reason -> reason.get("kind").stringValue()))
                    .contains("HeldByBreaker");
        }
        JsonNode none = server.get("/v1/types/nothing/explain").json();
        assertThat(none.at("/sentence").stringValue()).isEqualTo("No job of this type waits.");
        String tenant = server.key("t", "acme", Scope.READ);
        assertThat(server.send(tenant, "GET", "/v1/types/a/explain", null)
                        .json()
                        .at("/looked")
                        .asInt())
                .isZero();
    }

    @Test
    void a_resource_tells_what_it_went_through() {
        server.store.addControlEvents(List.of(new ControlEvent(
                ControlEvent.Kind.BREAKER_OPENED, "mail", Instant.parse("2026-01-31T10:00:00Z"), "5 of 10 failed")));
        JsonNode history = server.get("/v1/resources/mail/history").json().get("items");
        assertThat(history).hasSize(1);
        assertThat(history.at("/0/kind").stringValue()).isEqualTo("BREAKER_OPENED");
        String tenant = server.key("t", "acme", Scope.READ);
        assertThat(server.send(tenant, "GET", "/v1/resources/mail/history", null)
                        .json()
                        .get("items"))
                .isEmpty();
    }

    @Test
    void a_plan_has_a_window_for_each_attempt_that_is_left() {
        String id = enqueue(
                "{\"type\":\"a\",\"queue\":\"plan\",\"policy\":{\"backoff\":\"fixed\",\"base\":\"10s\",\"jitter\":\"equal\",\"maxAttempts\":4}}");
        fail("plan", "{\"type\":\"x\"}");
        JsonNode plan = server.get("/v1/jobs/" + id + "/plan").json();
        assertThat(plan.get("givesUpAfter").asInt()).isEqualTo(4);
        assertThat(plan.get("past")).hasSize(1);
        JsonNode planned = plan.get("planned");
        assertThat(planned).hasSize(3);
        assertThat(planned.get(0).get("attempt").asInt()).isEqualTo(2);
        Instant due = Instant.parse(planned.get(0).get("earliest").stringValue());
        assertThat(Instant.parse(planned.get(1).get("earliest").stringValue())).isEqualTo(due.plusSeconds(5));
        assertThat(Instant.parse(planned.get(1).get("latest").stringValue())).isEqualTo(due.plusSeconds(10));
        assertThat(Instant.parse(planned.get(2).get("latest").stringValue())).isEqualTo(due.plusSeconds(20));
        assertThat(plan.get("more").booleanValue()).isFalse();
    }

    @Test
    void a_job_that_has_ended_has_no_planned_attempts() {
        String id = enqueue("{\"type\":\"a\",\"queue\":\"over\"}");
        fail("over", "{\"type\":\"x\",\"permanent\":true}");
        assertThat(server.get("/v1/jobs/" + id + "/plan").json().get("planned")).isEmpty();
    }

    @Test
    void a_search_looks_at_no_more_rows_than_a_page_may_however_few_match() {
        AtomicInteger rows = new AtomicInteger();
        JobStore store = new InMemoryJobStore();
        JobStore counting = (JobStore) Proxy.newProxyInstance(
                JobStore.class.getClassLoader(), new Class<?>[] {JobStore.class}, (proxy, method, args) -> {
                    if (method.getName().equals("find") && args[0] instanceof JobQuery query) {
                        rows.addAndGet(query.looks());
                    }
                    try {
                        return method.invoke(store, args);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
        try (TestServer large = new TestServer(counting, HttpSettings.Limits.DEFAULT, 1_000_000)) {
            JobSpec other =
                    JobSpec.builder("a", "{}").delay(Duration.ofHours(1)).build();
            store.insert(List.of(JobSpec.builder("a", "{}")
                    .tags(Set.of("rare"))
                    .delay(Duration.ofHours(1))
                    .build()));
            store.insert(Collections.nCopies(25_000, other));
            String next = "";
            int pages = 0;
            JsonNode page;
            do {
                rows.set(0);
                page = large.get("/v1/jobs?q=tag:rare+attempt:0" + next).json();
                assertThat(rows.get()).isLessThanOrEqualTo(JobQuery.MAX_LOOKS);
                next = "&cursor=" + page.get("next").asString();
                pages++;
            } while (page.get("items").isEmpty());
            assertThat(pages).as("pages until the job was found").isEqualTo(3);
        }
    }

    @Test
    void times_at_the_end_of_all_time_are_times() {
        enqueue("{\"type\":\"bill\",\"delay\":\"1h\"}");
        for (String time : List.of(
                "since:-1000000000-01-01T00:00:00Z",
                "before:%2B1000000000-12-31T23:59:59Z",
                "since:36500d",
                "due:%3C36500d",
                "attempt:%3C2147483647",
                "since:999999999999999999999d",
                "due:%3E99999999999999h")) {
            assertThat(server.get("/v1/jobs?q=" + time).status()).as(time).isIn(200, 400);
        }
    }

    @Test
    void one_line_finds_jobs() {
        String waiting = enqueue("{\"type\":\"bill\",\"queue\":\"a\",\"tags\":[\"may\"],\"delay\":\"1h\"}");
        String dead = enqueue("{\"type\":\"send\",\"queue\":\"b\",\"key\":\"order-17\"}");
        fail("b", "{\"type\":\"x\",\"message\":\"connection refused\",\"permanent\":true}");
        assertThat(found("")).containsExactly(dead, waiting);
        assertThat(found("state:failed")).containsExactly(dead);
        assertThat(found("-state:failed")).containsExactly(waiting);
        assertThat(found("type:bill,send state:pending")).containsExactly(waiting);
        assertThat(found("-type:bill")).containsExactly(dead);
        assertThat(found("tag:may")).containsExactly(waiting);
        assertThat(found("error:\"connection refused\"")).containsExactly(dead);
        assertThat(found("reason:delayed due:>30m")).containsExactly(waiting);
        assertThat(found("due:<30m")).isEmpty();
        assertThat(found("attempt:>=1")).containsExactly(dead);
        assertThat(found("order-17")).containsExactly(dead);
        assertThat(found(dead)).containsExactly(dead);
        assertThat(found("id:" + waiting + " state:failed")).isEmpty();
        assertThat(found("id:" + waiting + " type:no-such-type")).isEmpty();
        assertThat(found("id:" + waiting + " queue:no-such-queue")).isEmpty();
        assertThat(found("id:" + waiting + " before:1h")).isEmpty();
        assertThat(found("id:" + waiting + " id:" + dead)).isEmpty();
        assertThat(found("id:" + waiting + " tag:may since:1h")).containsExactly(waiting);
        assertThat(found("since:1h")).hasSize(2);
        assertThat(found("before:1h")).isEmpty();
    }

    @Test
    void a_search_that_cannot_be_read_says_why() {
        assertThat(server.get("/v1/jobs?q=colour:red").raw().body()).contains("no qualifier 'colour'", "resource");
        assertThat(server.get("/v1/jobs?q=state:dead").status()).isEqualTo(400);
        assertThat(server.get("/v1/jobs?q=attempt:many").status()).isEqualTo(400);
    }

    @Test
    void a_page_of_a_search_is_no_longer_than_its_limit_and_the_next_goes_on() {
        for (int i = 0; i < 9; i++) {
            enqueue("{\"type\":\"" + (i % 3 == 0 ? "c" : "ab") + "\",\"queue\":\"q\"}");
        }
        Reply first = server.get("/v1/jobs?q=-type:c&limit=4");
        assertThat(first.json().get("items")).hasSizeBetween(1, 4);
        int all = first.json().get("items").size();
        JsonNode next = first.json().get("next");
        while (!next.isNull()) {
            JsonNode page = server.get("/v1/jobs?q=-type:c&limit=4&cursor=" + next.stringValue())
                    .json();
            all += page.get("items").size();
            next = page.get("next");
        }
        assertThat(all).isEqualTo(6);
    }

    @Test
    void a_bulk_takes_a_search_that_the_store_can_answer() {
        enqueue("{\"type\":\"send\",\"queue\":\"b\"}");
        fail("b", "{\"type\":\"x\",\"permanent\":true}");
        assertThat(server.send(
                                server.admin,
                                "POST",
                                "/v1/dead-letters/bulk",
                                "{\"action\":\"discard\",\"q\":\"state:failed type:send\",\"dryRun\":true}")
                        .json()
                        .get("matched")
                        .asInt())
                .isEqualTo(1);
        assertThat(server.send(
                                server.admin,
                                "POST",
                                "/v1/dead-letters/bulk",
                                "{\"action\":\"discard\",\"q\":\"attempt:>3\",\"dryRun\":true}")
                        .status())
                .isEqualTo(400);
    }

    private java.util.List<String> found(String q) {
        java.util.List<String> ids = new java.util.ArrayList<>();
        server.get("/v1/jobs?q=" + java.net.URLEncoder.encode(q, java.nio.charset.StandardCharsets.UTF_8))
                .json()
                .get("items")
                .forEach(job -> ids.add(job.get("id").stringValue()));
        return ids;
    }
}
