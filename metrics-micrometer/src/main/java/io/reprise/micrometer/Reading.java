// SPDX-License-Identifier: Apache-2.0
package io.reprise.micrometer;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads a state of the whole fleet when meters are collected, at most every 10 s, in the collecting thread. So nothing
 * is read that nobody looks at, and no worker waits for it.
 */
final class Reading<T> {

    private static final Logger log = LoggerFactory.getLogger(Reading.class);
    private static final Duration FRESH = Duration.ofSeconds(10);

    private final MeterRegistry registry;
    private final String what;
    private final Supplier<? extends Collection<T>> source;
    private final Consumer<List<T>> shown;
    private long nextReadNanos;
    private int count;

    /**
     * Creates a reading; nothing is read yet.
     *
     * @param what word for the state in log messages
     * @param shown receives the first {@link Labels#MAX} items of each reading
     */
    Reading(MeterRegistry registry, String what, Supplier<? extends Collection<T>> source, Consumer<List<T>> shown) {
        this.registry = registry;
        this.what = what;
        this.source = source;
        this.shown = shown;
        this.nextReadNanos = registry.config().clock().monotonicTime();
    }

    /**
     * Registers a gauge for the number of items, and reads the state now. Each collection of the gauge reads the state
     * again.
     */
    void register(String meter, String description) {
        Gauge.builder(meter, this, Reading::look)
                .description(description)
                // The gauge may hold the only reference to this object.
                .strongReference(true)
                .register(registry);
        read();
    }

    /** Reads the state again unless it is younger than 10 s, and returns the number of items. */
    synchronized double look() {
        long now = registry.config().clock().monotonicTime();
        if (now - nextReadNanos >= 0) {
            nextReadNanos = now + FRESH.toNanos();
            read();
        }
        return count;
    }

    private synchronized void read() {
        try {
            List<T> all = List.copyOf(source.get());
            count = all.size();
            shown.accept(all.stream().limit(Labels.MAX).toList());
        } catch (RuntimeException e) {
            log.warn("The state of {} could not be read; the meters show what was: {}", what, e.getMessage());
        }
    }
}
