// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.webhook;

import io.reprise.JobListener;
import io.reprise.JobRequest;
import io.reprise.Reprise;
import io.reprise.insight.JobEvent;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.store.JobStore;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends steps that no outcome is stored with, such as the start of a run, to the subscriptions that name them. The steps
 * wait in memory for at most a second and are stored in batches: a process that dies in between does not send them.
 * Costs a look at the known subscriptions while none wants them. Thread-safe.
 */
final class StepNotices implements JobListener {

    private static final Logger log = LoggerFactory.getLogger("io.reprise.webhook");
    private static final int MAX_WAITING = 10_000;
    private static final int BATCH = 500;

    /** A step, with the counted attempts before its run. */
    private record Step(EventType event, JobId job, Instant at, int attempts) {}

    private final JobStore store;
    private final Subscriptions subscriptions;
    private final BlockingQueue<Step> waiting = new ArrayBlockingQueue<>(MAX_WAITING);
    private final LongAdder missed = new LongAdder();

    StepNotices(JobStore store, Subscriptions subscriptions) {
        this.store = store;
        this.subscriptions = subscriptions;
    }

    @Override
    public void onEvent(JobEvent event) {
        EventType type = EventType.of(event.kind());
        if (type == null || !type.isStep() || event.type().equals(WebhookDelivery.TYPE.name())) {
            return;
        }
        boolean wanted =
                subscriptions.known().stream().anyMatch(each -> each.names(type) && each.covers(event.queue()));
        if (wanted && !waiting.offer(new Step(type, event.id(), event.at(), event.attempt() - 1))) {
            missed.increment();
        }
    }

    /** Stores deliveries for what waits. */
    void flush(Reprise reprise) {
        List<Step> steps = new ArrayList<>();
        while (waiting.drainTo(steps, BATCH) > 0) {
            try {
                reprise.offerAll(deliveries(steps));
            } catch (RuntimeException e) {
                missed.add(steps.size());
                log.warn("{} steps of jobs are not sent to webhooks: {}", steps.size(), e.toString());
            }
            steps.clear();
        }
    }

    private List<JobRequest<Notice>> deliveries(List<Step> steps) {
        Map<JobId, Job> jobs = new HashMap<>();
        store.findAll(steps.stream().map(Step::job).distinct().toList()).forEach(job -> jobs.put(job.id(), job));
        List<JobRequest<Notice>> deliveries = new ArrayList<>();
        for (Step step : steps) {
            Job job = jobs.get(step.job);
            if (job != null) {
                for (Subscription subscription : subscriptions.known()) {
                    if (subscription.names(step.event) && subscription.wants(step.event, job)) {
                        deliveries.add(WebhookOutbox.delivery(
                                subscription,
                                Notice.of(subscription, step.event, job, 0).at(step.at, step.attempts)));
                    }
                }
            }
        }
        return deliveries;
    }

    /** Returns how many steps were not sent to a subscription that should have received them. */
    long missed() {
        return missed.sum();
    }
}
