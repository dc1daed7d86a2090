// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.engine;

import java.time.Duration;
import java.util.function.BooleanSupplier;

/** A driver for races: time stands still, and roles step when the race lets them. */
public final class Still implements Driver {

    @Override
    public long nanos() {
        return 0;
    }

    @Override
    public void start(Role role) {}

    @Override
    public void wake(Role role) {}

    @Override
    public void stop(Role role) {}

    @Override
    public boolean await(BooleanSupplier condition, Duration limit) {
        return condition.getAsBoolean();
    }
}
