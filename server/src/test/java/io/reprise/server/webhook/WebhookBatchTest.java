// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.webhook;

import static io.reprise.server.webhook.WebhookFixture.ALL;
import static io.reprise.server.webhook.WebhookFixture.NOTE;
import static io.reprise.server.webhook.WebhookFixture.WORK;
import static org.assertj.core.api.Assertions.assertThat;

import com.standardwebhooks.Webhook;
import io.reprise.Reprise;
import io.reprise.jackson.JacksonCodec;
import io.reprise.job.Job;
import io.reprise.job.JobQuery;
import io.reprise.job.JobState;
import io.reprise.server.delivery.CallShares;
import io.reprise.server.delivery.OutboundClient;
import io.reprise.server.delivery.OutboundGuard;
import io.reprise.server.delivery.Resolver;
import io.reprise.server.delivery.SigningSecret;
import io.reprise.server.delivery.Stub;
import io.reprise.server.http.Json;
import io.reprise.testing.InMemoryJobStore;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Deliveries in batches: a worker with threads, and a receiver on a real socket. */
class WebhookBatchTest {

    private static final Duration NEVER = Duration.ofSeconds(60);
    private static final int SLOTS = 200;

    private final Queue<Stub.Reply> replies = new ConcurrentLinkedQueue<>();
    private final Stub stub = new Stub(seen -> {
        Stub.Reply next = replies.poll();
        return next == null ? Stub.Reply.of(204) : next;
    });
    private final OutboundGuard guard = new OutboundGuard(List.of("127.0.0.1"), Set.of(), Resolver.SYSTEM);
    private final OutboundClient client = new OutboundClient(guard);
    private final InMemoryJobStore store = new InMemoryJobStore();
    private final JacksonCodec codec = new JacksonCodec();
    private final Webhooks webhooks = new Webhooks(
            store, codec, client, guard, InstantSource.system(), UnaryOperator.identity(), new CallShares(SLOTS));
    private final SigningSecret secret = SigningSecret.random(new SecureRandom());
    private @Nullable Reprise reprise;

    private Reprise start() {
        Reprise started = webhooks.join(Reprise.builder()
                        .store(store)
                        .codec(codec)
                        .concurrency(SLOTS)
                        .handle(WORK, (payload, job) -> {}))
                .start();
        reprise = started;
        return started;
    }

    @AfterEach
    void close() {
        if (reprise != null) {
            reprise.close();
        }
        webhooks.close();
        client.close();
        stub.close();
    }

    private void subscribe(int count, Duration within, @Nullable String retry) {
        webhooks.subscriptions()
                .add(
                        new Subscription(
                                "batched",
                                null,
                                stub.url("/batched"),
                                null,
                                ALL,
                                Map.of(),
                                List.of(new Subscription.Secret(
                                        webhooks.subscriptions().seal(secret), null)),
                                null,
                                Instant.now(),
                                retry,
                                new Subscription.Batch(count, within)),
                        NOTE);
    }

    private static void await(BooleanSupplier condition) {
        for (int looks = 0; !condition.getAsBoolean(); looks++) {
            assertThat(looks).as("looks at a condition that never came true").isLessThan(60_000);
            LockSupport.parkNanos(2_000_000);
        }
    }

    private List<Job> deliveries(JobState state) {
        return store.find(JobQuery.all().type("webhook").state(state).limit(500))
                .items();
    }

    private List<String> jobsIn(JsonNode body) {
        List<String> jobs = new ArrayList<>();
        body.get("data").get("messages").forEach(message -> {
            assertThat(message.get("type").stringValue()).isEqualTo("job.succeeded");
            assertThat(message.get("id").stringValue()).startsWith("evt_");
            jobs.add(message.get("data").get("jobId").stringValue());
        });
        return jobs;
    }

    @Test
    void a_full_batch_is_sent_in_one_signed_call() throws Exception {
        subscribe(10, NEVER, null);
        Reprise queue = start();
        List<String> ids = IntStream.range(0, 20)
                .mapToObj(i -> queue.enqueue(WORK.job("x")).toString())
                .toList();
        await(() -> deliveries(JobState.SUCCEEDED).size() == 20);
        assertThat(stub.seen).hasSize(2);
        List<String> told = new ArrayList<>();
        for (Stub.Seen seen : stub.seen) {
            JsonNode body = Json.parse(seen.body());
            assertThat(body.get("type").stringValue()).isEqualTo("batch");
            assertThat(jobsIn(body)).hasSize(10);
            told.addAll(jobsIn(body));
            Map<String, List<String>> headers = new HashMap<>();
            seen.headers().forEach((name, value) -> headers.put(name, List.of(value)));
            new Webhook(secret.reveal()).verify(seen.body(), headers);
        }
        assertThat(told).containsExactlyInAnyOrderElementsOf(ids);
    }

    @Test
    void a_batch_that_is_not_full_is_sent_after_its_time() {
        subscribe(100, Duration.ofMillis(300), null);
        Reprise queue = start();
        queue.enqueueAll(List.of(WORK.job("a"), WORK.job("b"), WORK.job("c")));
        await(() -> deliveries(JobState.SUCCEEDED).size() == 3);
        int messages = stub.seen.stream()
                .mapToInt(seen -> jobsIn(Json.parse(seen.body())).size())
                .sum();
        assertThat(messages).isEqualTo(3);
    }

    @Test
    void a_batch_that_is_refused_is_told_again_and_each_delivery_counts_its_own_attempts() {
        subscribe(
                5,
                Duration.ofMillis(500),
                "{\"backoff\":\"fixed\",\"base\":\"10ms\",\"jitter\":\"none\",\"maxAttempts\":2}");
        replies.add(Stub.Reply.of(500));
        Reprise queue = start();
        queue.enqueueAll(List.of(WORK.job("a"), WORK.job("b"), WORK.job("c"), WORK.job("d"), WORK.job("e")));
        await(() -> deliveries(JobState.SUCCEEDED).size() == 5);
        assertThat(deliveries(JobState.SUCCEEDED)).anyMatch(job -> job.attempts() == 2);
        assertThat(deliveries(JobState.FAILED)).isEmpty();
    }

    @Test
    void a_delivery_that_waits_for_its_batch_when_the_process_ends_is_sent_by_the_next() {
        subscribe(100, NEVER, null);
        Reprise first = start();
        first.enqueue(WORK.job("a"));
        await(() -> deliveries(JobState.RUNNING).size() == 1);
        first.stopWorker();
        assertThat(stub.seen).isEmpty();
        assertThat(deliveries(JobState.PENDING)).hasSize(1).allMatch(job -> job.attempts() == 0);
    }

    @Test
    void waiting_deliveries_hold_at_most_a_quarter_of_the_slots() {
        subscribe(100, NEVER, null);
        Reprise queue = start();
        for (int i = 0; i < SLOTS / 4; i++) {
            queue.enqueue(WORK.job("x"));
        }
        await(() -> !stub.seen.isEmpty());
        assertThat(jobsIn(Json.parse(stub.seen.get(0).body()))).hasSizeLessThanOrEqualTo(SLOTS / 4);
    }
}
