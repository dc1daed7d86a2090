// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import io.reprise.JobState;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A queue with its settings and counts.
 *
 * @param paused who paused it, when and why; null while it runs
 * @param maxRunning jobs of this queue that may run at once in the whole fleet; null if unlimited
 * @param atLeast states of which there may be more jobs than the store has counted
 * @param oldestDueAt due time of the job that has been due longest, parked ones aside; null if none is due
 */
public record QueueState(
        String name,
        @Nullable Pause paused,
        @Nullable Integer maxRunning,
        Map<JobState, Long> counts,
        Set<JobState> atLeast,
        @Nullable Instant oldestDueAt) {

    private static final int MOST_OF_ALL = 1_000_000;
    private static final int LEAST_OF_EACH = 1_000;

    public QueueState {
        counts = Map.copyOf(counts);
        atLeast = Set.copyOf(atLeast);
    }

    /** How many jobs of each queue a store counts that has no number of them, if there are so many queues. */
    public static int countable(int queues) {
        return Math.max(LEAST_OF_EACH, MOST_OF_ALL / Math.max(1, queues));
    }

    public record Pause(Instant since, Note note) {}

    public long count(JobState state) {
        return counts.getOrDefault(state, 0L);
    }
}
