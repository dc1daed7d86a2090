// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import io.reprise.JobState;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A queue with its settings and counts.
 *
 * @param paused who paused it, when and why; null while it runs
 * @param maxRunning jobs of this queue that may run at once in the whole fleet; null if unlimited
 * @param oldestDueAt due time of the job that has been due longest, parked ones aside; null if none is due
 */
public record QueueState(
        String name,
        @Nullable Pause paused,
        @Nullable Integer maxRunning,
        Map<JobState, Long> counts,
        @Nullable Instant oldestDueAt) {

    public QueueState {
        counts = Map.copyOf(counts);
    }

    public record Pause(Instant since, Note note) {}

    public long count(JobState state) {
        return counts.getOrDefault(state, 0L);
    }
}
