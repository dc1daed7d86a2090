// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.measure;

import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** A clock that all processes of this machine share. */
public final class WallClock {

    private WallClock() {}

    public static long micros() {
        return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
    }
}
