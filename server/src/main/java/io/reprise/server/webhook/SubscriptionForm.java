// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.webhook;

import io.reprise.retry.Presets;
import io.reprise.retry.RetryPolicy;
import io.reprise.server.auth.Tenancy;
import io.reprise.server.delivery.HttpHeaders;
import io.reprise.server.delivery.OutboundGuard;
import io.reprise.server.delivery.RefusedTargetException;
import io.reprise.server.delivery.SigningSecret;
import io.reprise.server.http.Fields;
import io.reprise.server.http.Problem;
import io.reprise.server.http.Problem.FieldError;
import io.reprise.server.http.Schema;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** A client's description of a subscription. Every error is reported. */
final class SubscriptionForm {

    private static final int MAX_CHOICES = 50;
    private static final int MAX_URL = 2_000;
    private static final int MAX_BATCH = 100;
    private static final Duration SHORTEST_WAIT = Duration.ofMillis(100);
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(60);

    private static final Schema NAMES = Schema.array(Schema.name(), 0, MAX_CHOICES);

    static final Schema SCHEMA = Schema.object()
            .must("url", Schema.text(1, MAX_URL).about("where deliveries are sent; http or https"))
            .may("description", Schema.text(0, 500).orNull())
            .may(
                    "events",
                    Schema.array(Schema.choice(EventType.choices()), 0, MAX_CHOICES)
                            .about("what is told; everything if empty"))
            .may("queues", NAMES.about("of jobs of these queues only"))
            .may("types", NAMES.about("of jobs of these types only"))
            .may("tags", NAMES.about("of jobs with one of these tags only"))
            .may("headers", Schema.object().open().about("sent along; their values are not shown again"))
            .may(
                    "retry",
                    Schema.any()
                            .about("retry policy of its deliveries, in full or the name of a preset; null for that of"
                                    + " all"))
            .may(
                    "batch",
                    Schema.object()
                            .may("count", Schema.integer(2, MAX_BATCH).about("100 unless given"))
                            .may("within", Schema.duration().about("100 ms to 60 s; 1 s unless given"))
                            .orNull()
                            .named("WebhookBatchRequest")
                            .about("send several events in one call; null for one each"))
            .may("enabled", Schema.bool().about("false keeps it silent"))
            .named("WebhookRequest");

    static final Schema NEW = SCHEMA.may(
                    "secret",
                    Schema.text(1, 200).orNull().about("to sign with: whsec_ and base64; made up unless given"))
            .named("NewWebhookRequest");

    private final Fields fields;
    private final Tenancy tenancy;
    private final List<FieldError> errors = new ArrayList<>();

    SubscriptionForm(Fields fields, Tenancy tenancy) {
        this.fields = fields;
        this.tenancy = tenancy;
    }

    String url(OutboundGuard guard) {
        String url = fields.text("url", "");
        try {
            guard.check(url);
        } catch (RefusedTargetException e) {
            errors.add(new FieldError("/url", String.valueOf(e.getMessage())));
        }
        return url;
    }

    @Nullable
    String description() {
        return fields.text("description");
    }

    Subscription.Filter filter() {
        Set<String> queues = new LinkedHashSet<>();
        fields.texts("queues").forEach(name -> queues.add(tenancy.stored("/queues", name)));
        return new Subscription.Filter(fields.texts("events"), queues, fields.texts("types"), fields.texts("tags"));
    }

    /**
     * Returns the given headers. If none are mentioned and the receiver is unchanged, returns the present ones: headers
     * for one receiver must not be sent to another.
     */
    Map<String, String> headers(@Nullable Subscription before, UnaryOperator<String> seal) {
        if (!fields.mentions("headers")) {
            return before != null && origin(before.url()).equals(origin(fields.text("url", "")))
                    ? before.headers()
                    : Map.of();
        }
        Map<String, String> headers = new LinkedHashMap<>();
        for (Map.Entry<String, JsonNode> header : fields.node("headers").properties()) {
            if (header.getValue().isString()) {
                headers.put(header.getKey(), header.getValue().stringValue());
            } else {
                errors.add(new FieldError("/headers", "must have texts as values"));
            }
        }
        HttpHeaders.problems(headers).forEach(problem -> errors.add(new FieldError("/headers", problem)));
        headers.replaceAll((name, value) -> seal.apply(value));
        return headers;
    }

    private static String origin(String url) {
        try {
            URI uri = new URI(url);
            return (uri.getScheme() + "://" + uri.getHost() + ":" + uri.getPort()).toLowerCase(Locale.ROOT);
        } catch (URISyntaxException e) {
            return url;
        }
    }

    /** Returns the JSON of the policy of its deliveries; that of before if none is mentioned. */
    @Nullable
    String retry(@Nullable Subscription before) {
        if (!fields.mentions("retry")) {
            return before == null ? null : before.retry();
        }
        JsonNode given = fields.node("retry");
        try {
            if (given.isNull()) {
                return null;
            }
            return (given.isString() ? Presets.get(given.stringValue()) : RetryPolicy.fromJson(given.toString()))
                    .toJson();
        } catch (IllegalArgumentException e) {
            errors.add(new FieldError("/retry", String.valueOf(e.getMessage())));
            return null;
        }
    }

    /** Returns how its events are batched; as before if it is not mentioned. */
    Subscription.@Nullable Batch batch(@Nullable Subscription before) {
        if (!fields.mentions("batch")) {
            return before == null ? null : before.batch();
        }
        if (!fields.has("batch")) {
            return null;
        }
        Fields given = fields.in("batch");
        Duration within = given.duration("within", Duration.ofSeconds(1));
        if (within.compareTo(SHORTEST_WAIT) < 0 || within.compareTo(LONGEST_WAIT) > 0) {
            errors.add(new FieldError("/batch/within", "must be 100ms to 60s, not " + within));
        }
        return new Subscription.Batch(given.integer("count", MAX_BATCH), within);
    }

    /** Returns null if none was given. */
    @Nullable
    SigningSecret secret() {
        String text = fields.text("secret");
        try {
            return text == null ? null : SigningSecret.parse(text);
        } catch (IllegalArgumentException e) {
            errors.add(new FieldError("/secret", String.valueOf(e.getMessage())));
            return null;
        }
    }

    /** Returns why the subscription must be disabled; null if it must not. */
    @Nullable
    String disabled(@Nullable String before) {
        if (!fields.has("enabled")) {
            return before;
        }
        return fields.flag("enabled") ? null : before == null ? "It was switched off by hand" : before;
    }

    /** Refuses a subscription now that could not be delivered later. */
    void checkDelivery(Subscription subscription) {
        if (errors.isEmpty()) {
            try {
                WebhookOutbox.delivery(subscription, Notice.ping(subscription));
            } catch (IllegalArgumentException e) {
                errors.add(new FieldError("/url", "cannot be delivered to: " + e.getMessage()));
            }
        }
    }

    /**
     * Ends the checks.
     *
     * @throws Problem if there was an error
     */
    void check() {
        if (!errors.isEmpty()) {
            throw Problem.invalid(errors);
        }
    }
}
