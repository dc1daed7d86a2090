// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import io.reprise.server.http.Answer;
import io.reprise.server.http.Problem;
import io.reprise.server.http.ProblemType;
import io.reprise.server.http.Response;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Answers that wait for something, without a thread for each: a few threads look again and again, less and less often. */
final class Waiting implements AutoCloseable {

    private static final int THREADS = 4;
    private static final int MAX_WAITING = 1_000;
    private static final long FIRST_MILLIS = 10;
    private static final long LAST_MILLIS = 250;

    /** Looks whether there is an answer. */
    interface Look {

        /** Null if there is none yet; never if it is the last look. */
        @Nullable
        Response look(boolean last);
    }

    private final ScheduledThreadPoolExecutor threads;
    private final AtomicInteger waiting = new AtomicInteger();
    private volatile boolean finishing;

    Waiting() {
        threads = new ScheduledThreadPoolExecutor(THREADS, work -> {
            Thread thread = new Thread(work, "reprise-waiting");
            thread.setDaemon(true);
            return thread;
        });
        threads.setRemoveOnCancelPolicy(true);
    }

    /** Looks at once, and again until there is an answer or the time is up. */
    Answer until(Duration limit, Look look) {
        Response first = look.look(limit.isZero() || limit.isNegative());
        if (first != null) {
            return first;
        }
        if (waiting.incrementAndGet() > MAX_WAITING) {
            waiting.decrementAndGet();
            throw Problem.of(ProblemType.UNAVAILABLE, "Too many requests wait already")
                    .header("Retry-After", "1");
        }
        CompletableFuture<Response> answer = new CompletableFuture<>();
        CompletableFuture<Response> unused = answer.whenComplete((response, failure) -> waiting.decrementAndGet());
        again(answer, look, System.nanoTime() + limit.toNanos(), FIRST_MILLIS);
        return new Answer.Later(answer);
    }

    private void again(CompletableFuture<Response> answer, Look look, long untilNanos, long pauseMillis) {
        long leftMillis = TimeUnit.NANOSECONDS.toMillis(untilNanos - System.nanoTime());
        long pause = Math.max(0, Math.min(pauseMillis, leftMillis));
        Future<?> unused = threads.schedule(
                () -> {
                    try {
                        boolean last = finishing || System.nanoTime() - untilNanos >= 0;
                        Response response = look.look(last);
                        if (response != null) {
                            answer.complete(response);
                        } else {
                            again(answer, look, untilNanos, Math.min(2 * pauseMillis, LAST_MILLIS));
                        }
                    } catch (RuntimeException e) {
                        answer.completeExceptionally(e);
                    }
                },
                pause,
                TimeUnit.MILLISECONDS);
    }

    /** Whoever waits is answered with what there is. */
    void finish() {
        finishing = true;
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
