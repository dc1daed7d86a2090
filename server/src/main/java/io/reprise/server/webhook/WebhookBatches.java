// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.webhook;

import io.opentelemetry.context.Context;
import io.reprise.JobContext;
import io.reprise.server.delivery.CallShares;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Gathers deliveries of a subscription for one call, until there are as many as it wants or the first has waited as long
 * as it wants. Each delivery stays a job of its own, with its own lease and its own retries: a process that dies loses
 * none. A delivery that waits holds a slot of the worker. So all together wait in at most a quarter of the slots, and
 * those of one tenant in an eighth; what is more is sent at once. Thread-safe.
 */
final class WebhookBatches {

    /** A delivery that waits for its batch, or is part of one. */
    record Member(Notice notice, JobContext job, Context trace, Consumer<@Nullable Throwable> end) {}

    /** Deliveries of one subscription that wait. */
    private static final class Gathering {
        private final Subscription subscription;
        private final List<Member> members = new ArrayList<>();

        Gathering(Subscription subscription) {
            this.subscription = subscription;
        }
    }

    private final ScheduledExecutorService timer;
    private final int mostWaiting;
    private final BiConsumer<Subscription, List<Member>> send;
    private final Map<String, Gathering> waiting = new HashMap<>();

    /**
     * Creates the batches.
     *
     * @param timer ends the wait of batches that are not full
     * @param slots jobs that the worker runs at once
     * @param send makes one call for all members, and ends each
     */
    WebhookBatches(ScheduledExecutorService timer, int slots, BiConsumer<Subscription, List<Member>> send) {
        this.timer = timer;
        this.mostWaiting = Math.max(1, slots / 4);
        this.send = send;
    }

    /** Adds a delivery. Returns what stops it while it waits; afterwards the limit of the call does. */
    Runnable add(Subscription subscription, Subscription.Batch batch, Member member) {
        Gathering full = null;
        synchronized (this) {
            Gathering gathering = waiting.get(subscription.id());
            if (gathering == null) {
                gathering = new Gathering(subscription);
                waiting.put(subscription.id(), gathering);
                sendLater(gathering, batch);
            }
            gathering.members.add(member);
            if (gathering.members.size() >= batch.count() || isCrowded(member)) {
                waiting.remove(subscription.id());
                full = gathering;
            }
        }
        if (full != null) {
            send.accept(full.subscription, full.members);
        }
        return () -> stop(subscription.id(), member);
    }

    private void sendLater(Gathering gathering, Subscription.Batch batch) {
        try {
            Future<?> unused =
                    timer.schedule(() -> over(gathering), batch.within().toMillis(), TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            throw new CancellationException("This process ends");
        }
    }

    private void over(Gathering gathering) {
        synchronized (this) {
            if (!waiting.remove(gathering.subscription.id(), gathering)) {
                return;
            }
        }
        send.accept(gathering.subscription, gathering.members);
    }

    private boolean isCrowded(Member member) {
        String tenant = CallShares.tenant(member.job.job().queue());
        int all = 0;
        int own = 0;
        for (Gathering each : waiting.values()) {
            all += each.members.size();
            own += tenant.equals(String.valueOf(each.subscription.tenant())) ? each.members.size() : 0;
        }
        return all >= mostWaiting || own >= Math.max(1, mostWaiting / 2);
    }

    private void stop(String subscription, Member member) {
        boolean waited;
        synchronized (this) {
            Gathering gathering = waiting.get(subscription);
            waited = gathering != null && gathering.members.remove(member);
            if (gathering != null && gathering.members.isEmpty()) {
                waiting.remove(subscription);
            }
        }
        if (waited) {
            member.end.accept(new CancellationException("It was stopped before its batch was sent"));
        }
    }
}
