// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import java.time.Duration;
import java.util.function.BooleanSupplier;

/** Decides when roles take their steps, and is the engine's only way to wait. */
public interface Driver {

    /** Monotonic time in nanoseconds, for measuring what has passed. */
    long nanos();

    void start(Role role);

    /** Ends the role's rest, now or as soon as it next rests. Cheap; callable from any thread. */
    void wake(Role role);

    /** No step of the role is under way or will begin after this returns. */
    void stop(Role role);

    /** Waits until the condition holds. Returns whether it does. */
    boolean await(BooleanSupplier condition, Duration limit);
}
