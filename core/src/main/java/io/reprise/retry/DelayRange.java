// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import io.reprise.text.Bounds;
import java.util.random.RandomGenerator;

/** The inclusive range in nanoseconds from which a delay is drawn uniformly. */
record DelayRange(long min, long max) {

    static DelayRange of(Jitter jitter, long raw, long base, long last) {
        if (jitter instanceof Jitter.Full) {
            return new DelayRange(0, raw);
        }
        if (jitter instanceof Jitter.Equal) {
            return new DelayRange(raw / 2, raw);
        }
        if (jitter instanceof Jitter.Proportional proportional) {
            long span = Math.round(raw * proportional.ratio());
            return new DelayRange(raw - span, Math.min(raw + span, Bounds.MAX_NANOS));
        }
        if (jitter instanceof Jitter.Decorrelated) {
            return new DelayRange(base, Math.max(base, last > Bounds.MAX_NANOS / 3 ? Bounds.MAX_NANOS : 3 * last));
        }
        if (jitter instanceof Jitter.BaseToRaw) {
            return new DelayRange(base, Math.max(base, raw));
        }
        return new DelayRange(raw, raw);
    }

    DelayRange cutAt(long cap) {
        return new DelayRange(Math.min(min, cap), Math.min(max, cap));
    }

    long draw(RandomGenerator random) {
        return min == max ? min : random.nextLong(min, max + 1);
    }

    /** Expected value of a draw that is then held between {@code floor} and {@code ceiling}. */
    long mean(long floor, long ceiling) {
        double from = Math.min(Math.max(min, floor), ceiling);
        double to = Math.min(Math.max(max, floor), ceiling);
        if (min == max) {
            return (long) from;
        }
        double width = (double) max - min;
        double below = Math.max(0, Math.min(from, (double) max) - min) / width;
        double above = Math.max(0, max - Math.max(to, (double) min)) / width;
        double inside = Math.max(0, 1 - below - above);
        return Math.round(below * from + above * to + inside * (from + to) / 2);
    }
}
