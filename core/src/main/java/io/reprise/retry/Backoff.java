// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import java.time.Duration;
import java.util.List;

/**
 * How the delay grows with the retry number, before cap and jitter.
 *
 * <p>Retries are numbered from 1: retry 1 follows the first failed attempt. Delays saturate at {@link #MAX}; they are
 * never negative, whatever the retry number.
 */
public sealed interface Backoff {

    /** 36,500 days: where every delay saturates. */
    Duration MAX = Bounds.MAX_DURATION;

    /** The delay before retry number {@code retry}, without cap and jitter. */
    Duration raw(int retry);

    /** {@code base * factor^(retry - 1 + offset)}. */
    record Exponential(Duration base, double factor, int offset) implements Backoff {
        public Exponential {
            Bounds.notNegative("base", base);
            factor = Bounds.number("factor", factor, 1, 1000);
            Bounds.integer("offset", offset, 0, 1);
        }

        @Override
        public Duration raw(int retry) {
            double exponent = checked(retry) - 1.0 + offset;
            // Zero times infinity is NaN, which a cast would silently turn into 0 by luck rather than by intent.
            return base.isZero() ? base : saturated(base.toNanos() * Math.pow(factor, exponent));
        }
    }

    /** {@code step * retry}. */
    record Linear(Duration step) implements Backoff {
        public Linear {
            Bounds.notNegative("step", step);
        }

        @Override
        public Duration raw(int retry) {
            return saturated((double) step.toNanos() * checked(retry));
        }
    }

    /** The same delay every time. */
    record Fixed(Duration delay) implements Backoff {
        public Fixed {
            Bounds.notNegative("delay", delay);
        }

        @Override
        public Duration raw(int retry) {
            checked(retry);
            return delay;
        }
    }

    /** Delays written out one by one; the last repeats. */
    record Table(List<Duration> delays) implements Backoff {
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
