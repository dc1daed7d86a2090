// SPDX-License-Identifier: Apache-2.0
package io.reprise.micrometer;

import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.reprise.job.JobState;
import io.reprise.job.QueueState;
import io.reprise.job.WorkerReport;
import io.reprise.job.WorkerState;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** Shows the number of jobs of each queue by state, how late the queue is, and how many should run at once. */
final class QueueGauges {

    private final Clock clock;
    private final GaugeRows jobs;
    private final GaugeRows lag;
    private final GaugeRows wanted;
    private final Supplier<? extends Collection<WorkerState>> workers;
    private final WorkersWanted calculation = new WorkersWanted();

    QueueGauges(MeterRegistry registry, Supplier<? extends Collection<WorkerState>> workers) {
        this.workers = workers;
        this.clock = registry.config().clock();
        this.jobs = new GaugeRows(registry, "reprise.jobs", "Jobs of a queue in a state");
        this.lag = new GaugeRows(
                registry, "reprise.queue.lag.seconds", "For how long the job that has been due longest has been due");
        this.wanted = new GaugeRows(
                registry,
                "reprise.workers.wanted",
                "Jobs of a queue that should run at once, from arrivals, time of a run and lag");
    }

    void show(List<QueueState> queues) {
        Map<Tags, Double> counts = new HashMap<>();
        Map<Tags, Double> lags = new HashMap<>();
        Map<Tags, Double> slots = new HashMap<>();
        Map<String, QueueState> names = new HashMap<>();
        List<WorkerReport> reports =
                workers.get().stream().map(WorkerState::report).toList();
        for (QueueState queue : queues) {
            for (JobState state : JobState.values()) {
                counts.put(Tags.of("queue", queue.name(), "state", state.name()), (double) queue.count(state));
            }
            double late = seconds(queue);
            lags.put(Tags.of("queue", queue.name()), late);
            slots.put(Tags.of("queue", queue.name()), calculation.of(queue, reports, late, clock.monotonicTime()));
            names.put(queue.name(), queue);
        }
        calculation.keep(names);
        jobs.show(counts);
        lag.show(lags);
        wanted.show(slots);
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
