// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.faults;

import io.reprise.JobId;
import io.reprise.JobRequest;
import io.reprise.JobState;
import io.reprise.Reprise;
import io.reprise.store.StoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A client that enqueues, and remembers what it was told. Thread-safe. */
public final class Load {

    private final Reprise client;
    private final Tempo tempo;
    private final List<CompletableFuture<Void>> threads = new ArrayList<>();
    private final AtomicInteger acknowledged = new AtomicInteger();
    private final AtomicInteger unknown = new AtomicInteger();
    private final AtomicInteger insisted = new AtomicInteger();
    private volatile @Nullable StoreException refusal;
    private volatile boolean running;
    private volatile boolean abandoned;

    Load(Reprise client, Tempo tempo) {
        this.client = client;
        this.tempo = tempo;
    }

    /** Jobs whose enqueue may or may not have happened are not counted on, but must not be half there either. */
    public boolean enqueue(List<JobRequest<String>> jobs) {
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

    /** Enqueues one job again and again under one key until it is acknowledged: it must be there once. */
    public JobId insist(Work work) {
        String key = key(insisted.getAndIncrement());
        while (!abandoned) {
            try {
                JobId id = client.enqueue(work.job().idempotencyKey(key));
                acknowledged.incrementAndGet();
                return id;
            } catch (StoreException e) {
                refusal = e;
            }
        }
        throw new CancellationException("The run was given up");
    }

    private static String key(int n) {
        return String.format("once-%08d", n);
    }

    /** Enqueues as fast as the jobs are done, from now on until the end: batches, and single jobs. */
    public void start() {
        start(Work::mixture);
    }

    /** The same with these batches. */
    public void start(Supplier<List<JobRequest<String>>> batches) {
        running = true;
        threads.add(inThread(() -> enqueue(batches.get())));
        threads.add(inThread(() -> insist(Work.QUICK)));
    }

    private CompletableFuture<Void> inThread(Runnable step) {
        return CompletableFuture.runAsync(() -> whileRunning(step), task -> new Thread(task, "load").start());
    }

    private void whileRunning(Runnable step) {
        while (running) {
            if (count(JobState.PENDING, JobState.RUNNING) < tempo.backlog()) {
                step.run();
            } else {
                LockSupport.parkNanos(tempo.rest().dividedBy(2).toNanos());
            }
        }
    }

    /** Nothing that waits for its jobs would ever see them. */
    void requireSound() {
        for (CompletableFuture<Void> thread : threads) {
            if (thread.isCompletedExceptionally()) {
                thread.join();
            }
        }
    }

    /** Ends when all is acknowledged. Fails with what the client was not prepared for, if anything. */
    void stop() {
        running = false;
        try {
            CompletableFuture.allOf(threads.toArray(CompletableFuture<?>[]::new))
                    .get();
        } catch (ExecutionException e) {
            throw new AssertionError("what the client was not prepared for", e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("Waited in vain for the client", e);
        }
    }

    /** Ends as soon as its calls do, whether all is acknowledged or not. */
    void abandon() {
        abandoned = true;
        running = false;
    }

    /** How many jobs are in these states, or -1 if the store does not say. */
    public long count(JobState... states) {
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

    /** Jobs whose enqueue failed, and may have happened or not. */
    public int unknown() {
        return unknown.get();
    }

    /** Keys of the jobs that were enqueued until they were acknowledged. */
    List<String> keys() {
        return IntStream.range(0, insisted.get()).mapToObj(Load::key).toList();
    }

    /** Why an enqueue failed last. */
    public StoreException refusal() {
        return Objects.requireNonNull(refusal, "nothing was refused");
    }
}
