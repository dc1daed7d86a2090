// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.upkeep;

import io.reprise.JobRequest;
import io.reprise.JobType;
import io.reprise.Queue;
import io.reprise.Reprise;
import io.reprise.benchmarks.measure.Target;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;

/** Jobs that arrive at a steady rate and are run, beside upkeep that must not disturb them. */
final class Foreground implements AutoCloseable {

    private static final JobType<String> LIVE = JobType.of("live", String.class);
    private static final int RATE = 2_000;
    private static final int BATCH = 20;

    private final Reprise client;
    private final Reprise worker;
    private final Thread feeder = new Thread(this::feed, "foreground");
    private final ConcurrentLinkedQueue<Long> waits = new ConcurrentLinkedQueue<>();
    private volatile boolean stopped;

    Foreground(Target target) {
        client = UpkeepWorkload.reprise(target).start();
        worker = UpkeepWorkload.reprise(target)
                .queues(Queue.of("live"))
                .handle(LIVE, (sent, job) -> waits.add(System.nanoTime() - Long.parseLong(sent)))
                .start();
        feeder.setDaemon(true);
        feeder.start();
    }

    private void feed() {
        long next = System.nanoTime();
        while (!stopped) {
            JobRequest<String> job = LIVE.job(Long.toString(System.nanoTime())).queue("live");
            client.enqueueAll(Collections.nCopies(BATCH, job));
            next += BATCH * 1_000_000_000L / RATE;
            // Jobs missed during a stall do not arrive as a burst; the rate shows the stall.
            next = Math.max(next, System.nanoTime() - 1_000_000_000L);
            LockSupport.parkNanos(Math.max(0, next - System.nanoTime()));
        }
    }

    /** The rate and latency since the last call. */
    record Window(double rate, double p99Millis) {}

    /** Resets the measurement. */
    long begin() {
        waits.clear();
        return System.nanoTime();
    }

    Window end(long began) {
        List<Long> seen = new ArrayList<>(waits);
        Collections.sort(seen);
        double p99 = seen.isEmpty() ? Double.NaN : seen.get(seen.size() * 99 / 100) / 1e6;
        return new Window(seen.size() * 1e9 / (System.nanoTime() - began), p99);
    }

    Window during(long nanos) {
        long began = begin();
        LockSupport.parkNanos(nanos);
        return end(began);
    }

    @Override
    public void close() {
        stopped = true;
        try {
            feeder.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        worker.close();
        client.close();
    }
}
