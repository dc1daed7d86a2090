// SPDX-License-Identifier: Apache-2.0
package io.reprise.job;

import java.time.Instant;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A queue with its settings and counts.
 *
 * @param name name of the queue
 * @param paused the pause; null if the queue is not paused
 * @param maxRunning jobs of this queue that may run at once in the whole fleet; null if unlimited
 * @param counts number of jobs by state; a state without jobs is missing
 * @param atLeast states of which there may be more jobs than the store counted
 * @param oldestDueAt due time of the job that has been due longest, without parked jobs; null if none is due
 * @since 0.1.0
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

    /** Copies the collections. */
    public QueueState {
        counts = Map.copyOf(counts);
        atLeast = Set.copyOf(atLeast);
    }

    /**
     * Returns how many jobs of each queue a store counts if it must count rows: 1,000,000 in total, and at least 1,000
     * of each queue.
     *
     * @param queues number of queues
     */
    public static int countable(int queues) {
        return Math.max(LEAST_OF_EACH, MOST_OF_ALL / Math.max(1, queues));
    }

    /**
     * A pause of a queue.
     *
     * @param since when the queue was paused
     * @param note who paused it and why
     */
    public record Pause(Instant since, AuditNote note) {}

    /** Returns the number of jobs in a state; 0 if there are none. */
    public long count(JobState state) {
        return counts.getOrDefault(state, 0L);
    }
}
