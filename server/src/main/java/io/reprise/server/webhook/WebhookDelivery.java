// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.webhook;

import io.opentelemetry.context.Context;
import io.reprise.DeferredHandler;
import io.reprise.JobContext;
import io.reprise.JobType;
import io.reprise.failure.FailureClass;
import io.reprise.failure.Rule;
import io.reprise.job.AuditNote;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSignal;
import io.reprise.retry.Jitter;
import io.reprise.retry.RetryPolicy;
import io.reprise.server.delivery.CallShares;
import io.reprise.server.delivery.HttpDelivery;
import io.reprise.server.delivery.HttpStatusException;
import io.reprise.server.delivery.OutboundAnswer;
import io.reprise.server.delivery.OutboundCall;
import io.reprise.server.delivery.OutboundClient;
import io.reprise.server.delivery.OutboundGuard;
import io.reprise.server.delivery.SigningSecret;
import io.reprise.server.http.Json;
import io.reprise.store.JobStore;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sends deliveries to the receivers of subscriptions. Thread-safe. */
public final class WebhookDelivery implements DeferredHandler<Notice> {

    /** Tried for about a day and a half. An error during a deployment or a repair of the receiver is not final. */
    static final RetryPolicy POLICY = RetryPolicy.table(
                    Duration.ofSeconds(5),
                    Duration.ofMinutes(1),
                    Duration.ofMinutes(5),
                    Duration.ofMinutes(30),
                    Duration.ofHours(2),
                    Duration.ofHours(5),
                    Duration.ofHours(10))
            .jitter(Jitter.proportional(0.1))
            .maxAttempts(10)
            // The delays add up to 38 hours; the rest is for a breaker that holds deliveries back.
            .deadline(Duration.ofDays(3))
            .rule(Rule.ofStatuses(
                    "receiver",
                    FailureClass.TRANSIENT,
                    400,
                    401,
                    403,
                    404,
                    405,
                    406,
                    409,
                    411,
                    413,
                    414,
                    415,
                    422,
                    501,
                    505));

    public static final JobType<Notice> TYPE =
            JobType.of("webhook", Notice.class).retry(POLICY);

    private static final Logger log = LoggerFactory.getLogger("io.reprise.webhook");
    private static final Duration LIMIT = Duration.ofSeconds(15);
    private static final int GONE = 410;
    private static final AuditNote SELF = new AuditNote("reprise", null);

    private final JobStore store;
    private final Subscriptions subscriptions;
    private final OutboundClient client;
    private final OutboundGuard guard;
    private final InstantSource clock;
    private final UnaryOperator<Map<String, Object>> wording;
    private final CallShares shares;
    private final WebhookBatches batches;

    WebhookDelivery(
            JobStore store,
            Subscriptions subscriptions,
            OutboundClient client,
            OutboundGuard guard,
            InstantSource clock,
            UnaryOperator<Map<String, Object>> wording,
            CallShares shares,
            ScheduledExecutorService timer) {
        this.shares = shares;
        this.batches = new WebhookBatches(timer, shares.slots(), this::sendAll);
        this.store = store;
        this.subscriptions = subscriptions;
        this.client = client;
        this.guard = guard;
        this.clock = clock;
        this.wording = wording;
    }

    /** Whether a tag marks deliveries, so that clients may not set it. */
    public static boolean isTag(String tag) {
        return tag.startsWith(WebhookOutbox.TAG);
    }

    @Override
    public Runnable begin(Notice notice, JobContext job, Consumer<@Nullable Throwable> end) {
        Subscription subscription = subscriptions
                .find(notice.subscription())
                .map(Subscriptions.Versioned::subscription)
                .filter(each -> isFor(each, job.job()))
                .orElseThrow(() -> JobSignal.cancel("The subscription was deleted"));
        if (subscription.disabled() != null) {
            throw JobSignal.cancel("The subscription is disabled: " + subscription.disabled());
        }
        Subscription.Batch batch = subscription.batch();
        if (batch != null && notice.job() != 0) {
            return batches.add(subscription, batch, new WebhookBatches.Member(notice, job, Context.current(), end));
        }
        OutboundCall call = call(subscription, notice, guard.check(subscription.url()), job);
        return shares.during(
                job.job(),
                end,
                stop -> client.send(call, stop).thenAccept(answer -> judge(answer, subscription, call.uri(), job)));
    }

    /** Makes one call for a batch. All its deliveries end alike: each is tried again by itself if the call fails. */
    private void sendAll(Subscription subscription, List<WebhookBatches.Member> members) {
        Consumer<@Nullable Throwable> end =
                failure -> members.forEach(member -> member.end().accept(failure));
        try {
            Instant now = clock.instant();
            OutboundCall call = call(subscription, members, guard.check(subscription.url()), now);
            Context trace = members.get(0).trace();
            Runnable unused = shares.during(
                    members.get(0).job().job(),
                    end,
                    stop -> trace.wrapSupplier(() -> client.send(call, stop))
                            .get()
                            .thenAccept(answer -> {
                                judge(answer, subscription, call.uri());
                                members.forEach(member -> member.job()
                                        .result(Map.of("status", answer.status(), "batch", members.size())));
                            }));
        } catch (RuntimeException e) {
            end.accept(e);
        }
    }

    private OutboundCall call(Subscription subscription, List<WebhookBatches.Member> members, URI uri, Instant now) {
        Map<Long, Job> jobs = new HashMap<>();
        store
                .findAll(members.stream()
                        .map(member -> new JobId(member.notice().job()))
                        .distinct()
                        .toList())
                .stream()
                .filter(job -> subscription.covers(job.queue()))
                .forEach(job -> jobs.put(job.id().value(), job));
        List<Map<String, Object>> messages = new ArrayList<>();
        List<String> ids = new ArrayList<>();
        for (WebhookBatches.Member member : members) {
            Notice notice = member.notice();
            Job about = jobs.get(notice.job());
            String id = notice.messageId(
                    subscriptions.installation(), member.job().id().value());
            Map<String, Object> message = new LinkedHashMap<>(Map.of("id", id));
            message.putAll(new Message(notice, about, about == null ? List.of() : store.attempts(about.id()))
                    .body(now, wording));
            ids.add(id);
            messages.add(message);
        }
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("type", "batch");
        body.put("timestamp", now.toString());
        body.put("data", Map.of("messages", messages));
        String id = "batch_" + UUID.nameUUIDFromBytes(String.join(" ", ids).getBytes(StandardCharsets.UTF_8));
        return post(subscription, uri, Json.text(body), id, now, Map.of());
    }

    private OutboundCall post(
            Subscription subscription, URI uri, String body, String id, Instant now, Map<String, String> fence) {
        Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        headers.putAll(subscriptions.headers(subscription));
        headers.put("Content-Type", "application/json");
        headers.putAll(fence);
        headers.putAll(SigningSecret.headers(subscriptions.secrets(subscription, now), id, now, body));
        String tenant = subscription.tenant();
        return new OutboundCall("POST", uri, headers, body, LIMIT, tenant == null ? "" : tenant);
    }

    private void judge(OutboundAnswer answer, Subscription subscription, URI uri, JobContext job) {
        judge(answer, subscription, uri);
        job.result(Map.of("status", answer.status()));
    }

    private void judge(OutboundAnswer answer, Subscription subscription, URI uri) {
        if (answer.status() == GONE) {
            disable(subscription);
        }
        if (!answer.isSuccess()) {
            throw unsuccessful(answer, uri);
        }
    }

    /** Checks type, queue and tags, which nobody can edit: a forged payload must not reach other tenants' receivers. */
    static boolean isFor(Subscription subscription, Job job) {
        return job.type().equals(TYPE.name())
                && subscription.covers(job.queue())
                && job.spec().tags().contains(WebhookOutbox.tag(subscription.id()));
    }

    private OutboundCall call(Subscription subscription, Notice notice, URI uri, JobContext job) {
        Instant now = clock.instant();
        Job about = about(subscription, notice);
        Message message = new Message(notice, about, about == null ? List.of() : store.attempts(about.id()));
        String body = Json.text(message.body(now, wording));
        String id = notice.messageId(subscriptions.installation(), job.id().value());
        return post(subscription, uri, body, id, now, HttpDelivery.fence(job));
    }

    /**
     * Returns the job of the notice, unless it belongs to another tenant: a notice is stored data and may be forged.
     */
    private @Nullable Job about(Subscription subscription, Notice notice) {
        return notice.job() == 0
                ? null
                : store.find(new JobId(notice.job()))
                        .filter(job -> subscription.covers(job.queue()))
                        .orElse(null);
    }

    private void disable(Subscription subscription) {
        String why = "It answered 410 Gone at " + clock.instant();
        subscriptions.change(subscription.id(), each -> each.disabled(why), "disable", SELF);
        log.warn("Webhook subscription {} is disabled: {}", subscription.id(), why);
    }

    private RuntimeException unsuccessful(OutboundAnswer answer, URI uri) {
        HttpStatusException failure = new HttpStatusException(answer, String.valueOf(uri.getHost()), clock.instant());
        boolean redirects = answer.status() >= 300 && answer.status() < 400;
        // A receiver that has moved needs a change of the subscription by a person.
        return redirects ? JobSignal.fail(failure) : failure;
    }
}
