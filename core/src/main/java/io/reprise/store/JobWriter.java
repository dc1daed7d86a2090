// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import io.reprise.job.Enqueued;
import io.reprise.job.JobSpec;
import io.reprise.step.Checkpoint;
import io.reprise.step.StepWrite;
import java.util.Collection;
import java.util.List;

/**
 * The writes of a store that can also take part in a caller's transaction: {@link JobStore#within}.
 *
 * @since 0.1.0
 */
public interface JobWriter {

    /**
     * Stores jobs, all or none, in one atomic step.
     *
     * <p><b>Keys.</b> A spec stores nothing, and is answered with the job that is there, in two cases: its idempotency
     * key is known, or a live job holds its unique key under {@link io.reprise.job.KeyRule#KEEP}. Check and insert are one
     * atomic step. This holds between processes too, and for two specs of one call. The idempotency key is checked
     * first. It leads to the answered job from then on. A proof beside the idempotency key is stored with it.
     *
     * <p>A job that is replaced forgets its steps: they were done for another payload.
     *
     * <p><b>Batches.</b> A new member of a batch is counted in the same atomic step. Without {@link JobSpec#isSibling}
     * the batch must be open, with it the batch must not have ended. Children of a join are not counted here. A spec that its
     * idempotency key answers is not refused: a caller that lost the answer gets it, though the batch is closed meanwhile.
     *
     * <p><b>Times.</b> {@code firstDueAt} and {@code dueAt} are the later of the requested time and the store's now.
     * The deadline, if the policy has one, is {@code firstDueAt} plus that. The wait reason is NEW if the job is due at
     * once, else DELAYED.
     *
     * <p><b>Order.</b> Jobs that are due at the same time run in the order of their ids. New jobs of one call get ids in the
     * order of the specs, also if they have keys. A store may store some jobs of a call apart, after the others: those that
     * differ from many alike ones, or whose key is held.
     *
     * <p>A second call with the same specs stores the jobs a second time, unless keys prevent it.
     *
     * @param specs the jobs; may be empty
     * @return an answer for each spec, in order
     * @throws io.reprise.job.KeyReusedException if an idempotency key is known, but not with the proof of the spec; nothing
     *     is stored
     * @throws io.reprise.job.DuplicateKeyException if a live job holds the unique key under REJECT, or a running job holds
     *     it under REPLACE; nothing is stored
     * @throws io.reprise.job.RefusedException if the batch of a job does not exist or takes no more members; nothing is
     *     stored
     */
    List<Enqueued> insert(List<JobSpec> specs);

    /**
     * Writes outcomes. For each settlement, one atomic step writes job state, counters, attempt history and counts. The
     * step happens if and only if the token of the settlement is the live token of the job. Otherwise nothing is
     * written for it and the job is reported as stale.
     *
     * <p>A stale settlement does not affect the others. A settled job leaves its lease. Settling a job twice is
     * harmless: the second time is stale. If one call has several settlements of one job, only the settlement with
     * the greatest token counts. The job is also reported as stale, because of the others.
     *
     * <p><b>State.</b> Succeed, Fail and Cancel are terminal and free the unique key. A job whose cancellation was
     * requested becomes CANCELLED instead of Wait, Park, PutBack or Fail. A success stays a success.
     *
     * <p><b>Suspects.</b> A Wait after {@link CountedAs#LOSS} makes a job a suspect if it was lost before. One loss is bad
     * luck, which a whole batch shares. {@link Settlement.Wait#together} of the latest such Wait says how many suspects
     * may run with it. The next {@link CountedAs#ATTEMPT} clears the suspicion.
     *
     * <p><b>History.</b> An attempt is written for every {@link CountedAs} except NOTHING. A store may derive the attempt
     * of a success from the finished job. The ending of an attempt follows {@code spent}; for ATTEMPT it is SUCCEEDED,
     * CANCELLED or FAILED, as settled. The store keeps a bounded number of attempts per job and deletes the oldest.
     *
     * <p><b>Batches.</b> A job that ends is counted in its batch in the same atomic step. If that is the last open member
     * of a closed batch, the same step makes the jobs due that wait for it.
     *
     * <p><b>Follow-up jobs.</b> {@link Settlement#followUps} are inserted in the same atomic step, exactly for the
     * settlements that are accepted. Their insert cannot be refused.
     *
     * @param settlements outcomes; may be empty
     * @param closing tokens of leases that hold nothing after this batch. The store deletes these leases. If one still
     *     holds a job, that job becomes claimable as it was before the claim
     * @return the time of the batch, the stale jobs, and the jobs that became CANCELLED instead
     */
    Settled settle(List<Settlement> settlements, Collection<Long> closing);

    /**
     * Writes steps of runs that go on. For each, one atomic step checks that {@code token} is the live token of the job
     * and writes the row. The condition on the token is in the statement that writes.
     *
     * <p>A row of the same name may be there only if it is OPEN or STARTED and {@link StepWrite#replaces} is true. Then
     * this row takes its place. Writing a row again with the same token and content is harmless.
     *
     * @param checkpoints each job once; may be empty
     * @return an answer for each checkpoint, in order
     */
    List<Checkpoint.Answer> checkpoint(List<Checkpoint> checkpoints);
}
