// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

/**
 * An expired lease taken over from its worker.
 *
 * @param claim the jobs, under a new token that only the taker knows; it settles them like a claim of its own. Its
 *     {@code claimedAt} and the jobs' {@code startedAt} are still those of the claim that was lost, and history names
 *     the worker that lost it
 * @param lostToken the token that died with the lease
 * @param lostWorker who claimed the jobs; after several take-overs still the first
 * @param excused whether the worker had said that it goes ({@link JobStore#excuse}), so that none of the jobs is to blame
 * @param unheard whether the claim was {@link ClaimRequest#remote}, and since then the lease was never renewed and none of its
 *     jobs was settled: the worker may never have heard of it
 */
public record LostClaim(Claim claim, long lostToken, String lostWorker, boolean excused, boolean unheard) {

    /** The claim of a worker that went without a word. */
    public LostClaim(Claim claim, long lostToken, String lostWorker) {
        this(claim, lostToken, lostWorker, false, false);
    }
}
