// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

/**
 * An expired lease taken over from its worker.
 *
 * @param claim the jobs, under a new token that only the taker knows; it settles them like a claim of its own
 * @param lostToken the token that died with the lease
 * @param lostWorker who held it
 */
public record LostClaim(Claim claim, long lostToken, String lostWorker) {}
