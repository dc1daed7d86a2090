// SPDX-License-Identifier: Apache-2.0
package io.reprise.insight;

import io.reprise.job.Job;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Dead letters that failed with the same error.
 *
 * @param fingerprint fingerprint of the error; null for dead letters without an error, such as those whose deadline
 *     passed before a run
 * @param count number of dead letters
 * @param firstAt when the first of them failed
 * @param lastAt when the last of them failed
 * @param latest the dead letter with the greatest id, as an example
 * @since 0.1.0
 */
public record DeadGroup(@Nullable String fingerprint, long count, Instant firstAt, Instant lastAt, Job latest) {

    /** Returns this group with another example. */
    public DeadGroup with(Job other) {
        return new DeadGroup(fingerprint, count, firstAt, lastAt, other);
    }

    /** Returns a short text for people. */
    @Override
    public String toString() {
        return count + (count == 1 ? " dead letter" : " dead letters") + " with error " + fingerprint + ", latest: "
                + latest;
    }
}
