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
 * Requests that wait for the same thing stand in one line, and only the first of a line looks: when the store says that there
 * may be work, and now and then, for what the store does not tell, such as jobs that become due. Who finds something
 * leaves, and the next one looks. So what waiting costs depends on how many lines there are, not on how many wait. Thread-safe.
 */
final class WaitingLines {

    /** Between two looks of one line that found nothing; more if there are many lines. */
    private static final Duration REST = Duration.ofMillis(5);

    private static final Duration REST_PER_LINE = Duration.ofMillis(2);

    /** One request. */
    private static final class Waiter {
        private final Object wish;
        private final Waiting.Look look;
        private final BooleanSupplier isGone;
        private final CompletableFuture<Response> answer = new CompletableFuture<>();
        /** Whether its time was up while it looked. */
        private boolean late;

        Waiter(Object wish, Waiting.Look look, BooleanSupplier isGone) {
            this.wish = wish;
            this.look = look;
            this.isGone = isGone;
        }
    }

    /** Those who wait for the same. */
    private static final class Line {
        private final Deque<Waiter> waiters = new ArrayDeque<>();
        private boolean busy;
        private boolean again;
        private long restUntil = System.nanoTime();
    }

    private final ScheduledExecutorService threads;
    private final Map<Object, Line> lines = new HashMap<>();

    /**
     * Lines without anybody.
     *
     * @param poll how often each line looks although nobody said that there is work
     */
    WaitingLines(ScheduledExecutorService threads, Duration poll) {
        this.threads = threads;
        Future<?> unused =
                threads.scheduleWithFixedDelay(this::poll, poll.toNanos(), poll.toNanos(), TimeUnit.NANOSECONDS);
    }

    /**
     * Waits in the line of those with the same wish, at the end.
     *
     * @param isGone whether nobody wants the answer any more
     */
    CompletableFuture<Response> wait(Object wish, Duration limit, Waiting.Look look, BooleanSupplier isGone) {
        Waiter waiter = new Waiter(wish, look, isGone);
        synchronized (this) {
            Line line = lines.computeIfAbsent(wish, key -> new Line());
            line.waiters.addLast(waiter);
            // What came between its own look and now was announced to nobody.
            wake(line);
        }
        Future<?> expiry = threads.schedule(() -> expire(waiter), limit.toNanos(), TimeUnit.NANOSECONDS);
        CompletableFuture<Response> unused = waiter.answer.whenComplete((response, failure) -> expiry.cancel(false));
        return waiter.answer;
    }

    /** There may be work. Returns at once. */
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

    /** Everybody is answered with what there is. */
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

    /** Puts one back that found nothing; whether another is to look at once. */
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

    /** Its time is up. One that is looking just now is answered after that. */
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
            // Closed meanwhile: nobody waits for an answer any more.
        }
    }
}
