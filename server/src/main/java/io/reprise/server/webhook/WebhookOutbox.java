// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.webhook;

import io.reprise.Job;
import io.reprise.JobEvent;
import io.reprise.JobRequest;
import io.reprise.SequelRule;
import io.reprise.server.delivery.HostResource;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;

/** One delivery for each subscription that wants to hear of a step. Deliveries themselves are not told of. */
final class WebhookOutbox implements SequelRule {

    static final String QUEUE = "webhooks";
    private static final String TAG = "webhook:";

    private final Subscriptions subscriptions;

    WebhookOutbox(Subscriptions subscriptions) {
        this.subscriptions = subscriptions;
    }

    @Override
    public List<JobRequest<Notice>> after(JobEvent.Kind kind, Job job, long token) {
        EventType event = EventType.of(kind);
        if (event == null || job.type().equals(WebhookDelivery.TYPE.name())) {
            return List.of();
        }
        List<JobRequest<Notice>> deliveries = new ArrayList<>();
        for (Subscription subscription : subscriptions.known()) {
            if (subscription.wants(event, job)) {
                deliveries.add(delivery(subscription, Notice.of(subscription, event, job, token)));
            }
        }
        return deliveries;
    }

    static JobRequest<Notice> delivery(Subscription subscription, Notice notice) {
        return WebhookDelivery.TYPE
                .job(notice)
                .queue(subscription.stored(QUEUE))
                .resource(subscription.stored(HostResource.of(URI.create(subscription.url()))))
                .tags(tag(subscription.id()));
    }

    /** By which the deliveries of a subscription are found. */
    static String tag(String subscription) {
        return TAG + subscription;
    }
}
