// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A service that is down for a time. Otherwise it serves a number of calls per second and refuses the rest. */
public final class LimitedService implements SimulatedDownstream {

    private static final double LATENCY = 0.05;

    private final World world;
    private final int capacity;
    private final double downFrom;
    private final double downUntil;
    private final Deque<Double> served = new ArrayDeque<>();

    public LimitedService(World world, int capacity, double downFrom, double downUntil) {
        this.world = world;
        this.capacity = capacity;
        this.downFrom = downFrom;
        this.downUntil = downUntil;
    }

    @Override
    public void call(Consumer<@Nullable Exception> answer) {
        Exception error = judge(world.now());
        world.after(LATENCY, () -> answer.accept(error));
    }

    private @Nullable Exception judge(double now) {
        if (now >= downFrom && now < downUntil) {
            return Errors.refused();
        }
        while (!served.isEmpty() && served.peekFirst() <= now - 1) {
            served.removeFirst();
        }
        if (served.size() >= capacity) {
            return Errors.overloaded();
        }
        served.addLast(now);
        return null;
    }
}
