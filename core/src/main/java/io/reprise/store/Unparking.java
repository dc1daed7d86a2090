// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A request to unpark jobs of one name, so that they can be claimed.
 *
 * @param name the name that the jobs are parked by
 * @param max jobs at most; 0 or more
 * @param since null for the backlog: jobs due earliest come first, and each counts as a retry in claims, so that fresh
 *     jobs keep their share. Otherwise for fresh jobs: only jobs that never ran and are due at this time or later,
 *     those due latest first, among the latest {@link #look} that are parked
 * @param free whether nothing holds jobs of this name any more. Then the jobs become ordinary jobs, with wait reason
 *     NEW or RETRY: a claim does not list them as {@linkplain Claim#admitted admitted}, and a breaker that opens later
 *     holds them again
 * @since 0.1.0
 */
public record Unparking(String name, int max, @Nullable Instant since, boolean free) {

    /**
     * Checks the number.
     *
     * @throws IllegalArgumentException if {@code max} is negative
     */
    public Unparking {
        if (max < 0) {
            throw new IllegalArgumentException("max must not be negative, but is " + max);
        }
    }

    /** Returns how many of the jobs due latest a store reads for fresh jobs. Retries may be between them. */
    public int look() {
        return 4 * max + 100;
    }

    /**
     * Returns a request for jobs of the backlog, those due earliest first.
     *
     * @throws IllegalArgumentException if {@code max} is negative
     */
    public static Unparking backlog(String name, int max) {
        return new Unparking(name, max, null, false);
    }

    /**
     * Returns this request for another number of jobs.
     *
     * @throws IllegalArgumentException if {@code jobs} is negative
     */
    public Unparking upTo(int jobs) {
        return new Unparking(name, jobs, since, free);
    }

    /** Returns this request for a name that nothing holds jobs by any more. */
    public Unparking freely() {
        return new Unparking(name, max, since, true);
    }

    /**
     * Returns a request for fresh jobs, those due latest first.
     *
     * @param since only jobs that are due at this time or later
     * @throws IllegalArgumentException if {@code max} is negative
     */
    public static Unparking fresh(String name, int max, Instant since) {
        return new Unparking(name, max, since, false);
    }
}
