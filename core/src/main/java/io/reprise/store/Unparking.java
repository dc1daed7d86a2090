// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Which parked jobs of one name to put back, so that they can be claimed.
 *
 * @param name the name of what they are parked by
 * @param max how many at most, 0 or more
 * @param since null for a backlog: those due earliest first, and each counts as a retry in claims, so that fresh work keeps
 *     its share. Else fresh work: only jobs due at this time or later that were never tried, those due latest first, of the
 *     last {@link #look} that are parked
 * @param free whether nothing holds jobs of this name any more. Then they are ordinary jobs: none of them is
 *     {@linkplain Claim#admitted admitted} when it is claimed, so a breaker that opens meanwhile holds them again
 */
public record Unparking(String name, int max, @Nullable Instant since, boolean free) {

    public Unparking {
        if (max < 0) {
            throw new IllegalArgumentException("max must not be negative, but is " + max);
        }
    }

    /** How many of the jobs due latest to look at for fresh work: retries may lie between. */
    public int look() {
        return 4 * max + 100;
    }

    /** Of the backlog. */
    public static Unparking backlog(String name, int max) {
        return new Unparking(name, max, null, false);
    }

    /** The same with another number. */
    public Unparking upTo(int jobs) {
        return new Unparking(name, jobs, since, free);
    }

    /** The same, where nothing holds jobs of this name any more. */
    public Unparking freely() {
        return new Unparking(name, max, since, true);
    }

    /** Of what has become due since. */
    public static Unparking fresh(String name, int max, Instant since) {
        return new Unparking(name, max, since, false);
    }
}
