// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.faults;

import io.reprise.JobRequest;
import io.reprise.Reprise;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
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

/** A client that enqueues, and remembers the answers. Thread-safe. */
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

    /**
     * Enqueues jobs. If the call fails, it may have happened or not: the jobs are not expected, but
     * must not be stored in part.
     */
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

    /** Enqueues one job repeatedly under one key until it is acknowledged. It must be stored once. */
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

    /** Enqueues as fast as jobs are done, until the end: batches and single jobs. */
    public void start() {
        start(Work::mixture);
    }

    /** Enqueues these batches as fast as jobs are done, until the end. */
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

    /** Fails if a thread of the load has failed: nobody would see its jobs. */
    void requireSound() {
        for (CompletableFuture<Void> thread : threads) {
            if (thread.isCompletedExceptionally()) {
                thread.join();
            }
        }
    }

    /** Ends when all jobs are acknowledged. Fails with an unexpected exception of the client, if there was one. */
    void stop() {
        running = false;
        try {
            CompletableFuture.allOf(threads.toArray(CompletableFuture<?>[]::new))
                    .get();
        } catch (ExecutionException e) {
            throw new AssertionError("what the client was not prepared for", e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("Waited too long for the client", e);
        }
    }

    /** Ends as soon as its calls end, whether or not all jobs are acknowledged. */
    void abandon() {
        abandoned = true;
        running = false;
    }

    /** Returns how many jobs are in these states, or -1 if the store does not answer. */
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

    /** Returns the jobs whose enqueue failed and may have happened or not. */
    public int unknown() {
        return unknown.get();
    }

    /** Returns the keys of the jobs that were enqueued until they were acknowledged. */
    List<String> keys() {
        return IntStream.range(0, insisted.get()).mapToObj(Load::key).toList();
    }

    /** Returns the last failure of an enqueue. */
    public StoreException refusal() {
        return Objects.requireNonNull(refusal, "nothing was refused");
    }
}
