// SPDX-License-Identifier: Apache-2.0
package io.reprise.testing;

import io.reprise.job.JobState;
import io.reprise.job.QueueState;
import java.time.Instant;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The settings, counts and waiting jobs of a queue. */
final class MemoryQueue {

    final String name;
    final ReadyJobs ready = new ReadyJobs();

    /** By group: when the next start would be due at an even rate. */
    final Map<String, Long> rates = new HashMap<>();

    /** By group that keeps its order: the job that started last. */
    final Map<String, Long> heads = new HashMap<>();

    private final Map<JobState, Long> counts = new EnumMap<>(JobState.class);
    QueueState.@Nullable Pause paused;

    @Nullable
    Integer maxRunning;

    MemoryQueue(String name) {
        this.name = name;
    }

    void count(JobState state, long change) {
        counts.merge(state, change, Long::sum);
        counts.remove(state, 0L);
    }

    boolean isVisible() {
        return !counts.isEmpty() || paused != null || maxRunning != null;
    }

    boolean isLive() {
        return counts.containsKey(JobState.PENDING) || counts.containsKey(JobState.RUNNING);
    }

    long live() {
        return counts.getOrDefault(JobState.PENDING, 0L) + running();
    }

    int running() {
        return counts.getOrDefault(JobState.RUNNING, 0L).intValue();
    }

    QueueState read(QueueState.@Nullable Pause pause, @Nullable Integer limit, Instant now) {
        return new QueueState(name, pause, limit, counts, Set.of(), ready.oldestDueAt(now));
    }
}
