// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.engine;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;

/**
 * Decides when roles take their steps. All waiting in the engine goes through it: threads in production, virtual time
 * in tests and in the simulator.
 */
public interface Driver {

    /** Monotonic time in nanoseconds. Only differences have a meaning. */
    long nanos();

    void start(Role role);

    /** Ends the role's rest. If the role is in a step, its next rest ends at once. Cheap; any thread may call it. */
    void wake(Role role);

    /** Stops a role. After this returns no step begins, and no step is under way unless it is stuck. */
    void stop(Role role);

    /**
     * How long each role has been in its present step; zero for a role that rests. Empty if the driver has no threads.
     */
    default Map<String, Duration> busy() {
        return Map.of();
    }

    /**
     * Calls code of the user that may never return, and returns what it returns.
     *
     * @throws TimeoutException if it took longer than the limit; the call may still go on then
     * @throws Exception what the code threw
     */
    default <T> T call(Callable<T> code, Duration limit) throws Exception {
        long began = nanos();
        T value = code.call();
        Duration took = Duration.ofNanos(nanos() - began);
        if (took.compareTo(limit) > 0) {
            throw new TimeoutException("It took " + took + ", and " + limit + " is the limit");
        }
        return value;
    }

    /**
     * Waits until the condition holds, the limit is over or the thread is interrupted. Returns
     * whether the condition holds.
     */
    boolean await(BooleanSupplier condition, Duration limit);
}
