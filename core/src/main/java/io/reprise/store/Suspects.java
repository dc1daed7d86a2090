// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

/**
 * How many suspects a worker may claim. A suspect is a job that was lost more than once: it may be what killed its
 * workers. So suspects run in leases of their own, and each says how many may run on one worker together with it
 * ({@link Settlement.Wait#together}).
 *
 * @param max how many may be claimed at most
 * @param beside how many the worker holds already
 */
public record Suspects(int max, int beside) {

    public static final Suspects NONE = new Suspects(0, 0);

    public Suspects {
        max = Math.max(0, max);
    }

    /** Up to so many, for a worker that holds none. */
    public static Suspects upTo(int max) {
        return new Suspects(max, 0);
    }

    /** How many of these may be claimed together, from the first on, by how many each of them may run together with. */
    public int fitting(int... together) {
        int fitting = 0;
        int most = max;
        while (fitting < together.length && fitting < (most = Math.min(most, together[fitting] - beside))) {
            fitting++;
        }
        return fitting;
    }

    /**
     * What may still be claimed.
     *
     * @param claim of some suspects, just made
     */
    public Suspects after(Claim claim) {
        int taken = claim.jobs().size();
        return new Suspects(Math.min(max - taken, claim.together() - beside - taken), beside + taken);
    }
}
