// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import io.reprise.store.StoreException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An answer that many ask for and that may take long to read. What was read is kept for nine times as long as the read
 * took, so that reading takes a tenth of the time at most, however many ask. A slow one that is read
 * {@link #behind} its callers takes a twentieth. Thread-safe.
 */
public final class Recent<T> {

    /**
     * An answer for each of some names, each kept by itself. Beyond a number of names all are forgotten, so that callers who
     * make names up use no memory. Thread-safe.
     */
    public static final class ByName<T> {

        /** Of so many names answers are kept. */
        private static final int MAX_KEPT = 100;

        private final Function<Supplier<T>, Recent<T>> create;
        private final Map<String, Recent<T>> kept = new HashMap<>();

        /**
         * Creates one without answers.
         *
         * @param create makes the answer of one name, given how it is read
         */
        public ByName(Function<Supplier<T>, Recent<T>> create) {
            this.create = create;
        }

        /** Returns the answer of a name; it is read when it is asked for. */
        public synchronized Recent<T> of(String name, Supplier<T> reader) {
            if (kept.size() >= MAX_KEPT && !kept.containsKey(name)) {
                kept.clear();
            }
            return kept.computeIfAbsent(name, each -> create.apply(reader));
        }
    }

    private static final Logger log = LoggerFactory.getLogger("io.reprise.server");

    /** A read that takes less is not worth keeping. */
    private static final long QUICK_NANOS = 50_000_000;

    private static final int REST = 9;

    private static final int REST_BEHIND = 19;

    /** Nobody waits for a read that takes longer, if an answer is there that is not too old. */
    private static final long SLOW_NANOS = 200_000_000;

    /** How long an answer may still be given after its time, while it is read again. */
    private static final long LATE_NANOS = 30_000_000_000L;

    private final Supplier<T> reader;
    private final long leastNanos;
    private final LongSupplier nanos;
    private final @Nullable Executor behind;
    private final AtomicBoolean readingBehind = new AtomicBoolean();
    private final ReentrantLock reading = new ReentrantLock();
    private volatile @Nullable T last;
    private volatile long tookNanos;
    private volatile long nextNanos;
    private volatile int changes;

    /**
     * Creates an answer that was not read yet.
     *
     * @param least how long an answer is kept in any case; if zero, one that is read quickly is never kept
     */
    public Recent(Supplier<T> reader, Duration least, LongSupplier nanos) {
        this(reader, least, nanos, null);
    }

    private Recent(Supplier<T> reader, Duration least, LongSupplier nanos, @Nullable Executor behind) {
        this.reader = reader;
        this.leastNanos = least.toNanos();
        this.nanos = nanos;
        this.behind = behind;
    }

    /**
     * Creates an answer that was not read yet. If reading takes long, callers get the last answer while another thread
     * reads. An answer that is much too old is not given: its caller waits.
     */
    public static <T> Recent<T> behind(Supplier<T> reader, LongSupplier nanos, Executor behind) {
        return new Recent<>(reader, Duration.ZERO, nanos, behind);
    }

    /** Returns what was read last, or reads again if that is too old. While one caller reads, others get the last. */
    public T get() {
        T known = last;
        if (leastNanos == 0 && tookNanos < QUICK_NANOS) {
            return read();
        }
        if (known == null) {
            reading.lock();
        } else if (nanos.getAsLong() - nextNanos < 0 || isReadBehind() || !reading.tryLock()) {
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
        synchronized (this) {
            changes++;
            last = null;
        }
    }

    /** Has another thread read an answer that took long to read the last time. */
    private boolean isReadBehind() {
        if (behind == null || tookNanos < SLOW_NANOS || nanos.getAsLong() - nextNanos > LATE_NANOS) {
            return false;
        }
        if (readingBehind.compareAndSet(false, true)) {
            behind.execute(this::readBehind);
        }
        return true;
    }

    private void readBehind() {
        reading.lock();
        try {
            T known = last;
            if (known != null && nanos.getAsLong() - nextNanos >= 0) {
                readOr(known);
            }
        } catch (RuntimeException e) {
            // Nobody waits for it. Once the answer is too old, a caller reads and gets the exception.
            log.debug("An answer could not be read again", e);
        } finally {
            reading.unlock();
            readingBehind.set(false);
        }
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
            nextNanos = end + rest(end - begin);
            return known;
        }
    }

    /** Returns how long an answer is kept that took so long to read. */
    private long rest(long took) {
        return took * (behind == null || took < SLOW_NANOS ? REST : REST_BEHIND);
    }

    private T read() {
        int before = changes;
        long begin = nanos.getAsLong();
        T fresh = reader.get();
        long end = nanos.getAsLong();
        tookNanos = end - begin;
        nextNanos = end + Math.max(leastNanos, rest(end - begin));
        synchronized (this) {
            // What was read before a change, or while it was made, is not kept.
            if (before == changes) {
                last = fresh;
            }
        }
        return fresh;
    }
}
