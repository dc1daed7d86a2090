// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.ControlEvent;
import io.reprise.Job;
import io.reprise.JobEvent;
import io.reprise.JobListener;
import io.reprise.JobRequest;
import io.reprise.JobSpec;
import io.reprise.JobState;
import io.reprise.JobType;
import io.reprise.Operations;
import io.reprise.PayloadCodec;
import io.reprise.Reprise;
import io.reprise.ResourceStatus;
import io.reprise.control.ControlSettings;
import io.reprise.store.JobQuery;
import io.reprise.store.JobStore;
import io.reprise.store.Page;
import io.reprise.testkit.history.StoreCalls;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** A worker with threads. Its numbered jobs call a provider that the test puts in trouble. Thread-safe. */
final class TroubledWorker implements AutoCloseable {

    static final String PROVIDER = "provider-a";
    static final int CONCURRENCY = 10;

    /** A worker that is far too slow would need many times as long for the jobs of the tests. */
    private static final Duration PATIENCE = Duration.ofMinutes(10);

    private static final Duration REST = Duration.ofMillis(5);
    private static final JobType<String> CALL = JobType.of("call", String.class);
    private static final int BATCH = 1_000;

    private final Reprise reprise;
    private final int most;
    private final AtomicIntegerArray calls;
    private final AtomicIntegerArray successes;
    /** For each job, how many jobs had succeeded before it. */
    private final AtomicIntegerArray places;
    /** For each job, how many jobs had succeeded when it was enqueued. */
    private final AtomicIntegerArray before;

    private final AtomicInteger enqueued = new AtomicInteger();
    private final AtomicInteger called = new AtomicInteger();
    private final AtomicInteger succeeded = new AtomicInteger();
    private final AtomicInteger refused = new AtomicInteger();
    private final AtomicInteger refusedBeforeOpen = new AtomicInteger(-1);
    private final AtomicInteger dead = new AtomicInteger();
    private final Map<ControlEvent.Kind, AtomicInteger> told = new ConcurrentHashMap<>();
    private volatile Failing failing = run -> null;

    /** Returns the exception of a call; null if it succeeds. */
    @FunctionalInterface
    interface Failing {
        @Nullable
        Exception failure(int run);
    }

    /**
     * Starts the worker.
     *
     * @param store stays open
     * @param most maximum number of jobs
     */
    TroubledWorker(JobStore store, ControlSettings control, int most) {
        this.most = most;
        this.calls = new AtomicIntegerArray(most);
        this.successes = new AtomicIntegerArray(most);
        this.places = new AtomicIntegerArray(most);
        this.before = new AtomicIntegerArray(most);
        this.reprise = Reprise.builder()
                .store(keptOpen(store))
                .codec(new NumberCodec())
                .control(control)
                .concurrency(CONCURRENCY)
                .handle(CALL, (payload, job) -> call(Integer.parseInt(payload)))
                .listener(new Ears())
                .start();
    }

    private static JobStore keptOpen(JobStore store) {
        return StoreCalls.before(store, call -> call.method().equals("close") ? null : call.proceed());
    }

    private void call(int number) throws Exception {
        called.incrementAndGet();
        Exception failure = failing.failure(calls.incrementAndGet(number));
        if (failure != null) {
            refused.incrementAndGet();
            throw failure;
        }
        successes.incrementAndGet(number);
        places.set(number, succeeded.getAndIncrement());
    }

    /** Makes calls that begin from now on fail in this way. */
    void fail(Failing how) {
        failAfter(0, how);
    }

    /**
     * Makes calls fail as soon as this many jobs have succeeded. The handlers check it: a watching thread could be
     * late and find no job left.
     */
    void failAfter(int successes, Failing how) {
        refused.set(0);
        failing = run -> succeeded() >= successes ? how.failure(run) : null;
    }

    void work() {
        failing = run -> null;
    }

    /** Lets calls of this length succeed, but the first ones wait until {@code inTheMiddle} has run. */
    void workAfter(Runnable inTheMiddle, Duration length) {
        CompletableFuture<Void> ready = new CompletableFuture<>();
        AtomicInteger waiting = new AtomicInteger();
        failing = run -> {
            waiting.incrementAndGet();
            ready.join();
            return null;
        };
        until("a call that will succeed", () -> waiting.get() > 0);
        inTheMiddle.run();
        failing = run -> {
            last(length);
            return null;
        };
        ready.complete(null);
    }

    private static void last(Duration length) {
        long end = System.nanoTime() + length.toNanos();
        for (long left = length.toNanos(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    /** Enqueues jobs and lets none of them run before all are stored. */
    void backlog(int jobs, @Nullable String resource) {
        Operations operations = reprise.as("test", null);
        operations.pause(JobSpec.DEFAULT_QUEUE);
        enqueue(jobs, resource);
        operations.resume(JobSpec.DEFAULT_QUEUE);
    }

    /** Enqueues jobs. Returns the number of the first. */
    synchronized int enqueue(int jobs, @Nullable String resource) {
        int first = enqueued.get();
        assertThat(first + jobs).as("jobs").isLessThanOrEqualTo(most);
        for (int from = first; from < first + jobs; from += BATCH) {
            List<JobRequest<String>> batch = new ArrayList<>();
            for (int number = from; number < Math.min(from + BATCH, first + jobs); number++) {
                before.set(number, succeeded());
                JobRequest<String> job = CALL.job(Integer.toString(number));
                batch.add(resource == null ? job : job.resource(resource));
            }
            reprise.enqueueAll(batch);
            enqueued.addAndGet(batch.size());
        }
        return first;
    }

    int enqueued() {
        return enqueued.get();
    }

    int succeeded() {
        return succeeded.get();
    }

    int calls() {
        return called.get();
    }

    /** Returns the calls that failed since the trouble began. */
    int refused() {
        return refused.get();
    }

    /** Returns the calls that had failed when the worker published that the breaker is open. */
    int refusedBeforeOpen() {
        return refusedBeforeOpen.get();
    }

    /**
     * Returns how many other jobs succeeded while the median job waited. It covers jobs from {@code first} on that were
     * enqueued before {@code until} successes.
     */
    int medianWait(int first, int until) {
        int[] waits = IntStream.range(first, enqueued())
                .filter(number -> before.get(number) < until)
                .map(number -> places.get(number) - before.get(number))
                .sorted()
                .toArray();
        return waits[waits.length / 2];
    }

    int runs(int number) {
        return calls.get(number);
    }

    int told(ControlEvent.Kind kind) {
        return told.computeIfAbsent(kind, any -> new AtomicInteger()).get();
    }

    ResourceStatus provider() {
        return reprise.resources().stream()
                .filter(resource -> resource.name().equals(PROVIDER))
                .findFirst()
                .orElseThrow(() -> new AssertionError("nothing is known of " + PROVIDER));
    }

    long parked() {
        return provider().parked();
    }

    /** Waits until the condition holds. Fails with the present state if that takes far too long. */
    void until(String what, BooleanSupplier condition) {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end > 0 || Thread.currentThread().isInterrupted()) {
                throw new AssertionError("Waited for " + what + ": " + succeeded + " of " + enqueued
                        + " jobs have succeeded, " + called + " calls, " + reprise.resources());
            }
            LockSupport.parkNanos(REST.toNanos());
        }
    }

    /** Waits until every job has succeeded and every outcome is stored. */
    void untilDone() {
        until("all jobs to succeed", () -> succeeded() >= enqueued());
        until("every outcome to be stored", () -> count(JobState.PENDING) + count(JobState.RUNNING) == 0);
    }

    long count(JobState state) {
        return reprise.queues().stream().mapToLong(queue -> queue.count(state)).sum();
    }

    /** Fails unless each job succeeded once and none was given up. */
    void requireEachSucceededOnce() {
        assertThat(dead.get()).as("jobs given up").isZero();
        assertThat(count(JobState.SUCCEEDED))
                .as("jobs that succeeded, in the store")
                .isEqualTo(enqueued());
        for (int number = 0; number < enqueued(); number++) {
            assertThat(successes.get(number)).as("successes of job %s", number).isEqualTo(1);
        }
    }

    /** Returns the attempts that failures cost, over all jobs. */
    int spent() {
        int spent = 0;
        Page<Job> page = reprise.find(JobQuery.all().limit(JobQuery.MAX_LIMIT));
        while (true) {
            for (Job job : page.items()) {
                spent += job.attempts() - 1;
            }
            String next = page.next();
            if (next == null) {
                return spent;
            }
            page = reprise.find(JobQuery.all().limit(JobQuery.MAX_LIMIT).after(next));
        }
    }

    @Override
    public String toString() {
        return reprise.resources().toString();
    }

    @Override
    public void close() {
        failing = run -> null;
        reprise.close();
    }

    private final class Ears implements JobListener {

        @Override
        public void onEvent(JobEvent event) {
            if (event.kind() == JobEvent.Kind.FAILED) {
                dead.incrementAndGet();
            }
        }

        @Override
        public void onControl(ControlEvent event) {
            if (event.kind() == ControlEvent.Kind.BREAKER_OPENED) {
                refusedBeforeOpen.compareAndSet(-1, refused.get());
            }
            told.computeIfAbsent(event.kind(), any -> new AtomicInteger()).incrementAndGet();
        }
    }

    /** Encodes payloads that are numbers, as texts. */
    private static final class NumberCodec implements PayloadCodec {
        @Override
        public String encode(Object value) {
            return value.toString();
        }

        @Override
        public <T> T decode(String json, Class<T> type) {
            return type.cast(json);
        }
    }
}
