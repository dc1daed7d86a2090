// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.webhook;

import io.reprise.ManualRetry;
import io.reprise.PayloadCodec;
import io.reprise.Replay;
import io.reprise.Reprise;
import io.reprise.job.AuditNote;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobState;
import io.reprise.job.Page;
import io.reprise.server.auth.Quotas;
import io.reprise.server.auth.Tenancy;
import io.reprise.server.delivery.SigningSecret;
import io.reprise.server.http.Caller;
import io.reprise.server.http.Endpoints;
import io.reprise.server.http.Operation;
import io.reprise.server.http.Problem;
import io.reprise.server.http.ProblemType;
import io.reprise.server.http.Request;
import io.reprise.server.http.Response;
import io.reprise.server.http.Schema;
import io.reprise.server.http.Scope;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Endpoints of subscriptions, their secrets and their deliveries. */
public final class WebhookEndpoints implements Endpoints {

    private static final String SECTION = "Webhooks";
    private static final String ONE = "/v1/webhooks/{id}";
    private static final Duration OVERLAP = Duration.ofHours(24);
    private static final Duration MAX_OVERLAP = Duration.ofDays(30);
    private static final int MAX_PAGE = 200;
    private static final String WHY = "is written into the audit log";

    private final Webhooks webhooks;
    private final Subscriptions subscriptions;
    private final Reprise reprise;
    private final PayloadCodec codec;
    private final Quotas quotas;
    private final SecureRandom random = new SecureRandom();

    public WebhookEndpoints(Webhooks webhooks, Reprise reprise, PayloadCodec codec, Quotas quotas) {
        this.quotas = quotas;
        this.webhooks = webhooks;
        this.subscriptions = webhooks.subscriptions();
        this.reprise = reprise;
        this.codec = codec;
    }

    @Override
    public List<Operation> operations() {
        return List.of(
                operation(Operation.get("/v1/webhooks", "listWebhooks"), Scope.READ, "All subscriptions")
                        .answers(200, "the subscriptions", page(WebhookViews.SUBSCRIPTION, "Webhooks"))
                        .does(this::list),
                operation(Operation.post("/v1/webhooks", "createWebhook"), Scope.OPERATE, "Subscribe")
                        .query("why", Schema.text(0, 500), WHY)
                        .body(SubscriptionForm.NEW)
                        .answers(201, "the subscription, with its secret", WebhookViews.WITH_SECRET)
                        .does(this::create),
                one(Operation.get(ONE, "getWebhook"), Scope.READ, "One subscription")
                        .answers(200, "the subscription", WebhookViews.SUBSCRIPTION)
                        .does(this::get),
                one(Operation.put(ONE, "changeWebhook"), Scope.OPERATE, "Change a subscription; its secrets stay")
                        .query("why", Schema.text(0, 500), WHY)
                        .body(SubscriptionForm.SCHEMA)
                        .answers(200, "the subscription", WebhookViews.SUBSCRIPTION)
                        .does(this::change),
                one(Operation.delete(ONE, "deleteWebhook"), Scope.OPERATE, "Unsubscribe; what waits is not sent")
                        .query("why", Schema.text(0, 500), WHY)
                        .answers(204, "it is gone")
                        .does(this::delete),
                one(Operation.post(ONE + "/rotate-secret", "rotateWebhookSecret"), Scope.OPERATE, "A new secret")
                        .query("why", Schema.text(0, 500), WHY)
                        .optionalBody(Schema.object()
                                .may(
                                        "overlap",
                                        Schema.duration().about("how long the old one signs along; 24h unless said"))
                                .named("RotateSecretRequest"))
                        .answers(200, "the subscription, with its new secret", WebhookViews.WITH_SECRET)
                        .does(this::rotate),
                one(Operation.post(ONE + "/ping", "pingWebhook"), Scope.OPERATE, "Send a ping, to try it out")
                        .answers(202, "the delivery", WebhookViews.STARTED)
                        .does(this::ping),
                one(
                                Operation.get(ONE + "/deliveries", "listWebhookDeliveries"),
                                Scope.READ,
                                "What was sent, newest first")
                        .query("state", Schema.choice(JobState.class), "deliveries in this state only")
                        .query("limit", Schema.integer(1, MAX_PAGE), "how many; 50 unless said")
                        .query("cursor", Schema.text(1, 500), "where the page before ended")
                        .answers(200, "deliveries", page(WebhookViews.DELIVERY, "WebhookDeliveries"))
                        .does(this::deliveries),
                one(
                                Operation.post(ONE + "/deliveries/{delivery}/redeliver", "redeliverWebhook"),
                                Scope.OPERATE,
                                "Send one again, at once")
                        .path("delivery", Schema.id(), "id of the delivery")
                        .query("why", Schema.text(0, 500), WHY)
                        .answers(202, "the delivery", WebhookViews.STARTED)
                        .does(this::redeliver));
    }

    private static Operation.Builder operation(Operation.Builder builder, Scope scope, String summary) {
        return builder.section(SECTION).scope(scope).summary(summary);
    }

    private static Operation.Builder one(Operation.Builder builder, Scope scope, String summary) {
        return operation(builder, scope, summary).path("id", Schema.name(), "id of the subscription");
    }

    private static Schema page(Schema items, String name) {
        return Schema.object()
                .must("items", Schema.array(items, 0, Subscriptions.MAX))
                .must("next", Schema.text(1, 500).orNull())
                .named(name);
    }

    private static Map<String, @Nullable Object> page(List<?> items, @Nullable String next) {
        Map<String, @Nullable Object> page = new LinkedHashMap<>();
        page.put("items", items);
        page.put("next", next);
        return page;
    }

    private Response list(Request request) {
        return Response.ok(page(
                subscriptions.all().stream()
                        .map(Subscriptions.Versioned::subscription)
                        .filter(each -> isVisible(each, request.caller()))
                        .map(each -> view(each, request))
                        .toList(),
                null));
    }

    private Response create(Request request) {
        SubscriptionForm form = new SubscriptionForm(request.fields(), Tenancy.of(request.caller()));
        SigningSecret given = form.secret();
        SigningSecret secret = given == null ? SigningSecret.random(random) : given;
        Subscription subscription = new Subscription(
                "wh_" + Long.toString(random.nextLong() >>> 1, 36),
                request.caller().tenant(),
                form.url(webhooks.guard()),
                form.description(),
                form.filter(),
                form.headers(null, subscriptions::seal),
                List.of(new Subscription.Secret(subscriptions.seal(secret), null)),
                form.disabled(null),
                now(),
                form.retry(null),
                form.batch(null));
        form.checkDelivery(subscription);
        form.check();
        quotas.oneByOne(subscription.tenant(), () -> add(subscription, request));
        return Response.created("/v1/webhooks/" + subscription.id(), withSecret(subscription, request, secret));
    }

    private boolean add(Subscription subscription, Request request) {
        long own = subscriptions.all().stream()
                .filter(each -> Objects.equals(each.subscription().tenant(), subscription.tenant()))
                .count();
        String tenant = subscription.tenant();
        if (tenant != null) {
            Quotas.requireRoom(own, quotas.of(tenant).webhooks(), "webhooks", "delete one");
        }
        if (subscriptions.all().size() >= Subscriptions.MAX) {
            throw Problem.of(ProblemType.CONFLICT, "There are " + Subscriptions.MAX + " subscriptions already");
        }
        if (!subscriptions.add(subscription, note(request))) {
            throw Problem.of(ProblemType.CONFLICT, "The id was taken: try again");
        }
        return true;
    }

    private Response get(Request request) {
        return Response.ok(view(find(request), request));
    }

    private Response change(Request request) {
        find(request);
        Subscription changed = subscriptions
                .change(request.path("id"), before -> changed(before, request), "change", note(request))
                .orElseThrow(() -> missing(request));
        return Response.ok(view(changed, request));
    }

    private Subscription changed(Subscription before, Request request) {
        SubscriptionForm form = new SubscriptionForm(request.fields(), Tenancy.of(request.caller()));
        Subscription changed = new Subscription(
                before.id(),
                before.tenant(),
                form.url(webhooks.guard()),
                form.description(),
                form.filter(),
                form.headers(before, subscriptions::seal),
                before.secrets(),
                form.disabled(before.disabled()),
                before.createdAt(),
                form.retry(before),
                form.batch(before));
        form.checkDelivery(changed);
        form.check();
        return changed;
    }

    private Response delete(Request request) {
        subscriptions.remove(find(request).id(), note(request));
        return Response.noContent();
    }

    private Response rotate(Request request) {
        Duration overlap = request.fields().duration("overlap", OVERLAP);
        if (overlap.compareTo(MAX_OVERLAP) > 0) {
            throw Problem.invalid("/overlap", "must be at most " + MAX_OVERLAP.toDays() + " days");
        }
        find(request);
        SigningSecret secret = SigningSecret.random(random);
        String kept = subscriptions.seal(secret);
        Subscription rotated = subscriptions
                .change(
                        request.path("id"),
                        before -> before.rotated(kept, now(), now().plus(overlap)),
                        "rotate-secret",
                        note(request))
                .orElseThrow(() -> missing(request));
        return Response.ok(withSecret(rotated, request, secret));
    }

    private Response ping(Request request) {
        Subscription subscription = find(request);
        return started(deliver(request, subscription, Notice.ping(subscription)));
    }

    private Response deliveries(Request request) {
        Subscription subscription = find(request);
        JobQuery query = JobQuery.all()
                .type(WebhookDelivery.TYPE.name())
                .queuePrefix(subscription.tenant() == null ? null : subscription.tenant() + "/")
                .tag(WebhookOutbox.tag(subscription.id()))
                .limit(request.integer("limit", 50))
                .after(request.parameter("cursor"));
        String state = request.parameter("state");
        Page<Job> jobs;
        try {
            jobs = reprise.find(state == null ? query : query.state(JobState.valueOf(state)));
        } catch (IllegalArgumentException e) {
            throw Problem.invalid("cursor", "is none of ours");
        }
        return Response.ok(page(
                jobs.items().stream()
                        .map(job -> WebhookViews.delivery(job, codec, subscriptions.installation()))
                        .toList(),
                jobs.next()));
    }

    private Response redeliver(Request request) {
        Subscription subscription = find(request);
        Job job = delivery(request, subscription);
        if (job.state() == JobState.FAILED) {
            return started(as(request).replay(job.id(), Replay.FRESH));
        }
        if (job.state() == JobState.PENDING) {
            as(request).retry(job.id(), ManualRetry.NOW);
            return started(job.id());
        }
        Notice notice = WebhookViews.notice(job, codec);
        if (job.state() == JobState.RUNNING || notice == null) {
            throw Problem.of(ProblemType.INVALID_STATE, "It is being sent, or cannot be read any more");
        }
        return started(deliver(request, subscription, notice));
    }

    private JobId deliver(Request request, Subscription subscription, Notice notice) {
        quotas.enqueue(request.caller(), Set.of(), 1, 0);
        return reprise.enqueue(WebhookOutbox.delivery(subscription, notice));
    }

    private Job delivery(Request request, Subscription subscription) {
        String id = request.path("delivery");
        try {
            return reprise.find(JobId.parse(id))
                    .filter(job -> WebhookDelivery.isFor(subscription, job))
                    .orElseThrow(() -> Problem.notFound("Delivery " + id));
        } catch (IllegalArgumentException e) {
            throw Problem.notFound("Delivery " + id);
        }
    }

    private io.reprise.Operations as(Request request) {
        String why = request.parameter("why");
        return reprise.as(request.caller().name(), why == null ? "redelivery" : why);
    }

    private static Response started(JobId id) {
        return Response.json(202, Map.of("id", id.toString())).header("Location", "/v1/jobs/" + id);
    }

    /** Finds the subscription. Another tenant's is treated as missing. */
    private Subscription find(Request request) {
        return subscriptions
                .find(request.path("id"))
                .map(Subscriptions.Versioned::subscription)
                .filter(each -> isVisible(each, request.caller()))
                .orElseThrow(() -> missing(request));
    }

    private static boolean isVisible(Subscription subscription, Caller caller) {
        return caller.tenant() == null || Objects.equals(caller.tenant(), subscription.tenant());
    }

    private static Problem missing(Request request) {
        return Problem.notFound("Webhook " + request.path("id").toLowerCase(Locale.ROOT));
    }

    private Map<String, @Nullable Object> view(Subscription subscription, Request request) {
        return WebhookViews.subscription(
                subscription,
                Tenancy.of(request.caller()),
                subscription.signing(now()).size());
    }

    private Map<String, @Nullable Object> withSecret(Subscription subscription, Request request, SigningSecret secret) {
        Map<String, @Nullable Object> view = view(subscription, request);
        view.put("secret", secret.reveal());
        return view;
    }

    private static AuditNote note(Request request) {
        return new AuditNote(request.caller().name(), request.parameter("why"));
    }

    private Instant now() {
        return webhooks.clock().instant();
    }
}
