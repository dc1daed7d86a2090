// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.chaos;

import io.reprise.testing.ManualClock;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.function.BooleanSupplier;

/**
 * What is to happen, in the order of its time; what is due at the same time goes in an order drawn from the seed. Whoever
 * is at work may let time pass: others then act in the midst of his step, as deep as need be.
 */
final class Timeline {

    private static final int MAX_DEPTH = 60;
    private static final int MAX_ITEMS = 3_000_000;

    private record Item(long nanos, long lot, long number, Runnable action) {}

    final ManualClock clock = new ManualClock();

    private final Instant origin = clock.instant();
    private final long seed;
    private final PriorityQueue<Item> items = new PriorityQueue<>(
            Comparator.comparingLong(Item::nanos).thenComparingLong(Item::lot).thenComparingLong(Item::number));
    private long now;
    private long entries;
    private int depth;
    private long done;

    Timeline(long seed) {
        this.seed = seed;
    }

    long nanos() {
        return now;
    }

    Instant origin() {
        return origin;
    }

    /** Whether nobody else may act in the midst of this step. */
    boolean isTooDeep() {
        return depth >= MAX_DEPTH;
    }

    /**
     * Plans something.
     *
     * @param label of what it is part of: the order of what is due at the same time depends on seed, time and labels only,
     *     so that leaving one thing out does not stir up all others
     */
    void at(long nanos, String label, Runnable action) {
        long time = Math.max(nanos, now);
        items.add(new Item(time, mixed(seed + time, label.hashCode()), entries++, action));
    }

    void after(Duration delay, String label, Runnable action) {
        at(now + delay.toNanos(), label, action);
    }

    private static long mixed(long a, long b) {
        long z = (a ^ b * 0x9E3779B97F4A7C15L) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }

    /** Lets others act until this moment. */
    void pass(long until) {
        await(() -> false, until);
        if (now < until) {
            move(until);
        }
    }

    /** Lets others act until the condition holds, but not beyond this moment. Returns whether it holds. */
    boolean await(BooleanSupplier condition, long until) {
        depth++;
        try {
            while (!condition.getAsBoolean()) {
                Item next = items.peek();
                if (next == null || next.nanos > until) {
                    return false;
                }
                items.remove();
                move(next.nanos);
                if (++done > MAX_ITEMS) {
                    throw new IllegalStateException("The fleet never rests");
                }
                next.action.run();
            }
            return true;
        } finally {
            depth--;
        }
    }

    private void move(long nanos) {
        if (nanos > now) {
            clock.advance(Duration.ofNanos(nanos - now));
            now = nanos;
        }
    }
}
