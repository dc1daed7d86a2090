// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.webhook;

import io.reprise.FollowUpRule;
import io.reprise.JobRequest;
import io.reprise.insight.JobEvent;
import io.reprise.insight.TraceParent;
import io.reprise.job.Job;
import io.reprise.retry.RetryPolicy;
import io.reprise.server.delivery.HostResource;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Creates one delivery for each subscription that wants a step. Deliveries themselves cause no further deliveries. */
final class WebhookOutbox implements FollowUpRule {

    static final String QUEUE = "webhooks";
    static final String TAG = "webhook:";

    private static final Logger log = LoggerFactory.getLogger("io.reprise.webhook");

    private final Subscriptions subscriptions;
    private final LongAdder failures = new LongAdder();

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
            add(deliveries, subscription, event, job, token);
        }
        return deliveries;
    }

    /** Adds each delivery alone: a failed delivery does not affect the others. */
    private void add(
            List<JobRequest<Notice>> deliveries, Subscription subscription, EventType event, Job job, long token) {
        try {
            if (subscription.wants(event, job)) {
                JobRequest<Notice> delivery = delivery(subscription, Notice.of(subscription, event, job, token));
                deliveries.add(TraceParent.in(job.spec().tags())
                        .map(trace -> delivery.tags(tag(subscription.id()), trace.tag()))
                        .orElse(delivery));
            }
        } catch (RuntimeException e) {
            failures.increment();
            log.error("Webhook subscription {} gets no message about job {}", subscription.id(), job.id(), e);
        }
    }

    /** Returns how many steps were not sent to a subscription that should have received them. */
    long failures() {
        return failures.sum();
    }

    static JobRequest<Notice> delivery(Subscription subscription, Notice notice) {
        JobRequest<Notice> delivery = WebhookDelivery.TYPE
                .job(notice)
                .queue(subscription.stored(QUEUE))
                .resource(subscription.stored(HostResource.of(URI.create(subscription.url()), subscription.room())))
                .tags(tag(subscription.id()));
        return subscription.retry() == null ? delivery : delivery.retry(RetryPolicy.fromJson(subscription.retry()));
    }

    /** Returns the tag that finds the deliveries of a subscription. */
    static String tag(String subscription) {
        return TAG + subscription;
    }
}
