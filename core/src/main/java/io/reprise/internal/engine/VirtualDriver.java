// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.engine;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The driver of tests and of the simulator. It steps one role at a time in the calling thread, in the order in which
 * they are due, and moves the clock itself. Roles due at the same time step in the order in which they were started.
 */
public final class VirtualDriver implements Driver {

    private static final int MAX_STEPS_PER_INSTANT = 100_000;
    private static final long NEVER = Long.MAX_VALUE;
    private static final Duration LONGEST_REST = Duration.ofDays(36_500);

    private static final class Slot implements Comparable<Slot> {
        final Role role;
        final long number;
        /** Changed only while the slot is not in {@link VirtualDriver#agenda}. */
        long due;

        Slot(Role role, long number, long due) {
            this.role = role;
            this.number = number;
            this.due = due;
        }

        @Override
        public int compareTo(Slot other) {
            return due == other.due ? Long.compare(number, other.number) : Long.compare(due, other.due);
        }
    }

    private final InstantSource clock;
    private final Consumer<Duration> advance;
    private final Instant origin;
    private final Map<Role, Slot> slots = new HashMap<>();
    /** The slots that are due at some time. A wake-up moves a slot, so there is one entry for each role. */
    private final NavigableSet<Slot> agenda = new TreeSet<>();

    private long started;
    private long lastStep = Long.MIN_VALUE;
    private int steps;

    /** Creates a driver of a clock that {@code advance} moves forward. */
    public VirtualDriver(InstantSource clock, Consumer<Duration> advance) {
        this.clock = clock;
        this.advance = advance;
        this.origin = clock.instant();
    }

    @Override
    public long nanos() {
        return nanos(clock.instant());
    }

    private long nanos(Instant time) {
        return Math.addExact(
                Math.multiplyExact(time.getEpochSecond() - origin.getEpochSecond(), 1_000_000_000L),
                (long) time.getNano() - origin.getNano());
    }

    @Override
    public void start(Role role) {
        Slot slot = slots.computeIfAbsent(role, key -> new Slot(key, started++, NEVER));
        due(slot, nanos());
    }

    @Override
    public void wake(Role role) {
        Slot slot = slots.get(role);
        if (slot != null) {
            due(slot, nanos());
        }
    }

    @Override
    public void stop(Role role) {
        Slot slot = slots.remove(role);
        if (slot != null) {
            agenda.remove(slot);
            slot.due = NEVER;
        }
    }

    private void due(Slot slot, long nanos) {
        if (slot.due != nanos) {
            agenda.remove(slot);
            slot.due = nanos;
            agenda.add(slot);
        }
    }

    /** Takes every step that is due now, including steps that these make due now. */
    public void runDue() {
        Slot slot = next(nanos());
        while (slot != null) {
            step(slot);
            slot = next(nanos());
        }
    }

    /** Lets time pass, and stops at every due step. */
    public void advance(Duration duration) {
        Instant end = clock.instant().plus(duration);
        await(() -> false, duration);
        if (clock.instant().isBefore(end)) {
            advance.accept(Duration.between(clock.instant(), end));
        }
        runDue();
    }

    @Override
    public boolean await(BooleanSupplier condition, Duration limit) {
        long end = nanos(clock.instant().plus(limit));
        while (!condition.getAsBoolean()) {
            Slot slot = next(end);
            if (slot == null) {
                return false;
            }
            long rest = slot.due - nanos();
            if (rest > 0) {
                advance.accept(Duration.ofNanos(rest));
            }
            step(slot);
        }
        return true;
    }

    private void step(Slot slot) {
        long now = nanos();
        steps = now == lastStep ? steps + 1 : 0;
        lastStep = now;
        if (steps > MAX_STEPS_PER_INSTANT) {
            throw new IllegalStateException("The " + slot.role.name() + " never rests: a job may be due again at once");
        }
        // A wake-up on the way to this time may have put the slot back. A wake-up in the step makes it due
        // again, and then the rest that the step returns does not count.
        agenda.remove(slot);
        slot.due = NEVER;
        Duration rest = slot.role.step();
        if (slot.due == NEVER && slots.get(slot.role) == slot) {
            Duration bounded = rest.compareTo(LONGEST_REST) < 0 ? rest : LONGEST_REST;
            due(slot, nanos() + bounded.toNanos());
        }
    }

    /** Takes the first slot that is due by the limit. */
    private @Nullable Slot next(long limit) {
        if (agenda.isEmpty() || agenda.first().due > limit) {
            return null;
        }
        return agenda.pollFirst();
    }
}
