// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.webhook;

import io.reprise.JobHandler;
import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.jackson.JacksonCodec;
import io.reprise.job.AuditNote;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobState;
import io.reprise.retry.Jitter;
import io.reprise.retry.RetryPolicy;
import io.reprise.server.delivery.Blocking;
import io.reprise.server.delivery.CallShares;
import io.reprise.server.delivery.OutboundClient;
import io.reprise.server.delivery.OutboundGuard;
import io.reprise.server.delivery.Resolver;
import io.reprise.server.delivery.SigningSecret;
import io.reprise.server.delivery.Stub;
import io.reprise.server.http.Json;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.InlineWorker;
import io.reprise.testing.ManualClock;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** The engine in virtual time, webhooks, and a receiver on a real socket. */
final class WebhookFixture implements AutoCloseable {

    static final JobType<String> WORK = JobType.of("work", String.class);
    static final RetryPolicy EXACT = RetryPolicy.exponential(Duration.ofSeconds(10))
            .jitter(Jitter.none())
            .maxAttempts(2);
    static final AuditNote NOTE = new AuditNote("ada", null);
    static final Subscription.Filter ALL = new Subscription.Filter(Set.of(), Set.of(), Set.of(), Set.of());

    final ManualClock clock = new ManualClock();
    final InMemoryJobStore store = new InMemoryJobStore(clock);
    final Queue<Stub.Reply> replies = new ArrayDeque<>();
    final Stub stub = new Stub(seen -> {
        Stub.Reply next = replies.poll();
        return next == null ? Stub.Reply.of(204) : next;
    });
    final OutboundGuard guard = new OutboundGuard(List.of("127.0.0.1"), Set.of(), Resolver.SYSTEM);
    final OutboundClient client = new OutboundClient(guard);
    final JacksonCodec codec = new JacksonCodec();
    final Webhooks webhooks = new Webhooks(
            store, codec, client, guard, InstantSource.system(), UnaryOperator.identity(), new CallShares(20));
    final SigningSecret secret = SigningSecret.random(new SecureRandom());
    final InlineWorker worker;
    final Reprise reprise;

    WebhookFixture(JobHandler<String> handler) {
        worker = InlineWorker.start(
                webhooks.announce(Reprise.builder().store(store).codec(codec).handle(WORK, handler))
                        .handle(WebhookDelivery.TYPE, Blocking.of(webhooks.delivery())),
                clock);
        reprise = worker.reprise();
    }

    Subscription subscribe(String id, Subscription.Filter filter) {
        return subscribe(id, null, filter);
    }

    Subscription subscribe(String id, @Nullable String tenant, Subscription.Filter filter) {
        Subscription subscription = new Subscription(
                id,
                tenant,
                stub.url("/" + id),
                null,
                filter,
                Map.of("X-Receiver", id),
                List.of(new Subscription.Secret(webhooks.subscriptions().seal(secret), null)),
                null,
                clock.instant(),
                null,
                null);
        webhooks.subscriptions().add(subscription, NOTE);
        return subscription;
    }

    static Subscription.Filter events(EventType... events) {
        return new Subscription.Filter(
                java.util.Arrays.stream(events).map(EventType::text).collect(java.util.stream.Collectors.toSet()),
                Set.of(),
                Set.of(),
                Set.of());
    }

    List<JsonNode> bodies() {
        return stub.seen.stream().map(seen -> Json.parse(seen.body())).toList();
    }

    List<String> told() {
        return bodies().stream()
                .map(body -> body.get("type").stringValue() + " "
                        + body.get("data").path("jobId").stringValue(""))
                .toList();
    }

    List<Job> deliveries(JobState state) {
        return reprise.find(JobQuery.all().type("webhook").state(state)).items();
    }

    Job job(JobId id) {
        return reprise.find(id).orElseThrow();
    }

    @Override
    public void close() {
        worker.close();
        webhooks.close();
        client.close();
        stub.close();
    }
}
