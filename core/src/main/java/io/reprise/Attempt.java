// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.retry.Decision;
import io.reprise.retry.Failure;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One run of a job, kept as history with the decision that followed it.
 *
 * @param number which counted run this was; a run that did not count shares the number of the next one
 * @param token the fencing token it ran under; unique within the job and growing
 * @param failure what ended it badly, if anything did
 * @param decision what was decided after a failed, lost, interrupted or snoozed run
 */
public record Attempt(
        int number,
        long token,
        String worker,
        Instant startedAt,
        Instant endedAt,
        Ending ending,
        @Nullable Failure failure,
        @Nullable Decision decision) {

    /** How a run ended. */
    public enum Ending {
        SUCCEEDED,
        FAILED,
        LOST,
        INTERRUPTED,
        SNOOZED,
        CANCELLED
    }
}
