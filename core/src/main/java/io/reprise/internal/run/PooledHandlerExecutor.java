// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.run;

import java.lang.reflect.Method;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Runs handlers in a pool of fixed size, at most one thread per slot of the worker. It uses virtual threads where the
 * JVM has them (21 and later). {@code RepriseBuilder} creates it.
 */
public final class PooledHandlerExecutor implements HandlerExecutor {

    private final ExecutorService pool;

    public PooledHandlerExecutor(String worker, int concurrency) {
        pool = Executors.newFixedThreadPool(concurrency, threads(worker));
    }

    private static ThreadFactory threads(String worker) {
        try {
            // By reflection, because Java 17 has no such methods to compile against.
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            Class<?> type = Class.forName("java.lang.Thread$Builder");
            Method name = type.getMethod("name", String.class, long.class);
            Object named = name.invoke(builder, "reprise-job-" + worker + "-", 1L);
            return (ThreadFactory) type.getMethod("factory").invoke(named);
        } catch (ReflectiveOperationException e) {
            AtomicInteger count = new AtomicInteger();
            return work -> {
                Thread thread = new Thread(work, "reprise-job-" + worker + "-" + count.incrementAndGet());
                thread.setDaemon(true);
                return thread;
            };
        }
    }

    @Override
    public void execute(Runnable work) {
        pool.execute(work);
    }

    @Override
    public void close() {
        pool.shutdownNow();
    }
}
