// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

/**
 * An expired lease that was taken over from its worker.
 *
 * @param claim the jobs, under a new token that only the taker knows. The taker settles them like a claim of its own.
 *     {@code claimedAt} and the jobs' {@code startedAt} are those of the lost claim, and history names the worker that
 *     lost it. A store need not set {@code admitted}, {@code damaged} and {@code together}
 * @param lostToken the token that ended with the lost lease
 * @param lostWorker the worker that claimed the jobs; after several take-overs still the first
 * @param excused whether the worker said that it stops ({@link JobStore#excuse}), so that no job is to blame
 * @param unheard whether the claim was {@link ClaimRequest#remote} and the worker was not heard from: the lease was
 *     never renewed and none of its jobs was settled. The worker may not know of the claim
 * @since 0.1.0
 */
public record LostClaim(Claim claim, long lostToken, String lostWorker, boolean excused, boolean unheard) {

    /** Creates the lost claim of a local worker that did not say that it stops. */
    public LostClaim(Claim claim, long lostToken, String lostWorker) {
        this(claim, lostToken, lostWorker, false, false);
    }
}
