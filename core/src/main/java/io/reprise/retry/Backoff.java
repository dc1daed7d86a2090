// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import io.reprise.text.Bounds;
import java.time.Duration;
import java.util.List;

/**
 * The curve of a retry policy: how the delay grows with the retry number, before cap and jitter.
 *
 * <p>Retries are numbered from 1. Retry 1 follows the first failed attempt. A delay is never negative and never longer
 * than {@link #MAX}.
 *
 * <p>Immutable and thread-safe.
 *
 * @since 0.1.0
 */
public sealed interface Backoff {

    /** The longest delay: 36,500 days. A longer delay is cut to this value. */
    Duration MAX = Bounds.MAX_DURATION;

    /**
     * Returns the delay before a retry, without cap and jitter.
     *
     * @param retry number of the retry, from 1
     * @throws IllegalArgumentException if {@code retry} is less than 1
     */
    Duration raw(int retry);

    /**
     * Exponential growth: {@code base * factor^(retry - 1 + offset)}.
     *
     * @param base the delay of the first retry if {@code offset} is 0; 0 to 36,500 days
     * @param factor multiplies the delay from one retry to the next; 1 to 1,000
     * @param offset 0 if the first delay is {@code base}, 1 if the first delay is {@code base * factor}
     */
    record Exponential(Duration base, double factor, int offset) implements Backoff {
        /**
         * Checks the values.
         *
         * @throws NullPointerException if {@code base} is null
         * @throws IllegalArgumentException if a value is out of its bounds
         */
        public Exponential {
            Bounds.notNegative("base", base);
            factor = Bounds.number("factor", factor, 1, 1000);
            Bounds.integer("offset", offset, 0, 1);
        }

        @Override
        public Duration raw(int retry) {
            double exponent = checked(retry) - 1.0 + offset;
            // Zero times infinity is NaN. A cast would turn NaN into 0 by luck; this line does it on purpose.
            return base.isZero() ? base : saturated(base.toNanos() * Math.pow(factor, exponent));
        }
    }

    /**
     * Linear growth: {@code step * retry}.
     *
     * @param step the first delay, and the amount that each further retry adds; 0 to 36,500 days
     */
    record Linear(Duration step) implements Backoff {
        /**
         * Checks the value.
         *
         * @throws NullPointerException if {@code step} is null
         * @throws IllegalArgumentException if {@code step} is negative or longer than 36,500 days
         */
        public Linear {
            Bounds.notNegative("step", step);
        }

        @Override
        public Duration raw(int retry) {
            return saturated((double) step.toNanos() * checked(retry));
        }
    }

    /**
     * One delay for all retries.
     *
     * @param delay the delay; 0 to 36,500 days
     */
    record Fixed(Duration delay) implements Backoff {
        /**
         * Checks the value.
         *
         * @throws NullPointerException if {@code delay} is null
         * @throws IllegalArgumentException if {@code delay} is negative or longer than 36,500 days
         */
        public Fixed {
            Bounds.notNegative("delay", delay);
        }

        @Override
        public Duration raw(int retry) {
            checked(retry);
            return delay;
        }
    }

    /**
     * Delays listed one by one. The last delay repeats.
     *
     * @param delays 1 to 1,000 delays, each 0 to 36,500 days; the first is for retry 1
     */
    record Table(List<Duration> delays) implements Backoff {
        /**
         * Copies and checks the delays.
         *
         * @throws NullPointerException if the list or a delay is null
         * @throws IllegalArgumentException if there is no delay, if there are more than 1,000, or if a delay is out of
         *     its bounds
         */
        public Table {
            delays = List.copyOf(delays);
            Bounds.integer("number of delays", delays.size(), 1, 1000);
            delays.forEach(delay -> Bounds.notNegative("delays", delay));
        }

        @Override
        public Duration raw(int retry) {
            return delays.get(Math.min(checked(retry), delays.size()) - 1);
        }
    }

    private static int checked(int retry) {
        return Bounds.integer("retry", retry, 1, Integer.MAX_VALUE);
    }

    private static Duration saturated(double nanos) {
        return nanos >= Bounds.MAX_NANOS ? MAX : Duration.ofNanos(Math.round(nanos));
    }
}
