// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.dashboard;

import io.reprise.Reprise;
import io.reprise.insight.Activity;
import io.reprise.insight.Alert;
import io.reprise.insight.ResourceStatus;
import io.reprise.job.QueueState;
import io.reprise.job.WaitReason;
import io.reprise.job.WorkerState;
import io.reprise.server.api.Api;
import io.reprise.server.api.Recent;
import io.reprise.store.JobStore;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * The state of the fleet in sums. It is read from the store at most once a second and at most a tenth of the time,
 * however many look. Thread-safe.
 */
final class Pulse {

    /** Waiting jobs whose reasons are counted. */
    static final int MAX_JOBS_READ = 10_000;

    /** Minutes over which attempts per job are averaged. */
    static final int RECENT = 10;

    /** The state of the fleet at one time. */
    record Beat(
            Instant at,
            List<QueueState> queues,
            List<ResourceStatus> resources,
            List<WorkerState> workers,
            List<Alert> alerts,
            Map<WaitReason, Long> waiting,
            Activity.Counts minute,
            Activity.Counts recent) {}

    private final Api api;
    private final Reprise reprise;
    private final JobStore store;
    private final Recent<Beat> recent;

    Pulse(Api api, LongSupplier nanos) {
        this.api = api;
        this.reprise = api.reprise();
        this.store = api.store();
        this.recent = new Recent<>(this::read, Duration.ofSeconds(1), nanos);
    }

    Beat beat() {
        return recent.get();
    }

    private Beat read() {
        // The minute that runs has only begun, so the one before it says how fast things go.
        Activity.Counts minute = sum(Duration.ofMinutes(1), 1);
        return new Beat(
                store.now(),
                api.queues().get(),
                reprise.resources(),
                reprise.workers(),
                reprise.alerts(),
                store.waiting(MAX_JOBS_READ),
                minute,
                sum(Duration.ZERO, RECENT));
    }

    private Activity.Counts sum(Duration ago, int minutes) {
        return store.activity(ago, minutes).stream()
                .map(Activity::counts)
                .reduce(Activity.Counts.NONE, Activity.Counts::plus);
    }
}
