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
 * Requests of remote workers that wait for jobs. Requests of one owner for the same jobs stand in one line. Only the
 * first request of a line asks the store: when the store says that there may be work, and in intervals, because the
 * store does not tell when a job becomes due. A request that finds jobs leaves the line, and the next one asks. So the
 * cost depends on the number of lines, not on the number of requests. Owners take turns: an owner with many lines asks
 * less often for each of them, and takes nothing from other owners. Thread-safe.
 */
final class WaitingLines {

    /** Shortest time between two looks of a line. It is longer if the owner has many lines or there are many owners. */
    private static final Duration REST = Duration.ofMillis(5);

    /** Added for each line of the owner and for each owner. So there is one look every two milliseconds in all. */
    private static final Duration REST_PER_LINE = Duration.ofMillis(2);

    /** One request. */
    private static final class Waiter {
        private final Line line;
        private final LeaseWaits.Look look;
        private final BooleanSupplier isGone;
        private final CompletableFuture<Response> answer = new CompletableFuture<>();
        /** Whether its time was up while it checked. */
        private boolean late;

        Waiter(Line line, LeaseWaits.Look look, BooleanSupplier isGone) {
            this.line = line;
            this.look = look;
            this.isGone = isGone;
        }
    }

    /** The thing that requests wait for, and the owner of these requests. */
    private record LeaseRequest(String owner, Object what) {}

    /** Those who wait for the same. */
    private static final class Line {
        private final LeaseRequest leaseRequest;
        private final Deque<Waiter> waiters = new ArrayDeque<>();
        private boolean busy;
        private boolean again;
        private long restUntil = System.nanoTime();

        Line(LeaseRequest leaseRequest) {
            this.leaseRequest = leaseRequest;
        }
    }

    private final ScheduledExecutorService threads;
    private final FairQueue turns;
    private final Map<LeaseRequest, Line> lines = new HashMap<>();
    private final Map<String, Integer> linesOf = new HashMap<>();
    private boolean finished;

    /**
     * Creates the lines, all empty.
     *
     * @param threads for what waits for its time
     * @param turns for what looks
     * @param poll how often each line looks although nobody said that there is work
     */
    WaitingLines(ScheduledExecutorService threads, FairQueue turns, Duration poll) {
        this.threads = threads;
        this.turns = turns;
        Future<?> unused =
                threads.scheduleWithFixedDelay(this::poll, poll.toNanos(), poll.toNanos(), TimeUnit.NANOSECONDS);
    }

    /**
     * Waits at the end of the owner's line for these jobs.
     *
     * @param isGone whether the client no longer wants the answer
     */
    CompletableFuture<Response> wait(
            String owner, Object what, Duration limit, LeaseWaits.Look look, BooleanSupplier isGone) {
        Waiter waiter;
        synchronized (this) {
            Line line = lines.computeIfAbsent(new LeaseRequest(owner, what), this::open);
            waiter = new Waiter(line, look, isGone);
            line.waiters.addLast(waiter);
            // Work that came between the caller's own check and this moment was not announced to this line.
            wake(line);
        }
        Future<?> expiry = threads.schedule(() -> expire(waiter), limit.toNanos(), TimeUnit.NANOSECONDS);
        CompletableFuture<Response> unused = waiter.answer.whenComplete((response, failure) -> expiry.cancel(false));
        return waiter.answer;
    }

    private Line open(LeaseRequest leaseRequest) {
        linesOf.merge(leaseRequest.owner, 1, Integer::sum);
        return new Line(leaseRequest);
    }

    private void close(Line line) {
        lines.remove(line.leaseRequest);
        linesOf.computeIfPresent(line.leaseRequest.owner, (owner, number) -> number == 1 ? null : number - 1);
    }

    /** There may be work. Returns at once. */
    synchronized void wake() {
        lines.values().forEach(this::wake);
    }

    private void poll() {
        gone().forEach(this::last);
        wake();
    }

    private synchronized List<Waiter> gone() {
        List<Waiter> gone = new ArrayList<>();
        for (Line line : lines.values()) {
            line.waiters.removeIf(waiter -> waiter.isGone.getAsBoolean() && gone.add(waiter));
        }
        return gone;
    }

    /** Answers all waiting requests with what there is. From now on no request waits. */
    void finish() {
        List<Waiter> all = new ArrayList<>();
        synchronized (this) {
            // A request that looks right now stands in no line. It is answered after its look.
            finished = true;
            lines.values().forEach(line -> all.addAll(line.waiters));
        }
        all.forEach(waiter -> schedule(() -> expire(waiter), 0));
    }

    private void wake(Line line) {
        if (line.busy) {
            line.again = true;
        } else {
            line.busy = true;
            schedule(() -> turn(line), line.restUntil - System.nanoTime());
        }
    }

    private void turn(Line line) {
        turns.add(line.leaseRequest.owner, () -> serve(line));
    }

    /** One look. If it was worth it, the next of the line looks when it is the owner's turn again. */
    private void serve(Line line) {
        Waiter first = next(line);
        if (first == null) {
            return;
        }
        try {
            Response found = first.look.look(false);
            if (found != null) {
                first.answer.complete(found);
            }
        } catch (RuntimeException e) {
            first.answer.completeExceptionally(e);
        }
        if (first.answer.isDone() || goesOn(line, first)) {
            turn(line);
        }
    }

    private synchronized @Nullable Waiter next(Line line) {
        line.again = false;
        Waiter first = line.waiters.pollFirst();
        if (first == null) {
            line.busy = false;
            close(line);
        }
        return first;
    }

    /** Puts a request back that found nothing. Returns whether another must check at once. */
    private boolean goesOn(Line line, Waiter first) {
        synchronized (this) {
            if (!first.late && !finished) {
                line.waiters.addFirst(first);
                Duration rest = REST_PER_LINE.multipliedBy(
                        (long) linesOf.getOrDefault(line.leaseRequest.owner, 1) * linesOf.size());
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
            if (!waiter.line.waiters.remove(waiter)) {
                waiter.late = true;
                return;
            }
        }
        last(waiter);
    }

    private void last(Waiter waiter) {
        turns.add(waiter.line.leaseRequest.owner, () -> {
            try {
                waiter.answer.complete(waiter.look.look(true));
            } catch (RuntimeException e) {
                waiter.answer.completeExceptionally(e);
            }
        });
    }

    private void schedule(Runnable work, long nanos) {
        try {
            Future<?> unused = threads.schedule(work, Math.max(0, nanos), TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) {
            // Closed: nobody waits for an answer any more.
        }
    }
}
