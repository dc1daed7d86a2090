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
 */
public record LostClaim(Claim claim, long lostToken, String lostWorker) {}
