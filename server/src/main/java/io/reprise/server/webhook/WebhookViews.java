// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.webhook;

import io.reprise.PayloadCodec;
import io.reprise.job.Job;
import io.reprise.job.JobStatus;
import io.reprise.job.PayloadException;
import io.reprise.server.auth.Tenancy;
import io.reprise.server.config.Durations;
import io.reprise.server.http.Json;
import io.reprise.server.http.Schema;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Shows subscriptions and deliveries to clients, without secrets and values of headers. */
final class WebhookViews {

    private static final Schema TEXTS = Schema.array(Schema.text(0, 100), 0, 50);

    static final Schema SUBSCRIPTION = Schema.object()
            .must("id", Schema.name())
            .must("url", Schema.text(1, 2_000))
            .must("description", Schema.text(0, 500).orNull())
            .must("events", TEXTS)
            .must("queues", TEXTS)
            .must("types", TEXTS)
            .must("tags", TEXTS)
            .must("headers", TEXTS.about("their names"))
            .must(
                    "retry",
                    Schema.object()
                            .open()
                            .orNull()
                            .named("WebhookRetryPolicy")
                            .about("retry policy of its deliveries; null for that of all"))
            .must(
                    "batch",
                    Schema.object()
                            .must("count", Schema.integer(2, 100))
                            .must("within", Schema.duration())
                            .orNull()
                            .named("WebhookBatch")
                            .about("several events in one call; null for one each"))
            .must("enabled", Schema.bool())
            .must("disabledBecause", Schema.text(0, 500).orNull())
            .must("signingSecrets", Schema.integer(0, 3).about("how many sign at the moment"))
            .must("createdAt", Schema.time())
            .named("Webhook");

    static final Schema WITH_SECRET = SUBSCRIPTION
            .must("secret", Schema.text(1, 200).about("shown this once"))
            .named("WebhookWithSecret");

    static final Schema DELIVERY = Schema.object()
            .must("id", Schema.id())
            .must("event", Schema.text(0, 20).orNull())
            .must("jobId", Schema.id().orNull())
            .must("messageId", Schema.text(0, 100).orNull())
            .must("state", Schema.text(1, 20))
            .must("attempts", Schema.integer(0, Integer.MAX_VALUE))
            .must("error", Schema.text(0, 2_000).orNull())
            .must("createdAt", Schema.time())
            .must("nextAttemptAt", Schema.time().orNull())
            .must("finishedAt", Schema.time().orNull())
            .named("WebhookDelivery");

    static final Schema STARTED = Schema.object().must("id", Schema.id()).named("WebhookDeliveryStarted");

    private WebhookViews() {}

    static Map<String, @Nullable Object> subscription(Subscription subscription, Tenancy tenancy, int signing) {
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("id", subscription.id());
        view.put("url", subscription.url());
        view.put("description", subscription.description());
        view.put("events", sorted(subscription.filter().events()));
        view.put(
                "queues",
                subscription.filter().queues().stream()
                        .map(tenancy::shown)
                        .sorted()
                        .toList());
        view.put("types", sorted(subscription.filter().types()));
        view.put("tags", sorted(subscription.filter().tags()));
        view.put("headers", sorted(subscription.headers().keySet()));
        view.put("retry", subscription.retry() == null ? null : Json.raw(subscription.retry()));
        Subscription.Batch batch = subscription.batch();
        view.put(
                "batch",
                batch == null ? null : Map.of("count", batch.count(), "within", Durations.text(batch.within())));
        view.put("enabled", subscription.disabled() == null);
        view.put("disabledBecause", subscription.disabled());
        view.put("signingSecrets", signing);
        view.put("createdAt", subscription.createdAt());
        return view;
    }

    private static List<String> sorted(java.util.Collection<String> names) {
        return names.stream().sorted().toList();
    }

    static Map<String, @Nullable Object> delivery(Job job, PayloadCodec codec, String installation) {
        Notice notice = notice(job, codec);
        JobStatus.LastError error = job.status().lastError();
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("id", job.id().toString());
        view.put("event", notice == null ? null : notice.event());
        view.put("jobId", notice == null || notice.job() == 0 ? null : Long.toString(notice.job()));
        view.put(
                "messageId",
                notice == null ? null : notice.messageId(installation, job.id().value()));
        view.put("state", job.state());
        view.put("attempts", job.attempts());
        view.put("error", error == null ? null : error.message());
        view.put("createdAt", job.times().createdAt());
        view.put("nextAttemptAt", job.times().dueAt());
        view.put("finishedAt", job.times().finishedAt());
        return view;
    }

    static @Nullable Notice notice(Job job, PayloadCodec codec) {
        try {
            return codec.decode(codec.open(job.spec().payload()), Notice.class);
        } catch (PayloadException e) {
            return null;
        }
    }
}
