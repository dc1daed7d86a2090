// SPDX-License-Identifier: Apache-2.0
package io.reprise.insight;

import java.time.Duration;

/**
 * Counts of jobs of one type during some period.
 *
 * @param type the job type, or {@link #REST}
 * @param jobs first attempts that ended
 * @param retried first attempts whose job is retried
 * @param retries retries that were scheduled, after any attempt
 * @param dead jobs that became dead letters
 * @param backoff the sum of the delays of {@code retries}
 * @since 0.1.0
 */
public record Activity(String type, long jobs, long retried, long retries, long dead, Duration backoff) {

    /** The type under which further types are counted when there are too many. */
    public static final String REST = "other";

    /** Returns these counts under another type. */
    public Activity of(String other) {
        return new Activity(other, jobs, retried, retries, dead, backoff);
    }

    /** Returns the sum of both counts, under the type of this one. */
    public Activity plus(Activity other) {
        return new Activity(
                type,
                jobs + other.jobs,
                retried + other.retried,
                retries + other.retries,
                dead + other.dead,
                backoff.plus(other.backoff));
    }
}
