// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.operations;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.examples.Example;
import io.reprise.micrometer.JobMetrics;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.InlineWorker;
import io.reprise.testing.ManualClock;
import java.io.IOException;
import java.time.Duration;

/** Meters for any registry that Micrometer knows. */
public final class Metrics {

    private static final JobType<String> CALL = JobType.of("call", String.class);

    private Metrics() {}

    public static void main(String[] args) {
        ManualClock clock = new ManualClock();
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        try (InlineWorker worker = InlineWorker.start(
                Reprise.builder()
                        .store(new InMemoryJobStore(clock))
                        // snippet:metrics
                        .listener(new JobMetrics(registry))
                        // end
                        .handle(CALL, (number, job) -> {
                            if (job.attempt() < 3) {
                                throw new IOException("busy");
                            }
                        }),
                clock)) {
            worker.reprise().enqueue(CALL.job("112").resource("exchange"));
            worker.advance(Duration.ofMinutes(5));
        }
        registry.forEachMeter(meter -> Example.say("%s %s", meter.getId(), meter.measure()));
        Example.check(registry.get("retries").counter().count() == 2, "two retries");
        Example.check(
                registry.get("reprise.succeeded").tag("attempt", "3").counter().count() == 1,
                "it succeeded at the third attempt");
        Example.check(registry.get("reprise.amplification").gauge().value() == 3, "three attempts for one job");
    }
}
