// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import java.time.Duration;
import java.util.Map;
import java.util.function.BooleanSupplier;

/** Decides when roles take their steps, and is the engine's only way to wait. */
public interface Driver {

    /** Monotonic time in nanoseconds, for measuring what has passed. */
    long nanos();

    void start(Role role);

    /** Ends the role's rest, now or as soon as it next rests. Cheap; callable from any thread. */
    void wake(Role role);

    /** No step of the role will begin after this returns, and none is under way unless it is stuck. */
    void stop(Role role);

    /** How long each role has been in the step it is in; nothing for one that rests. Empty if the driver has no threads. */
    default Map<String, Duration> busy() {
        return Map.of();
    }

    /** Waits until the condition holds, the limit is over or the thread is interrupted. Returns whether it holds. */
    boolean await(BooleanSupplier condition, Duration limit);
}
