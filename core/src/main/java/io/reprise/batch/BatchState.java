// SPDX-License-Identifier: Apache-2.0
package io.reprise.batch;

import io.reprise.job.JobId;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A batch as it is now. The counts are those of the members as they ended. They stay when members are deleted by age or
 * by hand.
 *
 * @param name name of the batch
 * @param total members that were added
 * @param succeeded members that succeeded
 * @param dead members that are dead letters, or were when they were deleted
 * @param cancelled members that were cancelled
 * @param createdAt when the batch was created
 * @param closedAt when it was closed; null while members can be added
 * @param endedAt when all members had ended for the first time after the close; null if that has not come
 * @param succeededAt when all members had succeeded, or a person finished the batch; null if that has not come
 * @param onSuccess the job that runs when all have succeeded; null if there is none
 * @param onEnd the job that runs when all have ended; null if there is none
 * @since 0.1.0
 */
public record BatchState(
        String name,
        long total,
        long succeeded,
        long dead,
        long cancelled,
        Instant createdAt,
        @Nullable Instant closedAt,
        @Nullable Instant endedAt,
        @Nullable Instant succeededAt,
        @Nullable JobId onSuccess,
        @Nullable JobId onEnd) {

    /** How long a batch is kept after its end. */
    public static final Duration KEPT = Duration.ofDays(30);

    /** The largest difference of clocks. */
    private static final Duration CLOCKS = Duration.ofHours(1);

    /**
     * Returns whether a job that was created at this time can be a member. An older one is of an earlier batch of this
     * name, which was deleted.
     */
    public boolean takes(Instant jobCreatedAt) {
        return !jobCreatedAt.isBefore(createdAt.minus(CLOCKS));
    }

    /** Returns how many members wait or run. */
    public long open() {
        return total - succeeded - dead - cancelled;
    }

    /**
     * Returns whether a person can let the job for the success go: the batch has ended with dead letters, no member is open
     * again, and none was cancelled.
     */
    public boolean isFinishable() {
        return endedAt != null && succeededAt == null && onSuccess != null && total == succeeded + dead;
    }

    /** Returns how much of the batch has ended, 0 to 100; 0 if it has no members yet. */
    public int percent() {
        return total == 0 ? 0 : (int) (100 * (total - open()) / total);
    }
}
