// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.AuditNote;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.server.api.TestServer.Reply;
import io.reprise.server.auth.Quotas;
import io.reprise.server.http.Caller;
import io.reprise.server.http.Problem;
import io.reprise.server.http.ProblemType;
import io.reprise.server.http.Scope;
import io.reprise.server.net.HttpSettings;
import io.reprise.store.Document;
import io.reprise.store.JobStore;
import io.reprise.testing.InMemoryJobStore;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What one tenant may have, and how it is told. */
class QuotaTest {

    private static final Scope[] ALL = {Scope.READ, Scope.ENQUEUE, Scope.WORK, Scope.OPERATE};

    private final TestServer server = new TestServer(new Quotas.Limits(10, 1_000, 3, 2, 1, 1, 1_000_000, 1_000_000));
    private final String key = server.key("small", "small", ALL);

    @AfterEach
    void stop() {
        server.close();
    }

    private Reply enqueue(String by, int jobs, String queue) {
        String job = "{\"type\":\"a\",\"delay\":\"1d\",\"queue\":\"" + queue + "\"}";
        return server.send(by, "POST", "/v1/jobs", "[" + job + ("," + job).repeat(jobs - 1) + "]");
    }

    private static void requireExceeded(Reply reply, String what) {
        assertThat(reply.status()).as(reply.raw().body()).isEqualTo(429);
        assertThat(reply.problem()).isEqualTo("quota-exceeded");
        assertThat(reply.text("detail")).contains(what).contains("ask the operator");
        assertThat(reply.raw().headers().firstValue("Retry-After")).isPresent();
    }

    @Test
    void a_tenant_has_so_many_jobs_waiting_and_no_more() {
        assertThat(enqueue(key, 9, "a").status()).isEqualTo(202);
        requireExceeded(enqueue(key, 2, "a"), "9 jobs waiting");
        assertThat(enqueue(key, 1, "a").status()).isEqualTo(202);
        requireExceeded(enqueue(key, 1, "a"), "10 jobs waiting");
        assertThat(enqueue(server.key("other", "other", ALL), 10, "a").status()).isEqualTo(202);
        assertThat(enqueue(server.admin, 100, "a").status())
                .as("the operator's own")
                .isEqualTo(202);
    }

    @Test
    void a_repeated_request_has_its_answer_though_the_quota_is_used_up() {
        Reply first = keyed("k", 4);
        assertThat(first.status()).isEqualTo(202);
        assertThat(enqueue(key, 6, "a").status()).isEqualTo(202);
        Reply again = keyed("k", 4);
        assertThat(again.status()).as(again.raw().body()).isEqualTo(202);
        assertThat(ids(again)).isEqualTo(ids(first));
        requireExceeded(keyed("l", 1), "10 jobs waiting");
        // Jobs that are gone would be stored again. So they need room.
        String last = ids(first).get(3);
        server.send(key, "POST", "/v1/jobs/" + last + "/cancel", "{}");
        while (server.store.prune(Set.of(JobState.CANCELLED), Duration.ZERO, 10) == 0) {
            Thread.onSpinWait();
        }
        requireExceeded(keyed("k", 4), "jobs waiting");
    }

    private Reply keyed(String idempotencyKey, int jobs) {
        String job = "{\"type\":\"a\",\"delay\":\"1d\"}";
        String body = "[" + job + ("," + job).repeat(jobs - 1) + "]";
        return server.send(key, "POST", "/v1/jobs", body, "Idempotency-Key", idempotencyKey);
    }

    private static List<String> ids(Reply reply) {
        List<String> ids = new ArrayList<>();
        reply.json().forEach(job -> ids.add(job.get("id").stringValue()));
        return ids;
    }

    private Reply enqueue(int bytes) {
        String payload = "\"" + "x".repeat(bytes - 2) + "\"";
        return server.send(key, "POST", "/v1/jobs", "{\"type\":\"a\",\"payload\":" + payload + "}");
    }

    @Test
    void a_tenant_has_so_many_bytes_stored_and_no_more() {
        assertThat(enqueue(600).status()).isEqualTo(202);
        requireExceeded(enqueue(401), "600 bytes stored");
        assertThat(enqueue(400).status()).isEqualTo(202);
        assertThat(server.send(key, "GET", "/v1/quota", null)
                        .json()
                        .at("/use/bytes")
                        .longValue())
                .isEqualTo(1_000);
    }

    @Test
    void log_lines_count_and_none_is_kept_beyond_the_quota() {
        String id = server.send(key, "POST", "/v1/jobs", "{\"type\":\"a\"}").text("id");
        String token = server.send(key, "POST", "/v1/leases", "{\"wait\":\"20s\"}")
                .json()
                .at("/items/0/token")
                .stringValue();
        String lease = "/v1/leases/" + token;
        assertThat(log(lease + "/heartbeat", 0, 600).status()).isEqualTo(200);
        requireExceeded(enqueue(500), "bytes stored");
        assertThat(log(lease + "/heartbeat", 1, 500).status())
                .as("a worker keeps its lease")
                .isEqualTo(200);
        assertThat(log(lease + "/complete", 2, 500).status()).isEqualTo(200);
        assertThat(server.send(key, "GET", "/v1/jobs/" + id + "/log", null)
                        .json()
                        .path("items"))
                .hasSize(1);
    }

    private Reply log(String path, int from, int length) {
        String lines = "{\"from\":" + from + ",\"lines\":[\"" + "x".repeat(length) + "\"]}";
        return server.send(key, "POST", path, "{\"log\":" + lines + "}");
    }

    @Test
    void a_change_of_payloads_counts_like_new_ones() {
        String long200 = "\"" + "x".repeat(198) + "\"";
        String one = server.send(key, "POST", "/v1/jobs", "{\"type\":\"a\",\"delay\":\"1d\"}")
                .text("id");
        for (int i = 0; i < 5; i++) {
            assertThat(enqueue(key, 1, "a").status()).isEqualTo(202);
        }
        String change = "{\"payload\":" + long200 + "}";
        String bulk = "{\"action\":\"change\",\"q\":\"state:pending type:a\",\"change\":" + change + "}";
        requireExceeded(server.send(key, "POST", "/v1/bulks", bulk), "bytes stored");
        assertThat(server.send(key, "POST", "/v1/jobs/" + one + "/change", change)
                        .status())
                .isEqualTo(200);
        String large = "{\"payload\":\"" + "x".repeat(900) + "\"}";
        requireExceeded(server.send(key, "POST", "/v1/jobs/" + one + "/change", large), "bytes stored");
    }

    @Test
    void a_replay_stores_no_longer_payload_and_makes_no_queue_beyond_the_quota() {
        String id = server.send(key, "POST", "/v1/jobs", "{\"type\":\"a\",\"queue\":\"a\"}")
                .text("id");
        String token = server.send(key, "POST", "/v1/leases", "{\"wait\":\"20s\"}")
                .json()
                .at("/items/0/token")
                .stringValue();
        server.send(key, "POST", "/v1/leases/" + token + "/fail", "{\"type\":\"x\",\"permanent\":true}");
        enqueue(key, 1, "b");
        enqueue(key, 1, "c");
        String replay = "/v1/dead-letters/" + id + "/replay";
        requireExceeded(server.send(key, "POST", replay, "{\"queue\":\"d\"}"), "3 queues");
        requireExceeded(
                server.send(key, "POST", "/v1/dead-letters/bulk", "{\"action\":\"replay\",\"queue\":\"d\"}"),
                "3 queues");
        requireExceeded(server.send(key, "POST", "/v1/replays", "{\"queue\":\"d\"}"), "3 queues");
        String large = "{\"payload\":\"" + "x".repeat(1_000) + "\"}";
        requireExceeded(server.send(key, "POST", replay, large), "bytes stored");
        assertThat(server.send(key, "POST", replay, "{\"queue\":\"b\"}").status())
                .isEqualTo(200);
    }

    @Test
    void a_tenant_has_so_many_replays_under_way() {
        String jobs = IntStream.range(0, 10)
                .mapToObj(n -> "{\"type\":\"t" + n + "\"}")
                .collect(Collectors.joining(",", "[", "]"));
        assertThat(server.send(key, "POST", "/v1/jobs", jobs).status()).isEqualTo(202);
        server.send(key, "POST", "/v1/leases", "{\"wait\":\"20s\",\"max\":10}")
                .json()
                .get("items")
                .forEach(lease -> server.send(
                        key,
                        "POST",
                        "/v1/leases/" + lease.get("token").stringValue() + "/fail",
                        "{\"type\":\"x\",\"permanent\":true}"));
        // Nobody runs the first job of each, so none of them ends.
        for (int n = 0; n < 10; n++) {
            Reply started = server.send(key, "POST", "/v1/replays", "{\"filter\":{\"type\":\"t" + n + "\"}}");
            assertThat(started.status()).as(started.raw().body()).isEqualTo(202);
        }
        requireExceeded(server.send(key, "POST", "/v1/replays", "{}"), "10 replays under way");
        String other = server.key("other", "other", ALL);
        assertThat(server.send(other, "POST", "/v1/replays", "{}").status()).isEqualTo(202);
    }

    @Test
    void a_tenant_has_so_many_policies() {
        for (int n = 0; n < PolicyEndpoints.MAX_POLICIES; n++) {
            server.store.putDocument(new Document("policy", "small/p" + n, 0, "{\"policy\":{\"maxAttempts\":2}}"));
        }
        String policy = "{\"maxAttempts\":3}";
        requireExceeded(server.send(key, "PUT", "/v1/policies/more", policy), "1000 policies");
        assertThat(server.send(key, "PUT", "/v1/policies/p1", policy).status()).isEqualTo(200);
        String other = server.key("other", "other", ALL);
        assertThat(server.send(other, "PUT", "/v1/policies/more", policy).status())
                .isEqualTo(200);
    }

    @Test
    void a_batch_counts_like_a_job() {
        for (int i = 0; i < 10; i++) {
            assertThat(server.send(key, "PUT", "/v1/batches/b" + i, "{}").status())
                    .isEqualTo(200);
        }
        requireExceeded(server.send(key, "PUT", "/v1/batches/more", "{}"), "10 jobs waiting");
        assertThat(server.send(key, "PUT", "/v1/batches/b0", "{}").status())
                .as("it is there")
                .isEqualTo(200);
    }

    @Test
    void bytes_are_counted_and_not_characters() {
        assertThat(enqueue(600).status()).isEqualTo(202);
        String payload = "\"" + "ü".repeat(250) + "\"";
        requireExceeded(
                server.send(key, "POST", "/v1/jobs", "{\"type\":\"a\",\"payload\":" + payload + "}"),
                "600 bytes stored");
    }

    /** As after a restart, or when another server took the jobs. */
    @Test
    void bytes_are_measured_in_the_store_and_go_with_their_jobs() {
        InMemoryJobStore store = new InMemoryJobStore();
        Quotas quotas = new Quotas(store, Quotas.Limits.DEFAULT, InstantSource.system());
        JobId id = store.insert(List.of(
                        JobSpec.builder("a", "\"12345678\"").queue("small/q").build(),
                        JobSpec.builder("a", "1").queue("other/q").build(),
                        JobSpec.builder("a", "1").queue("nobody").build()))
                .get(0)
                .id();
        assertThat(quotas.use("small").bytes()).isZero();
        quotas.measure();
        assertThat(quotas.use("small").bytes()).isEqualTo(10);
        assertThat(quotas.use("other").bytes()).isEqualTo(1);
        store.cancel(id, new AuditNote("me", null));
        store.discard(id, new AuditNote("me", null));
        quotas.measure();
        assertThat(quotas.use("small").bytes()).isZero();
    }

    @Test
    void nobody_waits_until_another_has_counted() throws Exception {
        AtomicReference<Instant> now = new AtomicReference<>(Instant.EPOCH);
        CountDownLatch counting = new CountDownLatch(1);
        CountDownLatch counted = new CountDownLatch(1);
        InMemoryJobStore jobs = new InMemoryJobStore();
        JobStore slow = (JobStore) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {JobStore.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("queues") && now.get().isAfter(Instant.EPOCH)) {
                        counting.countDown();
                        counted.await();
                    }
                    return method.invoke(jobs, arguments);
                });
        Quotas quotas = new Quotas(slow, Quotas.Limits.DEFAULT, now::get);
        quotas.enqueue(new Caller("a", Set.of(), "evil"), Set.of("evil/q"), 1, 1);
        now.set(Instant.EPOCH.plusSeconds(60));
        CompletableFuture<Void> first = CompletableFuture.runAsync(
                () -> quotas.enqueue(new Caller("a", Set.of(), "evil"), Set.of("evil/q"), 1, 1));
        counting.await();
        quotas.enqueue(new Caller("b", Set.of(), "victim"), Set.of("victim/q"), 3, 1);
        assertThat(quotas.use("victim").jobs()).isEqualTo(3);
        counted.countDown();
        first.join();
        assertThat(quotas.use("victim").jobs())
                .as("passed while it was counted")
                .isEqualTo(3);
    }

    /** The bound that docs/server.md states. */
    @Test
    void several_servers_exceed_a_quota_by_the_room_that_each_of_the_others_saw_and_no_more() {
        AtomicReference<Instant> now = new AtomicReference<>(Instant.EPOCH);
        InMemoryJobStore store = new InMemoryJobStore();
        Quotas.Limits limits = new Quotas.Limits(10, 1_000, 3, 2, 1, 1, 1_000_000, 1_000_000);
        List<Quotas> servers = Stream.generate(() -> new Quotas(store, limits, now::get))
                .limit(3)
                .toList();
        List<JobId> first = accepted(servers, store);
        assertThat(first).as("each saw room for 10").hasSize(30);
        now.set(now.get().plusSeconds(2));
        assertThat(accepted(servers, store)).as("each has counted again").isEmpty();
        first.subList(0, 24).forEach(id -> store.cancel(id, new AuditNote("me", null)));
        now.set(now.get().plusSeconds(2));
        assertThat(accepted(servers, store)).as("each saw room for 4").hasSize(12);
        now.set(now.get().plusSeconds(2));
        assertThat(accepted(servers, store)).isEmpty();
    }

    /** Each server is asked for as many jobs as it accepts. */
    private static List<JobId> accepted(List<Quotas> servers, JobStore store) {
        List<JobSpec> jobs = new ArrayList<>();
        servers.forEach(server -> server.use("small"));
        for (Quotas server : servers) {
            for (int i = 0; i < 20; i++) {
                try {
                    server.enqueue(new Caller("a", Set.of(), "small"), Set.of("small/q"), 1, 1);
                    jobs.add(JobSpec.builder("a", "1").queue("small/q").build());
                } catch (Problem e) {
                    assertThat(e.type()).isEqualTo(ProblemType.QUOTA_EXCEEDED);
                }
            }
        }
        return jobs.isEmpty()
                ? List.of()
                : store.insert(jobs).stream().map(stored -> stored.id()).toList();
    }

    @Test
    void jobs_that_have_left_make_room() {
        String id = enqueue(key, 10, "a").json().get(0).get("id").stringValue();
        server.send(key, "POST", "/v1/jobs/" + id + "/cancel", "{}");
        TestServer.await(() -> enqueue(key, 1, "a").status() == 202 ? true : null);
    }

    @Test
    void a_tenant_has_so_many_names_of_queues() {
        for (String queue : new String[] {"a", "b", "c"}) {
            assertThat(enqueue(key, 1, queue).status()).isEqualTo(202);
        }
        requireExceeded(enqueue(key, 1, "d"), "3 queues");
        requireExceeded(server.send(key, "POST", "/v1/queues/d/pause", "{}"), "3 queues");
        assertThat(enqueue(key, 1, "c").status()).isEqualTo(202);
    }

    @Test
    void a_tenant_has_so_many_schedules_and_webhooks() {
        String schedule = "{\"every\":\"1d\",\"job\":{\"type\":\"a\"}}";
        for (String name : new String[] {"a", "b", "a"}) {
            assertThat(server.send(key, "PUT", "/v1/schedules/" + name, schedule)
                            .status())
                    .isEqualTo(200);
        }
        requireExceeded(server.send(key, "PUT", "/v1/schedules/c", schedule), "2 schedules");
        String webhook = "{\"url\":\"http://127.0.0.1/\"}";
        assertThat(server.send(key, "POST", "/v1/webhooks", webhook).status()).isEqualTo(201);
        requireExceeded(server.send(key, "POST", "/v1/webhooks", webhook), "1 webhooks");
    }

    @Test
    void schedules_webhooks_and_policies_that_come_at_once_are_no_more_than_the_quota() {
        String schedule = "{\"every\":\"1d\",\"job\":{\"type\":\"a\"}}";
        assertThat(accepted(40, n -> send("PUT", "/v1/schedules/s" + n, schedule)))
                .isEqualTo(2);
        assertThat(accepted(40, n -> send("POST", "/v1/webhooks", "{\"url\":\"http://127.0.0.1/\"}")))
                .isEqualTo(1);
        IntStream.range(0, 999)
                .forEach(n ->
                        send("PUT", "/v1/policies/p" + n, "{\"maxAttempts\":3}").join());
        assertThat(accepted(40, n -> send("PUT", "/v1/policies/more" + n, "{\"maxAttempts\":3}")))
                .isEqualTo(1);
    }

    private CompletableFuture<Integer> send(String method, String path, String body) {
        HttpRequest request = HttpRequest.newBuilder(URI.create(server.server.url() + path))
                .header("Authorization", "Bearer " + key)
                .header("Content-Type", "application/json")
                .method(method, HttpRequest.BodyPublishers.ofString(body))
                .build();
        return server.client()
                .sendAsync(request, HttpResponse.BodyHandlers.ofString())
                .thenApply(HttpResponse::statusCode);
    }

    /** Sends them all before the first answer is looked at. */
    private static long accepted(int requests, IntFunction<CompletableFuture<Integer>> send) {
        List<CompletableFuture<Integer>> answers =
                IntStream.range(0, requests).mapToObj(send).toList();
        List<Integer> statuses = answers.stream().map(CompletableFuture::join).toList();
        assertThat(statuses).allMatch(status -> status < 300 || status == 429);
        return statuses.stream().filter(status -> status < 300).count();
    }

    @Test
    void streams_that_are_opened_at_once_are_no_more_than_the_quota() {
        HttpRequest request = HttpRequest.newBuilder(URI.create(server.server.url() + "/v1/events"))
                .header("Authorization", "Bearer " + key)
                .build();
        assertThat(server.send(key, "HEAD", "/v1/events", null).status())
                .as("it opens none")
                .isEqualTo(200);
        List<HttpResponse<InputStream>> answers = IntStream.range(0, 40)
                .mapToObj(n -> server.client().sendAsync(request, HttpResponse.BodyHandlers.ofInputStream()))
                .toList()
                .stream()
                .map(CompletableFuture::join)
                .toList();
        assertThat(answers.stream().filter(answer -> answer.statusCode() == 200))
                .hasSize(1);
        assertThat(answers.stream().filter(answer -> answer.statusCode() == 429))
                .hasSize(39);
        answers.forEach(QuotaTest::close);
        requireExceededOnceOpen();
    }

    /** The server learns a moment later that a client has gone. */
    private void requireExceededOnceOpen() {
        HttpRequest request = HttpRequest.newBuilder(URI.create(server.server.url() + "/v1/events"))
                .header("Authorization", "Bearer " + key)
                .build();
        HttpResponse<InputStream> open = TestServer.await(() -> {
            HttpResponse<InputStream> answer = server.client()
                    .sendAsync(request, HttpResponse.BodyHandlers.ofInputStream())
                    .join();
            if (answer.statusCode() != 200) {
                close(answer);
            }
            return answer.statusCode() == 200 ? answer : null;
        });
        requireExceeded(server.send(key, "GET", "/v1/events", null), "1 streams");
        close(open);
    }

    private static void close(HttpResponse<InputStream> answer) {
        try {
            answer.body().close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void what_is_kept_at_once_is_no_more_than_the_quota() {
        Quotas.Limits limits = new Quotas.Limits(10, 1_000, 3, 1, 1, 1, 1_000_000, 1_000_000);
        Quotas quotas = new Quotas(new InMemoryJobStore(), limits, InstantSource.system());
        Caller caller = new Caller("a", Set.of(), "small");
        String text = "x".repeat(10);
        long kept = IntStream.range(0, 2_000)
                .parallel()
                .filter(n -> keeps(quotas, caller, text, n))
                .count();
        assertThat(kept).isEqualTo(100);
        long queues = IntStream.range(0, 2_000)
                .parallel()
                .filter(n -> admits(() -> quotas.queue(caller, "small/q" + n)))
                .count();
        assertThat(queues).isEqualTo(3);
    }

    private static boolean keeps(Quotas quotas, Caller caller, String text, int n) {
        return n % 2 == 0 ? quotas.keepsLines(caller, List.of(text)) : admits(() -> quotas.keep(caller, text));
    }

    private static boolean admits(Runnable wish) {
        try {
            wish.run();
            return true;
        } catch (Problem e) {
            return false;
        }
    }

    @Test
    void a_tenant_can_be_given_quotas_of_its_own() {
        Reply put = server.put("/v1/quotas/small", "{\"jobs\":12,\"jobsPerSecond\":1}");
        assertThat(put.json().at("/limits/jobs").intValue()).isEqualTo(12);
        assertThat(put.json().at("/limits/schedules").intValue()).isEqualTo(2);
        assertThat(enqueue(key, 12, "a").status()).isEqualTo(202);
        Reply tooFast = enqueue(key, 1, "a");
        assertThat(tooFast.status()).isEqualTo(429);
        assertThat(server.send(key, "GET", "/v1/quota", null)
                        .json()
                        .at("/limits/jobs")
                        .intValue())
                .isEqualTo(12);
        assertThat(server.get("/v1/quota").json().get("tenant").isNull()).isTrue();
    }

    @Test
    void jobs_and_bytes_per_second_are_bounded() {
        server.put("/v1/quotas/small", "{\"jobs\":1000000,\"bytes\":1000000,\"jobsPerSecond\":1}");
        assertThat(enqueue(key, 100, "a").status()).as("on credit").isEqualTo(202);
        Reply refused = enqueue(key, 1, "a");
        assertThat(refused.problem()).isEqualTo("too-many-requests");
        assertThat(refused.text("detail")).contains("1 jobs per second").contains("try again in");
        String large = server.key("large", "large", ALL);
        server.put("/v1/quotas/large", "{\"bytes\":1000000,\"bytesPerSecond\":1}");
        String job = "{\"type\":\"a\",\"payload\":\"" + "x".repeat(1_000) + "\"}";
        assertThat(server.send(large, "POST", "/v1/jobs", job).status()).isEqualTo(202);
        assertThat(server.send(large, "POST", "/v1/jobs", job).text("detail")).contains("bytes of payloads");
    }

    @Test
    void answers_tell_how_many_requests_are_left() {
        try (TestServer slow = new TestServer(new InMemoryJobStore(), HttpSettings.Limits.DEFAULT, 1)) {
            Reply first = slow.get("/v1/stats");
            assertThat(first.raw().headers().firstValue("RateLimit-Policy")).contains("\"requests\";q=2;w=2");
            assertThat(first.raw().headers().firstValue("RateLimit").orElse("")).startsWith("\"requests\";r=1;t=");
            Reply refused = TestServer.await(() -> {
                Reply reply = slow.get("/v1/stats");
                return reply.status() == 429 ? reply : null;
            });
            assertThat(refused.raw().headers().firstValue("RateLimit").orElse(""))
                    .startsWith("\"requests\";r=0;t=");
            assertThat(refused.raw().headers().firstValue("Retry-After")).isPresent();
        }
    }

    @Test
    void a_schedule_enqueues_no_more_than_its_tenant_may_have() {
        assertThat(enqueue(key, 10, "a").status()).isEqualTo(202);
        requireExceeded(enqueue(key, 1, "a"), "10 jobs waiting");
        String schedule = "{\"every\":\"1s\",\"overlap\":true,\"job\":{\"type\":\"fired\",\"queue\":\"a\"}}";
        String next = server.send(key, "PUT", "/v1/schedules/a", schedule).text("nextAt");
        TestServer.await(() ->
                server.send(key, "GET", "/v1/schedules/a", null).text("nextAt").equals(next) ? null : true);
        requireExceeded(server.send(key, "POST", "/v1/schedules/a/trigger", null), "10 jobs waiting");
        assertThat(server.send(key, "GET", "/v1/jobs?type=fired", null).json().get("items"))
                .isEmpty();
    }

    @Test
    void the_operators_own_schedules_have_no_quota() {
        String job = "{\"type\":\"a\",\"delay\":\"1d\",\"queue\":\"not-a-tenant/a\"}";
        server.post("/v1/jobs", "[" + job + ("," + job).repeat(19) + "]");
        server.put(
                "/v1/schedules/own",
                "{\"every\":\"1s\",\"overlap\":true,\"job\":{\"type\":\"fired\",\"queue\":\"not-a-tenant/a\"}}");
        TestServer.await(
                () -> server.get("/v1/jobs?type=fired").json().get("items").isEmpty() ? null : true);
    }

    @Test
    void pings_of_webhooks_count_too() {
        String id = server.send(key, "POST", "/v1/webhooks", "{\"url\":\"http://127.0.0.1:1/\"}")
                .text("id");
        assertThat(enqueue(key, 10, "a").status()).isEqualTo(202);
        requireExceeded(server.send(key, "POST", "/v1/webhooks/" + id + "/ping", null), "10 jobs waiting");
    }
}
