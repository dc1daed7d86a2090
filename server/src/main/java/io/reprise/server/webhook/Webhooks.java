// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.webhook;

import io.reprise.PayloadCodec;
import io.reprise.Reprise;
import io.reprise.RepriseBuilder;
import io.reprise.server.delivery.CallShares;
import io.reprise.server.delivery.OutboundClient;
import io.reprise.server.delivery.OutboundGuard;
import io.reprise.store.JobStore;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/**
 * All of webhooks: {@link #join} makes an engine store and send deliveries. A change of a subscription is known in this
 * process at once, and in others within two seconds.
 */
public final class Webhooks implements AutoCloseable {

    private static final long REFRESH_MILLIS = 1_000;
    private static final long ALERT_MILLIS = 2_000;
    private static final long STEP_MILLIS = 500;

    private final Subscriptions subscriptions;
    private final WebhookOutbox outbox;
    private final WebhookDelivery delivery;
    private final OutboundGuard guard;
    private final InstantSource clock;
    private final AlertNotices alerts;
    private final StepNotices steps;
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(work -> {
        Thread thread = new Thread(work, "reprise-webhooks");
        thread.setDaemon(true);
        return thread;
    });

    /**
     * Creates webhooks on a store.
     *
     * @param wording translates the data of a job for the service
     */
    public Webhooks(
            JobStore store,
            PayloadCodec codec,
            OutboundClient client,
            OutboundGuard guard,
            InstantSource clock,
            UnaryOperator<Map<String, Object>> wording,
            CallShares shares) {
        this.subscriptions = new Subscriptions(store, codec);
        this.outbox = new WebhookOutbox(subscriptions);
        this.delivery = new WebhookDelivery(store, subscriptions, client, guard, clock, wording, shares, timer);
        this.guard = guard;
        this.clock = clock;
        this.alerts = new AlertNotices(store, subscriptions, clock);
        this.steps = new StepNotices(store, subscriptions);
    }

    /** Begins to send alerts and steps within runs to the subscriptions that name them. */
    public void attach(Reprise reprise) {
        ScheduledFuture<?> unusedSteps = timer.scheduleWithFixedDelay(
                () -> steps.flush(reprise), STEP_MILLIS, STEP_MILLIS, TimeUnit.MILLISECONDS);
        ScheduledFuture<?> unusedAlerts = timer.scheduleWithFixedDelay(
                () -> alerts.look(reprise), REFRESH_MILLIS, ALERT_MILLIS, TimeUnit.MILLISECONDS);
    }

    /** Makes an engine take part. Call it before the engine starts. */
    public RepriseBuilder join(RepriseBuilder builder) {
        return announce(builder).handle(WebhookDelivery.TYPE, delivery);
    }

    /** Stores deliveries together with the steps that they report; other processes send them. */
    public RepriseBuilder announce(RepriseBuilder builder) {
        return builder.followUps(outbox).listener(steps);
    }

    /** Returns how many steps were not sent to a subscription that should have received them. */
    public long failures() {
        return outbox.failures() + steps.missed();
    }

    /** Begins to look for changes. The store must be prepared. */
    public void start() {
        subscriptions.refresh();
        ScheduledFuture<?> unused = timer.scheduleWithFixedDelay(
                subscriptions::refresh, REFRESH_MILLIS, REFRESH_MILLIS, TimeUnit.MILLISECONDS);
    }

    StepNotices steps() {
        return steps;
    }

    WebhookDelivery delivery() {
        return delivery;
    }

    Subscriptions subscriptions() {
        return subscriptions;
    }

    OutboundGuard guard() {
        return guard;
    }

    InstantSource clock() {
        return clock;
    }

    @Override
    public void close() {
        timer.shutdownNow();
    }
}
