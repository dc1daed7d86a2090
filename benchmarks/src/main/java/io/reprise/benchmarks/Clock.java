// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks;

import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** A clock that all processes of this machine share. */
final class Clock {

    private Clock() {}

    static long micros() {
        return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
    }
}
