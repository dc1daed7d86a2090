// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.faults;

import io.reprise.JobRequest;
import io.reprise.JobState;
import io.reprise.Reprise;
import io.reprise.store.StoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A client that enqueues, and remembers what it was told. Thread-safe. */
final class Load {

    private static final int BACKLOG = 100;

    private final Reprise client;
    private final List<CompletableFuture<Void>> threads = new ArrayList<>();
    private final AtomicInteger acknowledged = new AtomicInteger();
    private final AtomicInteger unknown = new AtomicInteger();
    private final AtomicInteger insisted = new AtomicInteger();
    private volatile @Nullable StoreException refusal;
    private volatile boolean running;
    private volatile boolean abandoned;

    Load(Reprise client) {
        this.client = client;
    }

    /** Jobs whose enqueue may or may not have happened are not counted on, but must not be half there either. */
    boolean enqueue(List<JobRequest<String>> jobs) {
        try {
            client.enqueueAll(jobs);
            acknowledged.addAndGet(jobs.size());
            return true;
        } catch (StoreException e) {
            unknown.addAndGet(jobs.size());
            refusal = e;
            return false;
        }
    }

    boolean enqueue(Work work, int jobs) {
        return enqueue(Stream.generate(work::job).limit(jobs).toList());
    }

    /** Enqueues one job again and again under one key until it is acknowledged: it must be there once. */
    private void insist() {
        String key = key(insisted.getAndIncrement());
        boolean stored = false;
        while (!stored && !abandoned) {
            try {
                client.enqueue(Work.QUICK.job().idempotencyKey(key));
                stored = true;
            } catch (StoreException e) {
                refusal = e;
            }
        }
        acknowledged.incrementAndGet();
    }

    private static String key(int n) {
        return String.format("once-%08d", n);
    }

    /** Enqueues as fast as the jobs are done, from now on until the end: batches, and single jobs. */
    void start() {
        running = true;
        threads.add(inThread(() -> enqueue(Work.mixture())));
        threads.add(inThread(this::insist));
    }

    private CompletableFuture<Void> inThread(Runnable step) {
        return CompletableFuture.runAsync(() -> whileRunning(step), task -> new Thread(task, "load").start());
    }

    private void whileRunning(Runnable step) {
        while (running) {
            if (count(JobState.PENDING, JobState.RUNNING) < BACKLOG) {
                step.run();
            } else {
                LockSupport.parkNanos(Duration.ofMillis(10).toNanos());
            }
        }
    }

    /** Ends when all is acknowledged. Returns what the client was not prepared for, if anything. */
    @Nullable
    Throwable stop() {
        running = false;
        return CompletableFuture.allOf(threads.toArray(CompletableFuture<?>[]::new))
                .handle((done, failure) -> failure)
                .join();
    }

    /** Ends, whether all is acknowledged or not. */
    void abandon() {
        abandoned = true;
        stop();
    }

    /** How many jobs are in these states, or -1 if the store does not say. */
    long count(JobState... states) {
        try {
            return client.queues().stream()
                    .mapToLong(
                            queue -> Stream.of(states).mapToLong(queue::count).sum())
                    .sum();
        } catch (StoreException e) {
            return -1;
        }
    }

    int acknowledged() {
        return acknowledged.get();
    }

    int unknown() {
        return unknown.get();
    }

    /** Keys of the jobs that were enqueued until they were acknowledged. */
    List<String> keys() {
        return IntStream.range(0, insisted.get()).mapToObj(Load::key).toList();
    }

    /** Why an enqueue failed last. */
    StoreException refusal() {
        return Objects.requireNonNull(refusal, "nothing was refused");
    }
}
