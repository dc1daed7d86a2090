// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import io.reprise.server.http.Response;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Requests with the same wish wait in one line, and only the first of a line checks for jobs. It checks when the store
 * announces work, and from time to time, because the store does not announce jobs that become due. A request that finds
 * jobs leaves, and the next one checks. So the cost depends on the number of lines, not of requests. Thread-safe.
 */
final class WaitingLines {

    /** The rest after a check of one line that found nothing; longer if there are many lines. */
    private static final Duration REST = Duration.ofMillis(5);

    private static final Duration REST_PER_LINE = Duration.ofMillis(2);

    /** One request. */
    private static final class Waiter {
        private final Object wish;
        private final Waiting.Look look;
        private final BooleanSupplier isGone;
        private final CompletableFuture<Response> answer = new CompletableFuture<>();
        /** Whether its time was up while it checked. */
        private boolean late;

        Waiter(Object wish, Waiting.Look look, BooleanSupplier isGone) {
            this.wish = wish;
            this.look = look;
            this.isGone = isGone;
        }
    }

    /** Requests with the same wish. */
    private static final class Line {
        private final Deque<Waiter> waiters = new ArrayDeque<>();
        private boolean busy;
        private boolean again;
        private long restUntil = System.nanoTime();
    }

    private final ScheduledExecutorService threads;
    private final Map<Object, Line> lines = new HashMap<>();

    /**
     * Creates the lines, all empty.
     *
     * @param poll how often each line checks without an announcement
     */
    WaitingLines(ScheduledExecutorService threads, Duration poll) {
        this.threads = threads;
        Future<?> unused =
                threads.scheduleWithFixedDelay(this::poll, poll.toNanos(), poll.toNanos(), TimeUnit.NANOSECONDS);
    }

    /**
     * Waits at the end of the line with the same wish.
     *
     * @param isGone whether the client no longer wants the answer
     */
    CompletableFuture<Response> wait(Object wish, Duration limit, Waiting.Look look, BooleanSupplier isGone) {
        Waiter waiter = new Waiter(wish, look, isGone);
        synchronized (this) {
            Line line = lines.computeIfAbsent(wish, key -> new Line());
            line.waiters.addLast(waiter);
            // Work that came between the caller's own check and this moment was not announced to this line.
            wake(line);
        }
        Future<?> expiry = threads.schedule(() -> expire(waiter), limit.toNanos(), TimeUnit.NANOSECONDS);
        CompletableFuture<Response> unused = waiter.answer.whenComplete((response, failure) -> expiry.cancel(false));
        return waiter.answer;
    }

    /** Makes all lines check. Returns at once. */
    synchronized void wake() {
        lines.values().forEach(this::wake);
    }

    private void poll() {
        for (Waiter gone : gone()) {
            last(gone);
        }
        wake();
    }

    private synchronized List<Waiter> gone() {
        List<Waiter> gone = new ArrayList<>();
        for (Line line : lines.values()) {
            line.waiters.removeIf(waiter -> waiter.isGone.getAsBoolean() && gone.add(waiter));
        }
        return gone;
    }

    /** Answers all waiting requests with what there is. */
    void finish() {
        List<Waiter> all = new ArrayList<>();
        synchronized (this) {
            lines.values().forEach(line -> all.addAll(line.waiters));
        }
        all.forEach(waiter -> schedule(() -> expire(waiter), 0));
    }

    private void wake(Line line) {
        if (line.busy) {
            line.again = true;
        } else {
            line.busy = true;
            schedule(() -> serve(line), line.restUntil - System.nanoTime());
        }
    }

    private void serve(Line line) {
        Waiter first = next(line);
        while (first != null) {
            Response found = null;
            try {
                found = first.look.look(false);
                if (found != null) {
                    first.answer.complete(found);
                }
            } catch (RuntimeException e) {
                first.answer.completeExceptionally(e);
            }
            if (!first.answer.isDone() && !goesOn(line, first)) {
                return;
            }
            first = next(line);
        }
    }

    private synchronized @Nullable Waiter next(Line line) {
        line.again = false;
        Waiter first = line.waiters.pollFirst();
        if (first == null) {
            line.busy = false;
            lines.values().remove(line);
        }
        return first;
    }

    /** Puts a request back that found nothing. Returns whether another must check at once. */
    private boolean goesOn(Line line, Waiter first) {
        synchronized (this) {
            if (!first.late) {
                line.waiters.addFirst(first);
                Duration rest = REST_PER_LINE.multipliedBy(lines.size());
                line.restUntil = System.nanoTime() + (rest.compareTo(REST) > 0 ? rest : REST).toNanos();
                line.busy = false;
                if (line.again) {
                    wake(line);
                }
                return false;
            }
        }
        last(first);
        return true;
    }

    /** Ends a request whose time is up. A request that is checking right now is answered after that. */
    private void expire(Waiter waiter) {
        synchronized (this) {
            Line line = lines.get(waiter.wish);
            if (line == null || !line.waiters.remove(waiter)) {
                waiter.late = true;
                return;
            }
        }
        last(waiter);
    }

    private static void last(Waiter waiter) {
        try {
            waiter.answer.complete(waiter.look.look(true));
        } catch (RuntimeException e) {
            waiter.answer.completeExceptionally(e);
        }
    }

    private void schedule(Runnable work, long nanos) {
        try {
            Future<?> unused = threads.schedule(work, Math.max(0, nanos), TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) {
            // Closed: nobody waits for an answer any more.
        }
    }
}
