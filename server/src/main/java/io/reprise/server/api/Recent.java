// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import io.reprise.store.StoreException;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * An answer that many ask for and that may take long to read. What was read is kept for nine times as long as the read
 * took, so that reading takes a tenth of the time at most, however many ask. Thread-safe.
 */
public final class Recent<T> {

    /** A read that takes less is not worth keeping. */
    private static final long QUICK_NANOS = 50_000_000;

    private static final int REST = 9;

    private final Supplier<T> reader;
    private final long leastNanos;
    private final LongSupplier nanos;
    private final ReentrantLock reading = new ReentrantLock();
    private volatile @Nullable T last;
    private volatile long tookNanos;
    private volatile long nextNanos;

    /**
     * Creates an answer that was not read yet.
     *
     * @param least how long an answer is kept in any case; if zero, one that is read quickly is never kept
     */
    public Recent(Supplier<T> reader, Duration least, LongSupplier nanos) {
        this.reader = reader;
        this.leastNanos = least.toNanos();
        this.nanos = nanos;
    }

    /** Returns what was read last, or reads again if that is too old. While one caller reads, others get the last. */
    public T get() {
        T known = last;
        if (leastNanos == 0 && tookNanos < QUICK_NANOS) {
            return read();
        }
        if (known == null) {
            reading.lock();
        } else if (nanos.getAsLong() - nextNanos < 0 || !reading.tryLock()) {
            return known;
        }
        try {
            // Another caller may have read while this one waited.
            T fresh = last;
            return fresh == null || nanos.getAsLong() - nextNanos >= 0 ? readOr(fresh) : fresh;
        } finally {
            reading.unlock();
        }
    }

    /** Makes the next caller read again, after a change that must be seen. */
    public void forget() {
        last = null;
    }

    /** A read that took too long is tried again later; until then the last answer counts. */
    private T readOr(@Nullable T known) {
        long begin = nanos.getAsLong();
        try {
            return read();
        } catch (StoreException e) {
            if (known == null || !e.isTransient()) {
                throw e;
            }
            long end = nanos.getAsLong();
            nextNanos = end + REST * (end - begin);
            return known;
        }
    }

    private T read() {
        long begin = nanos.getAsLong();
        T fresh = reader.get();
        long end = nanos.getAsLong();
        tookNanos = end - begin;
        nextNanos = end + Math.max(leastNanos, REST * (end - begin));
        last = fresh;
        return fresh;
    }
}
