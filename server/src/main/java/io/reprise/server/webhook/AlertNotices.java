// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.webhook;

import io.reprise.JobRequest;
import io.reprise.Reprise;
import io.reprise.insight.Alert;
import io.reprise.store.InsightStore;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends alerts to the subscriptions that want them. It looks at the alerts that the store has, so it does not matter
 * which process raised them. An idempotency key lets several servers look and one delivery be stored. What is cleared
 * is told by servers that saw it raised. Used by one thread.
 */
final class AlertNotices {

    private static final Logger log = LoggerFactory.getLogger("io.reprise.webhook");

    private record Key(Alert.Kind kind, String type) {}

    private final InsightStore store;
    private final Subscriptions subscriptions;
    private final InstantSource clock;
    private final Map<Key, Alert> raised = new HashMap<>();

    AlertNotices(InsightStore store, Subscriptions subscriptions, InstantSource clock) {
        this.store = store;
        this.subscriptions = subscriptions;
        this.clock = clock;
    }

    /** Looks once, and stores what is new. Costs nothing while no subscription wants alerts. */
    void look(Reprise reprise) {
        boolean wanted = subscriptions.known().stream()
                .anyMatch(each -> each.filter().events().contains(EventType.ALERT.text()));
        if (!wanted) {
            raised.clear();
            return;
        }
        try {
            List<JobRequest<Notice>> deliveries = new ArrayList<>();
            Map<Key, Alert> now = new HashMap<>();
            for (Alert alert : store.alerts()) {
                Key key = new Key(alert.kind(), alert.type());
                now.put(key, alert);
                if (!alert.equals(raised.get(key))) {
                    add(deliveries, alert);
                }
            }
            raised.forEach((key, alert) -> {
                if (!now.containsKey(key)) {
                    add(deliveries, cleared(alert));
                }
            });
            reprise.offerAll(deliveries);
            raised.clear();
            raised.putAll(now);
        } catch (RuntimeException e) {
            log.warn("Alerts could not be sent to webhooks; this is tried again: {}", e.toString());
        }
    }

    private Alert cleared(Alert alert) {
        return new Alert(alert.kind(), alert.type(), alert.value(), alert.threshold(), alert.since(), clock.instant());
    }

    private void add(List<JobRequest<Notice>> deliveries, Alert alert) {
        for (Subscription subscription : subscriptions.known()) {
            if (subscription.wantsAlert(alert.type())) {
                String once = String.join(
                        ":",
                        "webhook-alert",
                        subscription.id(),
                        alert.kind().name(),
                        Long.toString(alert.since().toEpochMilli()),
                        alert.isRaised() ? "raised" : "cleared",
                        alert.type());
                deliveries.add(WebhookOutbox.delivery(subscription, Notice.alert(subscription, alert))
                        .idempotencyKey(once));
            }
        }
    }
}
