// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import java.time.Duration;

/**
 * How jobs of one type fared in some stretch of time.
 *
 * @param jobs first attempts that ended
 * @param retried those of them that are to be retried
 * @param retries retries that were scheduled, after whichever attempt
 * @param dead jobs that became dead letters
 * @param backoff the delays of {@code retries}, added up
 */
public record Activity(String type, long jobs, long retried, long retries, long dead, Duration backoff) {

    /** Where types go that would be one too many. */
    public static final String REST = "other";

    /** The same of another type. */
    public Activity of(String other) {
        return new Activity(other, jobs, retried, retries, dead, backoff);
    }

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
