// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.chaos;

import io.reprise.testing.ManualClock;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.function.BooleanSupplier;

/**
 * The planned events in the order of their time. Events at one time run in an order drawn from the seed. A step may let
 * time pass: other events then run inside it, nested as deep as needed.
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

    /** Whether no other event may run inside this step. */
    boolean isTooDeep() {
        return depth >= MAX_DEPTH;
    }

    /**
     * Plans an event.
     *
     * @param label name of the part that the event belongs to. The order at one time depends on seed, time and labels
     *     only, so that removing one event does not reorder the others
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

    /** Runs other events until this moment. */
    void pass(long until) {
        await(() -> false, until);
        if (now < until) {
            move(until);
        }
    }

    /** Runs other events until the condition holds, but not beyond this moment. Returns whether it holds. */
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
