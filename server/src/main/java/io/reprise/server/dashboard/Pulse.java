// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.dashboard;

import io.reprise.Reprise;
import io.reprise.insight.Activity;
import io.reprise.insight.Alert;
import io.reprise.insight.ResourceStatus;
import io.reprise.job.QueueState;
import io.reprise.job.WaitReason;
import io.reprise.job.WorkerState;
import io.reprise.store.JobStore;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The state of the fleet in sums. It is read from the store at most once a second and at most a tenth of the time,
 * however many look. Thread-safe.
 */
final class Pulse {

    /** Waiting jobs whose reasons are counted. */
    static final int LOOKS = 10_000;

    /** Minutes over which attempts per job are averaged. */
    static final int RECENT = 10;

    private static final long SECOND = 1_000_000_000;

    /** The state of the fleet at one time. */
    record Beat(
            Instant at,
            List<QueueState> queues,
            List<ResourceStatus> resources,
            List<WorkerState> workers,
            List<Alert> alerts,
            Map<WaitReason, Long> waiting,
            Activity minute,
            Activity recent) {}

    private final Reprise reprise;
    private final JobStore store;
    private final ActivityMinutes minutes;
    private final LongSupplier nanos;
    private final ReentrantLock reading = new ReentrantLock();
    private volatile @Nullable Beat last;
    private volatile long nextNanos;

    Pulse(Reprise reprise, JobStore store, ActivityMinutes minutes, LongSupplier nanos) {
        this.reprise = reprise;
        this.store = store;
        this.minutes = minutes;
        this.nanos = nanos;
    }

    /** Returns what was read last, or reads again if that is too old. While one caller reads, others get the last. */
    Beat beat() {
        Beat known = last;
        if (known == null) {
            reading.lock();
        } else if (nanos.getAsLong() - nextNanos < 0 || !reading.tryLock()) {
            return known;
        }
        try {
            // Another caller may have read while this one waited.
            Beat fresh = last;
            return fresh == null || nanos.getAsLong() - nextNanos >= 0 ? readTimed() : fresh;
        } finally {
            reading.unlock();
        }
    }

    private Beat readTimed() {
        long begin = nanos.getAsLong();
        Beat fresh = read();
        long end = nanos.getAsLong();
        nextNanos = end + Math.max(SECOND, 9 * (end - begin));
        last = fresh;
        return fresh;
    }

    private Beat read() {
        List<List<Activity>> recent = List.copyOf(minutes.last(RECENT).values());
        return new Beat(
                store.now(),
                reprise.queues(),
                reprise.resources(),
                reprise.workers(),
                reprise.alerts(),
                store.waiting(LOOKS),
                // The minute that runs has only begun, so the one before it says how fast things go.
                SeriesEndpoints.sum(recent.get(RECENT - 2)),
                SeriesEndpoints.sum(recent.stream().flatMap(List::stream).toList()));
    }
}
