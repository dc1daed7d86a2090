// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.delivery;

import io.reprise.job.Job;
import io.reprise.job.JobSignal;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Limits how many calls run at once. Each kind of call leaves a quarter of the slots to the others. One tenant gets at
 * most half of the slots of its kind. So receivers that are slow on purpose block nobody else's calls. Jobs without a
 * tenant belong to the operator and are limited only by kind. Thread-safe.
 */
public final class CallShares {

    private static final Duration FIRST = Duration.ofSeconds(1);
    private static final int MAX_DOUBLINGS = 5;

    private final int slots;
    private final int ofKind;
    private final int ofTenant;
    private final Map<String, Integer> running = new HashMap<>();

    /**
     * Creates the shares.
     *
     * @param slots jobs that run at once
     */
    public CallShares(int slots) {
        this.slots = slots;
        this.ofKind = Math.max(1, slots * 3 / 4);
        this.ofTenant = Math.max(1, ofKind / 2);
    }

    /** Returns how many jobs run at once. */
    public int slots() {
        return slots;
    }

    /**
     * Makes a call within the share of its job, and reports how it ended.
     *
     * @param end receives the failure of the call, or null
     * @param call makes the call, and cuts it off when its argument completes
     * @return cuts the call off
     * @throws JobSignal if no slot is free: the job is snoozed, longer each time, and spends no attempt
     */
    public Runnable during(
            Job job, Consumer<@Nullable Throwable> end, Function<CompletableFuture<?>, CompletableFuture<?>> call) {
        String kind = job.type();
        String both = kind + " " + tenant(job.queue());
        enter(job, kind, both);
        CompletableFuture<@Nullable Void> stop = new CompletableFuture<>();
        CompletableFuture<?> under;
        try {
            under = call.apply(stop);
        } catch (RuntimeException | Error e) {
            leave(kind, both);
            throw e;
        }
        CompletableFuture<?> unused = under.whenComplete((nothing, failure) -> {
            leave(kind, both);
            end.accept(
                    failure instanceof CompletionException && failure.getCause() != null
                            ? failure.getCause()
                            : failure);
        });
        return () -> stop.complete(null);
    }

    private synchronized void enter(Job job, String kind, String both) {
        boolean full = running.getOrDefault(kind, 0) >= ofKind
                || (!tenant(job.queue()).isEmpty() && running.getOrDefault(both, 0) >= ofTenant);
        if (full) {
            int doublings = Math.min(job.counts().snoozes(), MAX_DOUBLINGS);
            throw JobSignal.snooze(FIRST.multipliedBy(1L << doublings));
        }
        running.merge(kind, 1, Integer::sum);
        running.merge(both, 1, Integer::sum);
    }

    private synchronized void leave(String kind, String both) {
        running.computeIfPresent(kind, (name, calls) -> calls == 1 ? null : calls - 1);
        running.computeIfPresent(both, (name, calls) -> calls == 1 ? null : calls - 1);
    }

    /** Returns the tenant in a queue's name; empty if it has none. */
    public static String tenant(String queue) {
        int slash = queue.indexOf('/');
        return slash < 0 ? "" : queue.substring(0, slash);
    }
}
