// SPDX-License-Identifier: Apache-2.0
package io.reprise.micrometer;

import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import io.reprise.JobState;
import io.reprise.store.QueueState;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** How many jobs a queue has in each state, and how late it is. */
final class QueueGauges {

    private final Clock clock;
    private final MultiGauge jobs;
    private final MultiGauge lag;

    QueueGauges(MeterRegistry registry) {
        this.clock = registry.config().clock();
        this.jobs = MultiGauge.builder("reprise.jobs")
                .description("Jobs of a queue in a state")
                .register(registry);
        this.lag = MultiGauge.builder("reprise.queue.lag")
                .description("For how long the job that has been due longest has been due")
                .baseUnit("seconds")
                .register(registry);
    }

    void show(List<QueueState> queues) {
        List<MultiGauge.Row<?>> counts = new ArrayList<>();
        List<MultiGauge.Row<?>> lags = new ArrayList<>();
        for (QueueState queue : queues) {
            for (JobState state : JobState.values()) {
                counts.add(
                        MultiGauge.Row.of(Tags.of("queue", queue.name(), "state", state.name()), queue.count(state)));
            }
            lags.add(MultiGauge.Row.of(Tags.of("queue", queue.name()), seconds(queue)));
        }
        jobs.register(counts, true);
        lag.register(lags, true);
    }

    private double seconds(QueueState queue) {
        Instant oldest = queue.oldestDueAt();
        return oldest == null
                ? 0
                : Math.max(
                        0,
                        Duration.between(oldest, Instant.ofEpochMilli(clock.wallTime()))
                                        .toMillis()
                                / 1_000.0);
    }
}
