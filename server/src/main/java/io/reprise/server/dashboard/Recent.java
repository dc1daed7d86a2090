// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.dashboard;

import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * An answer that is read at most once a second, however many ask, and for at most a tenth of the time. Thread-safe.
 */
final class Recent<T> {

    private static final long SECOND = 1_000_000_000;
    private static final int REST = 9;

    private final Supplier<T> reader;
    private final LongSupplier nanos;
    private final ReentrantLock reading = new ReentrantLock();
    private volatile @Nullable T last;
    private volatile long nextNanos;

    Recent(Supplier<T> reader, LongSupplier nanos) {
        this.reader = reader;
        this.nanos = nanos;
    }

    /** Returns what was read last, or reads again if that is too old. While one caller reads, others get the last. */
    T get() {
        T known = last;
        if (known == null) {
            reading.lock();
        } else if (nanos.getAsLong() - nextNanos < 0 || !reading.tryLock()) {
            return known;
        }
        try {
            // Another caller may have read while this one waited.
            T fresh = last;
            return fresh == null || nanos.getAsLong() - nextNanos >= 0 ? read() : fresh;
        } finally {
            reading.unlock();
        }
    }

    private T read() {
        long begin = nanos.getAsLong();
        T fresh = reader.get();
        long end = nanos.getAsLong();
        nextNanos = end + Math.max(SECOND, REST * (end - begin));
        last = fresh;
        return fresh;
    }
}
