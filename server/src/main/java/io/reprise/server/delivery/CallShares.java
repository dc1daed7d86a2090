// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.delivery;

import io.reprise.Job;
import io.reprise.JobSignal;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Who may have how many of the calls that run at once. Each kind leaves a quarter of the slots to the others, and one tenant gets at
 * most half of what its kind may have, so that receivers that are slow on purpose stop nobody else's. Jobs without a tenant are the
 * operator's own and are bounded by their kind only. Thread-safe.
 */
public final class CallShares {

    private static final Duration FIRST = Duration.ofSeconds(1);
    private static final int MAX_DOUBLINGS = 5;

    private final int ofKind;
    private final int ofTenant;
    private final Map<String, Integer> running = new HashMap<>();

    /**
     * Shares of these.
     *
     * @param slots jobs that run at once
     */
    public CallShares(int slots) {
        this.ofKind = Math.max(1, slots * 3 / 4);
        this.ofTenant = Math.max(1, ofKind / 2);
    }

    /**
     * Makes a call within the share of its job, and tells how it ended.
     *
     * @param end hears what the call failed of, or null
     * @param call makes the call; cut off once its argument is completed
     * @return cuts the call off
     * @throws JobSignal if there is no slot to be had: the job comes again, later and later, and no attempt is spent
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

    /** What a queue's name begins with; empty if it is nobody's in particular. */
    public static String tenant(String queue) {
        int slash = queue.indexOf('/');
        return slash < 0 ? "" : queue.substring(0, slash);
    }
}
