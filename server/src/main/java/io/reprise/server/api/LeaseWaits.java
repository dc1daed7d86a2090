// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import io.reprise.server.http.Answer;
import io.reprise.server.http.Problem;
import io.reprise.server.http.ProblemType;
import io.reprise.server.http.Request;
import io.reprise.server.http.Response;
import io.reprise.store.JobStore;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Lets requests wait without a thread for each. A few threads check again and again, less and less often, or when
 * the store announces work.
 */
public final class LeaseWaits implements AutoCloseable {

    private static final int THREADS = 4;
    private static final int MAX_WAITING = 1_000;
    /** Two callers that take all they can leave a quarter to the others. */
    private static final int MAX_OF_ONE = 375;

    private static final long FIRST_MILLIS = 10;
    private static final long LAST_MILLIS = 250;

    /** Checks whether there is an answer. */
    public interface Look {

        /** Returns null if there is no answer yet. The last check must return an answer. */
        @Nullable
        Response look(boolean last);
    }

    private final ScheduledThreadPoolExecutor threads;
    private final FairQueue turns;
    private final WaitingLines lines;
    private final JobStore store;
    private final Runnable waker;
    private final Map<String, Integer> waiting = new HashMap<>();
    private int size;
    private volatile boolean finishing;

    public LeaseWaits(JobStore store) {
        this(store, Duration.ofMillis(LAST_MILLIS));
    }

    /**
     * Creates the waiting of requests on this store.
     *
     * @param poll how often requests check that the store can also wake
     */
    public LeaseWaits(JobStore store, Duration poll) {
        threads = new ScheduledThreadPoolExecutor(THREADS, work -> {
            Thread thread = new Thread(work, "reprise-waiting");
            thread.setDaemon(true);
            return thread;
        });
        threads.setRemoveOnCancelPolicy(true);
        this.turns = new FairQueue(threads);
        this.lines = new WaitingLines(threads, turns, poll);
        this.store = store;
        this.waker = lines::wake;
        store.onWake(waker);
    }

    /** Checks at once, and again until there is an answer, the time is up, or the client has gone. */
    Answer until(Request request, Duration limit, Look look) {
        Look living = living(request, look);
        Response first = living.look(limit.isZero() || limit.isNegative());
        return first == null ? wait(request.caller().owner(), limit, living) : first;
    }

    /** Waits until the store announces work. Of several requests with the same wish, one checks for all. */
    public Answer forWork(Request request, Duration limit, Object leaseRequest, Look look) {
        Look living = living(request, look);
        Response first = living.look(limit.isZero() || limit.isNegative());
        if (first != null) {
            return first;
        }
        String who = request.caller().owner();
        enter(who);
        CompletableFuture<Response> answer = lines.wait(who, leaseRequest, limit, living, request::isAbandoned);
        CompletableFuture<Response> unused = answer.whenComplete((response, failure) -> leave(who));
        return new Answer.Later(answer);
    }

    private static Look living(Request request, Look look) {
        return last -> {
            if (request.isAbandoned()) {
                throw Problem.of(ProblemType.INVALID_REQUEST, "The client has closed its connection");
            }
            return look.look(last);
        };
    }

    private Answer wait(String who, Duration limit, Look look) {
        enter(who);
        CompletableFuture<Response> answer = new CompletableFuture<>();
        CompletableFuture<Response> unused = answer.whenComplete((response, failure) -> leave(who));
        again(who, answer, look, System.nanoTime() + limit.toNanos(), FIRST_MILLIS);
        return new Answer.Later(answer);
    }

    private synchronized void enter(String who) {
        if (waiting.getOrDefault(who, 0) >= MAX_OF_ONE) {
            throw Problem.of(
                            ProblemType.TOO_MANY_REQUESTS,
                            MAX_OF_ONE + " requests of yours wait already: take several jobs with one")
                    .header("Retry-After", "1");
        }
        if (size >= MAX_WAITING) {
            throw Problem.of(ProblemType.UNAVAILABLE, "Too many requests wait already")
                    .header("Retry-After", "1");
        }
        waiting.merge(who, 1, Integer::sum);
        size++;
    }

    private synchronized void leave(String who) {
        waiting.computeIfPresent(who, (name, requests) -> requests == 1 ? null : requests - 1);
        size--;
    }

    private void again(String who, CompletableFuture<Response> answer, Look look, long untilNanos, long pauseMillis) {
        long leftMillis = TimeUnit.NANOSECONDS.toMillis(untilNanos - System.nanoTime());
        long pause = Math.max(0, Math.min(pauseMillis, leftMillis));
        Future<?> unused = threads.schedule(
                () -> turns.add(who, () -> look(who, answer, look, untilNanos, pauseMillis)),
                pause,
                TimeUnit.MILLISECONDS);
    }

    private void look(String who, CompletableFuture<Response> answer, Look look, long untilNanos, long pauseMillis) {
        try {
            boolean last = finishing || System.nanoTime() - untilNanos >= 0;
            Response response = look.look(last);
            if (response != null) {
                answer.complete(response);
            } else {
                again(who, answer, look, untilNanos, Math.min(2 * pauseMillis, LAST_MILLIS));
            }
        } catch (RuntimeException e) {
            answer.completeExceptionally(e);
        }
    }

    /** Requests that wait. */
    public synchronized int size() {
        return size;
    }

    /** Answers all waiting requests with what there is. */
    public void finish() {
        finishing = true;
        lines.finish();
    }

    @Override
    public void close() {
        store.offWake(waker);
        threads.shutdownNow();
    }
}
