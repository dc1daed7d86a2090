// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

/**
 * How many suspects a worker may claim. A suspect is a job that was lost more than once: it may have killed its
 * workers. So suspects run in leases of their own. Each suspect says how many suspects may run on one worker together
 * with it ({@link Settlement.Wait#together}).
 *
 * @param max suspects that may be claimed at most; a negative value becomes 0
 * @param beside suspects that the worker holds already
 * @since 0.1.0
 */
public record Suspects(int max, int beside) {

    /** No suspects. */
    public static final Suspects NONE = new Suspects(0, 0);

    /** Replaces a negative {@code max} by 0. */
    public Suspects {
        max = Math.max(0, max);
    }

    /** Returns a request for up to {@code max} suspects, for a worker that holds none. */
    public static Suspects upTo(int max) {
        return new Suspects(max, 0);
    }

    /**
     * Returns how many of these suspects may be claimed together, counted from the first one.
     *
     * @param together for each suspect, in the order of the claim, how many may run on one worker with it
     */
    public int fitting(int... together) {
        int fitting = 0;
        int most = max;
        while (fitting < together.length && fitting < (most = Math.min(most, together[fitting] - beside))) {
            fitting++;
        }
        return fitting;
    }

    /**
     * Returns what may still be claimed after a claim.
     *
     * @param claim a claim of suspects that was just made by this request
     */
    public Suspects after(Claim claim) {
        int taken = claim.jobs().size();
        return new Suspects(Math.min(max - taken, claim.together() - beside - taken), beside + taken);
    }
}
