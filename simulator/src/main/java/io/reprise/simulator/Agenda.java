// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator;

import io.reprise.internal.engine.Driver;
import io.reprise.internal.engine.Role;
import java.time.Duration;
import java.util.PriorityQueue;

/**
 * The events of the world outside the engine: arrivals, answers, failures, each at its time. Events at equal times
 * run in the order of entry.
 */
final class Agenda implements Role {

    private static final Duration IDLE = Duration.ofDays(1);

    private record Item(long nanos, long number, Runnable action) implements Comparable<Item> {
        @Override
        public int compareTo(Item other) {
            return nanos == other.nanos ? Long.compare(number, other.number) : Long.compare(nanos, other.nanos);
        }
    }

    private final Driver driver;
    private final PriorityQueue<Item> items = new PriorityQueue<>();
    private long entries;
    private long nextLook;

    Agenda(Driver driver) {
        this.driver = driver;
    }

    @Override
    public String name() {
        return "agenda";
    }

    void at(long nanos, Runnable action) {
        items.add(new Item(Math.max(nanos, driver.nanos()), entries++, action));
        if (nanos < nextLook) {
            nextLook = nanos;
            driver.wake(this);
        }
    }

    @Override
    public Duration step() {
        long now = driver.nanos();
        nextLook = now;
        Item next = items.peek();
        while (next != null && next.nanos <= now) {
            items.remove().action.run();
            next = items.peek();
        }
        nextLook = next == null ? now + IDLE.toNanos() : next.nanos;
        return Duration.ofNanos(nextLook - now);
    }
}
