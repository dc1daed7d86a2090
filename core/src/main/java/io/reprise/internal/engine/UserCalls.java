// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.engine;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Calls code of the user on daemon threads of its own, so that the caller goes on if a call never returns. Threads exist
 * only while they are used. Calls that do not return keep theirs; once there are too many, each further call fails at
 * once. Thread-safe.
 */
final class UserCalls {

    private static final int MAX_THREADS = 256;
    private static final int IDLE_SECONDS = 10;

    private final ThreadPoolExecutor threads;

    UserCalls(String owner) {
        threads = new ThreadPoolExecutor(
                0, MAX_THREADS, IDLE_SECONDS, TimeUnit.SECONDS, new SynchronousQueue<>(), code -> {
                    Thread thread = new Thread(code, "reprise-call-" + owner);
                    thread.setDaemon(true);
                    return thread;
                });
    }

    /**
     * Waits for the value, also if the thread of the caller is interrupted: the wait is short.
     *
     * @throws TimeoutException if there is no value after the limit. The call is interrupted then
     */
    <T> T call(Callable<T> code, Duration limit) throws Exception {
        Future<T> future = begin(code);
        long end = System.nanoTime() + limit.toNanos();
        boolean interrupted = Thread.interrupted();
        try {
            while (true) {
                try {
                    return future.get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } catch (ExecutionException e) {
            throw thrown(Objects.requireNonNull(e.getCause()));
        } catch (TimeoutException e) {
            future.cancel(true);
            throw new TimeoutException("No answer within " + limit);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private <T> Future<T> begin(Callable<T> code) throws TimeoutException {
        try {
            return threads.submit(code);
        } catch (RejectedExecutionException e) {
            throw new TimeoutException(MAX_THREADS + " earlier calls have not returned yet");
        }
    }

    private static Exception thrown(Throwable cause) {
        if (cause instanceof Error error) {
            throw error;
        }
        return (Exception) cause;
    }
}
