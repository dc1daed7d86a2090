// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import io.reprise.Job;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Dead letters that failed of the same error.
 *
 * @param fingerprint of the error; null for those that failed without one, such as by a deadline that passed
 * @param firstAt when the first of them failed for good
 * @param latest the one with the greatest id, as an example
 */
public record DeadGroup(@Nullable String fingerprint, long count, Instant firstAt, Instant lastAt, Job latest) {

    /** The same with another example. */
    public DeadGroup with(Job other) {
        return new DeadGroup(fingerprint, count, firstAt, lastAt, other);
    }
}
