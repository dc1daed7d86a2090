// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import io.reprise.JobSpec;
import java.util.Collection;
import java.util.List;

/** The two writes of a store that may also take part in a caller's transaction. */
public interface JobWriter {

    /**
     * Stores jobs, all or none. Answers in the order of {@code specs}.
     *
     * <p>A spec whose idempotency key is known, or whose unique key is held by a live job under
     * {@link io.reprise.KeyRule#KEEP}, stores nothing and is answered with the job that is there; the check and the
     * insert are one atomic step, also between processes, also for two specs of this call. The idempotency key is
     * looked at first, and leads from then on to whichever job was answered. A proof beside it is remembered with it. {@code firstDueAt} and {@code dueAt} are the later of the requested time and the store's now; the
     * deadline, if the policy has one, is {@code firstDueAt} plus that. The wait reason is NEW if due at once, else
     * DELAYED.
     *
     * @throws io.reprise.KeyReusedException if an idempotency key is known, but not together with the proof that the spec has;
     *     nothing is stored
     * @throws io.reprise.DuplicateKeyException under REJECT, or under REPLACE if the holder is running; nothing is stored
     */
    List<Inserted> insert(List<JobSpec> specs);

    /**
     * Writes outcomes: for each settlement, atomically, job state, counters, attempt history and counts, if and only if
     * the settlement's token is the live token of the job; otherwise nothing of it is written and the job is reported
     * stale. One stale settlement does not hinder the others. Settled jobs leave their lease. Settling twice is
     * harmless: the second time is stale. Of several settlements of one job in one call only the one with the greatest
     * token counts, and the job is reported stale for the sake of the others.
     *
     * <p>Succeed, Fail and Cancel are terminal and free the unique key. A job whose cancellation was requested meanwhile
     * becomes CANCELLED instead of Wait, PutBack or Fail. A Wait after {@link Spent#LOSS} makes a job
     * that was lost before a suspect, until it next ends with {@link Spent#ATTEMPT}: once is bad luck, and a whole batch
     * shares it. How many suspects may run together with it is {@link Settlement.Wait#together} of the last of these. Attempt rows are written for every {@code spent} but NOTHING; a
     * success's may be derived from the finished job. A row's ending follows {@code spent}; an ATTEMPT's is what was
     * settled, SUCCEEDED, CANCELLED or else FAILED. History is bounded: the oldest rows beyond the store's limit go.
     *
     * <p>{@link Settlement#sequels} are inserted in the same atomic step, exactly for the settlements that are accepted: as
     * by {@link #insert}, except that nothing about them can be refused.
     *
     * @param closing leases of which nothing remains after this batch; they are deleted, and should one still hold a job
     *     after all, that job is claimable again as it was before the claim
     */
    Settled settle(List<Settlement> settlements, Collection<Long> closing);
}
