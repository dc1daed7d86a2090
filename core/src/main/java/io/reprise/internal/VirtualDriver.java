// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import io.reprise.testing.ManualClock;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Steps roles one at a time in the calling thread, in the order in which they are due, in time that only it moves. */
public final class VirtualDriver implements Driver {

    private static final int MAX_STEPS_PER_INSTANT = 100_000;

    private final ManualClock clock;
    private final Instant origin;
    private Instant lastStep = Instant.MIN;
    private int steps;
    private final Map<Role, Instant> dueAt = new LinkedHashMap<>();

    public VirtualDriver(ManualClock clock) {
        this.clock = clock;
        this.origin = clock.instant();
    }

    @Override
    public long nanos() {
        return Duration.between(origin, clock.instant()).toNanos();
    }

    @Override
    public void start(Role role) {
        dueAt.put(role, clock.instant());
    }

    @Override
    public void wake(Role role) {
        dueAt.computeIfPresent(role, (key, due) -> clock.instant());
    }

    @Override
    public void stop(Role role) {
        dueAt.remove(role);
    }

    /** Takes every step that is due now, and those that they make due now. */
    public void runDue() {
        Role role = earliest(clock.instant());
        while (role != null) {
            step(role);
            role = earliest(clock.instant());
        }
    }

    /** Lets time pass, stopping wherever a step is due. */
    public void advance(Duration duration) {
        Instant end = clock.instant().plus(duration);
        await(() -> false, duration);
        if (clock.instant().isBefore(end)) {
            clock.advance(Duration.between(clock.instant(), end));
        }
        runDue();
    }

    @Override
    public boolean await(BooleanSupplier condition, Duration limit) {
        Instant end = clock.instant().plus(limit);
        while (!condition.getAsBoolean()) {
            Role role = earliest(end);
            if (role == null) {
                return false;
            }
            Instant due = dueAt.getOrDefault(role, end);
            if (due.isAfter(clock.instant())) {
                clock.advance(Duration.between(clock.instant(), due));
            }
            step(role);
        }
        return true;
    }

    private void step(Role role) {
        steps = clock.instant().equals(lastStep) ? steps + 1 : 0;
        lastStep = clock.instant();
        if (steps > MAX_STEPS_PER_INSTANT) {
            throw new IllegalStateException("The " + role.name() + " never rests: a job may be due again at once");
        }
        // Out of the way while it works, so that a wake-up during the step is not lost in the rest that it returns.
        dueAt.put(role, Instant.MAX);
        Duration rest = role.step();
        dueAt.computeIfPresent(
                role, (key, due) -> due.equals(Instant.MAX) ? clock.instant().plus(rest) : due);
    }

    private @Nullable Role earliest(Instant limit) {
        Role first = null;
        Instant best = limit;
        for (Map.Entry<Role, Instant> entry : dueAt.entrySet()) {
            boolean better = first == null
                    ? !entry.getValue().isAfter(best)
                    : entry.getValue().isBefore(best);
            if (better) {
                first = entry.getKey();
                best = entry.getValue();
            }
        }
        return first;
    }
}
