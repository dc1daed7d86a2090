// SPDX-License-Identifier: Apache-2.0
package io.reprise.micrometer;

import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.concurrent.atomic.AtomicLong;

/** Counts how many attempts the jobs of one type take. Thread-safe. */
final class Amplification {

    private final AtomicLong jobs = new AtomicLong();
    private final AtomicLong attempts = new AtomicLong();
    private final DistributionSummary needed;

    Amplification(MeterRegistry registry, String type) {
        Gauge.builder("reprise.amplification", this, Amplification::factor)
                .description("Counted attempts per job since this process started")
                .tag("type", type)
                .register(registry);
        this.needed = DistributionSummary.builder("reprise.attempts.needed")
                .description("Counted attempts of jobs that succeeded")
                .tag("type", type)
                .register(registry);
    }

    /** A counted attempt ended. */
    void attempt(int number) {
        attempts.incrementAndGet();
        if (number == 1) {
            jobs.incrementAndGet();
        }
    }

    void succeeded(int number) {
        needed.record(number);
    }

    private double factor() {
        long begun = jobs.get();
        return begun == 0 ? Double.NaN : (double) attempts.get() / begun;
    }
}
