// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import io.reprise.batch.BatchMember;
import io.reprise.batch.BatchState;
import io.reprise.insight.DeadGroup;
import io.reprise.insight.LogLine;
import io.reprise.job.Attempt;
import io.reprise.job.AuditEntry;
import io.reprise.job.AuditNote;
import io.reprise.job.Cancellation;
import io.reprise.job.Enqueued;
import io.reprise.job.Job;
import io.reprise.job.JobChange;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.KeyRule;
import io.reprise.job.Page;
import io.reprise.job.Progress;
import io.reprise.job.QueueState;
import io.reprise.job.StoredSchedule;
import io.reprise.job.Transaction;
import io.reprise.step.StepEdit;
import io.reprise.step.StepList;
import io.reprise.step.Telling;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Where jobs are stored.
 *
 * <p>Every method is atomic, unless it says otherwise, and bounded in time. Many threads and many processes may call a
 * store at once. All times are times of the store's own clock, with a resolution of microseconds or coarser.
 *
 * <p><b>Errors.</b> A method throws {@link StoreException} if the database fails or refuses. Then the call may or may
 * not have had its effect. The engine repeats only calls that are safe to repeat, and only if
 * {@link StoreException#isTransient} says that it can help.
 *
 * <p><b>Lease and token.</b> A claim makes one lease for a batch of jobs of one queue. The token of the lease comes
 * from a source that only grows and survives crashes. A token is live for a job from the claim until one of these: the
 * job is settled under it, the lease is closed, or the lease is taken over after it expired. An expired lease that
 * nobody took over is still live. A job has at most one live token.
 *
 * <p><b>Follow-up jobs.</b> Parameters called {@code followUps} are jobs that follow an outcome. They are stored in the
 * same atomic step as the outcome, as by {@link #insert}.
 *
 * <p>The Javadoc of each method says how often the engine calls it. "The leader" is the one worker of the fleet that
 * holds the role of {@link #lead}.
 *
 * @since 0.1.0
 */
public interface JobStore extends JobWriter, InsightStore, DocumentStore, AutoCloseable {

    /**
     * Creates or upgrades the schema. A process calls it at its start, before all other methods. Several processes may
     * call it at once: one does the work, the others wait. A second call changes nothing.
     *
     * @throws io.reprise.job.RepriseException if the schema cannot be used, for instance because a newer version of Reprise
     *     made it
     */
    void prepare();

    /**
     * Checks, without a change, that {@link #prepare} has nothing to do. A store whose schema has no versions does
     * nothing; this is the default.
     *
     * @throws io.reprise.job.RepriseException if {@code prepare} must be called first, or the schema cannot be used
     */
    default void requirePrepared() {}

    /**
     * Returns the time of the store's clock. This clock alone decides whether a job is due or a lease is expired. It
     * does not go back. The leader calls it about every second.
     */
    Instant now();

    /**
     * Returns a writer that takes part in the caller's transaction. Its effects become visible with the caller's commit
     * and disappear with the caller's rollback. The store neither commits, rolls back nor closes the transaction.
     *
     * @param transaction a transaction of this store's kind, on the database of this store
     * @throws IllegalArgumentException if {@code transaction} is not of this store's kind
     */
    JobWriter within(Transaction transaction);

    /**
     * Leases due jobs to a worker. Each claim in the answer is one lease with jobs of one queue.
     *
     * <p>A job is claimed only if it is PENDING, due, not leased, not parked, and not past its deadline. Its queue must
     * not be paused, and fewer than {@code maxRunning} jobs of the queue may run. Two callers never get the same job.
     *
     * <p>Within a queue the order is: higher priority, then earlier due time, then lower id. This order holds within
     * each of the two groups of {@link ClaimRequest#retryShare}.
     *
     * <p>A job whose cancellation was requested when its last lease was closed may be claimed. The holder in the job's
     * status and {@link #renew} report the request.
     *
     * <p>Every worker calls it whenever it has room for jobs: after a job ended, after a wake-up, and by polling.
     *
     * @return claims with at least one job each; an empty list if there is no work
     */
    List<Claim> claim(ClaimRequest request);

    /**
     * Extends leases of a worker to {@code lease} from now, in one step. A lease is extended if it is live and belongs
     * to {@code worker}, even if it is expired. Every worker calls it for all its leases every 2 seconds, or every
     * third of a shorter lease.
     *
     * @param worker name of the worker that claimed
     * @param tokens tokens of its leases; may be empty
     * @param lease how long the leases hold from now on
     * @return the tokens that are not live under this worker any more, and the jobs whose cancellation was requested
     */
    Renewal renew(String worker, Collection<Long> tokens, Duration lease);

    /**
     * Marks live leases of a worker: if they are lost, the jobs are not to blame. A worker calls it when it is stopped,
     * because it may be killed before it has given its jobs back. It calls it again with false if a handler does not
     * end. {@link LostClaim#excused} reports the mark. Tokens that are not live under this worker are ignored.
     *
     * @param worker name of the worker that claimed
     * @param tokens tokens of its leases; may be empty
     * @param excused whether the jobs are excused; the last call wins
     */
    void excuse(String worker, Collection<Long> tokens, boolean excused);

    /**
     * Writes outcomes as {@link #settle(List, Collection)}, for a caller that does not know what else the leases hold.
     * A server calls it for runs that another server leased.
     *
     * <p>A lease of which nothing remains after this batch is deleted. This must also work if several callers settle
     * the last jobs of one lease at once.
     *
     * @param settlements outcomes; may be empty
     */
    Settled settle(List<Settlement> settlements);

    /**
     * Takes expired leases away from their workers. For each lease, in one atomic step, the old token ends and the
     * remaining jobs are leased to {@code taker} under a new token. An old worker's outcome is stale from then on.
     *
     * <p>A lease that was taken over and expired again can be taken over again. It still names the worker that lost it
     * first. A lease that a caller's transaction is settling is skipped, and so is a lease without jobs.
     *
     * <p>The leader calls it about every second, and again at once while it gets {@code maxLeases} leases.
     *
     * @param taker name of the worker that takes the leases
     * @param lease how long the new leases hold
     * @param maxLeases how many leases at most
     * @return the leases; fewer than {@code maxLeases} only if there are no more
     */
    List<LostClaim> takeOver(String taker, Duration lease, int maxLeases);

    /**
     * Deletes expired leases that hold no job. The leader calls it about every second. A store that keeps leases in the
     * jobs has none and returns 0.
     *
     * @param max how many at most
     * @return how many were deleted
     */
    int dropEmptyLeases(int max);

    /**
     * Stores the progress that a running handler reports, if {@code token} is the live token of the job. The last call
     * wins.
     *
     * @return whether it was stored; false if the token is not live
     */
    boolean progress(JobId job, long token, Progress progress);

    /**
     * Stores log lines of runs. A part that is there is replaced. Parts of jobs that do not exist are left out. Lines
     * stay when their job ends; they go with it, and with the run when the history forgets it.
     */
    void writeLog(List<LogPart> parts);

    /** Returns the log lines of a job, those of the earliest run first. Empty if the job does not exist. */
    default List<LogLine> log(JobId job) {
        return log(job, 0);
    }

    /**
     * Returns the log lines of a job's runs under this token and under later ones; see {@link #log(JobId)}. Lines of
     * earlier runs are not read.
     */
    List<LogLine> log(JobId job, long from);

    /** Returns the steps of a job; no steps if there is no such job. A run calls it at its first step. */
    StepList steps(JobId job);

    /**
     * Tells a live job an event. The first event of a name is stored and stays. If the job waits with reason EVENT and
     * an OPEN row of this name, it is due now. All of it is one atomic step. It excludes a {@link #settle} that begins
     * to wait for the event: no event is lost between the two.
     *
     * @param name name of the event
     * @param type name of the class of the value
     * @param value JSON, as the codec stored it
     */
    Telling tell(JobId job, String name, String type, String value);

    /**
     * Changes the steps of a job that does not run, and writes an audit entry, in one atomic step. Nothing is written
     * unless the answer is DONE. A job that waits with reason EVENT and whose OPEN event is deleted is due now: its next
     * run begins a new wait, so that the event, told later, finds a job that waits for it.
     */
    StepEdit.Result editSteps(JobId job, StepEdit edit, AuditNote note);

    /**
     * Creates an open batch. Its jobs are stored in the same atomic step. They wait with reason BATCH until the batch
     * succeeds or ends; then they are due, and their deadlines begin. If success has become impossible at the end,
     * because a member was cancelled, the job for the success becomes CANCELLED.
     *
     * @param name name of {@link JobSpec#requireName}
     * @param onSuccess the job for the success; null for none
     * @param onEnd the job for the end; null for none
     * @return false if there is a batch of this name; then nothing is stored
     * @throws io.reprise.job.RefusedException if a key of one of the jobs leads to a job that is there (KEY_TAKEN)
     */
    boolean createBatch(String name, @Nullable JobSpec onSuccess, @Nullable JobSpec onEnd);

    /** Returns a batch; empty if there is none of this name. */
    Optional<BatchState> batch(String name);

    /**
     * Returns a page of the batches of callers, by name. Batches of joins are left out.
     *
     * @param prefix beginning of the names; empty for all
     * @param limit batches per page
     * @param cursor {@link Page#next} of the page before; null for the first page
     */
    Page<BatchState> batches(String prefix, int limit, @Nullable String cursor);

    /**
     * Closes a batch, so that it can end. If no member is open, it ends in the same atomic step.
     *
     * @return the batch as it was before the call; empty if there is none. It was closed before if it has that time
     */
    Optional<BatchState> closeBatch(String name);

    /**
     * Lets the job for the success of a batch go for a person, although members are dead letters, and writes an audit entry
     * with action {@code finish-batch} that says how many. The batch has succeeded from then on. All of it is one atomic
     * step. Nothing is changed unless {@link BatchState#isFinishable}.
     *
     * @return the batch as it was before the call; empty if there is none
     */
    Optional<BatchState> finishBatch(String name, AuditNote note);

    /**
     * Returns children of a join that have ended, by their places.
     *
     * @param batch name of the batch of the join
     * @param after only greater places; {@link io.reprise.batch.Membership#NO_PLACE} for all
     * @param limit how many at most
     */
    List<BatchMember> members(String batch, int after, int limit);

    /**
     * Fails pending jobs whose deadline has passed, with reason DEADLINE. Parked jobs are included; running ones are
     * not. Each job is one atomic step with its follow-up jobs. The leader calls it about every second.
     *
     * @param limit how many jobs at most
     * @param followUps gives the follow-up jobs of a job that failed. It gets the job as it is after the step. It may be
     *     called again for one job if the step is repeated
     * @return the jobs that failed by this call
     */
    List<Job> expire(int limit, Function<Job, List<JobSpec>> followUps);

    /** Fails pending jobs whose deadline has passed, without follow-up jobs; see {@link #expire(int, Function)}. */
    default List<Job> expire(int limit) {
        return expire(limit, job -> List.of());
    }

    /**
     * Lets jobs go that wait under {@link KeyRule#FOLLOW} and whose key no live job holds any more. From then on they
     * hold the key themselves. Their delays and deadlines begin now. The leading worker calls it every second.
     *
     * @param limit greatest number of jobs
     * @return how many were let go
     * @throws StoreException if the database cannot be reached
     */
    int letFollow(int limit);

    /**
     * Gives waiting jobs of groups a turn of their own. Until then a job that was delayed, or failed, is in the turn
     * that it shares with all jobs without a turn. Takes those first that have been due longest. Suspects, parked and
     * running jobs keep what they have. The leader calls it about every second.
     *
     * @param waited how long a job must have been due; while no backlog is that old, nothing is written
     * @param limit how many jobs at most
     * @return how many jobs got their turn by this call
     */
    int giveTurns(Duration waited, int limit);

    /**
     * Puts due jobs of the lane of retries into the lane of fresh jobs, so that one order holds for both. Suspects and
     * parked jobs stay. Before a claim, workers call it for queues whose order in the fleet's settings is not by share.
     *
     * @param byCreation whether a job takes the place that it had when it was first due: its due time becomes that
     *     time. Otherwise the due time stays
     * @param limit how many jobs at most
     * @return how many jobs were moved by this call
     */
    int lineUp(String queue, boolean byCreation, int limit);

    /** Returns a job; empty if there is none with this id. */
    Optional<Job> find(JobId id);

    /**
     * Returns one page of the jobs that match, greatest id first.
     *
     * <p>The store reads at most {@link JobQuery#looks()} rows, or a few more if jobs move during the call. If that is
     * not enough, the page is short or empty and its cursor leads on. Rows that an index excludes do not count. At
     * least dead letters must be found by an index on their state, alone and together with a queue or a fingerprint.
     *
     * @throws IllegalArgumentException if the cursor is not one of this store
     */
    Page<Job> find(JobQuery query);

    /**
     * Returns the stored attempts of a job, oldest first; empty if there is no such job. The store keeps a bounded
     * number per job.
     */
    List<Attempt> attempts(JobId id);

    /**
     * Returns when counted runs of these jobs failed, oldest first, as far as history is kept. Jobs without a failure
     * may be missing. A worker calls it for batches of jobs that were retried and succeeded. The default reads the
     * attempts of each job.
     */
    default Map<JobId, List<Instant>> failures(Collection<JobId> jobs) {
        Map<JobId, List<Instant>> failures = new HashMap<>();
        jobs.forEach(id -> failures.put(
                id,
                attempts(id).stream()
                        .filter(attempt -> attempt.ending() == Attempt.Ending.FAILED)
                        .map(Attempt::endedAt)
                        .toList()));
        return failures;
    }

    /**
     * Returns the names of the queues that have pending or running jobs. It must be cheap enough to call often, however
     * long the backlog is.
     */
    Set<String> liveQueues();

    /**
     * Searches queues, in the order of their names, for those in which jobs can be claimed. Workers that serve many
     * queues call it often.
     *
     * <p>The cost depends on how many queues are looked at. It must not depend on how many queues or jobs exist. A
     * queue that could give a job when it was looked at is never left out. A queue may be returned although a claim
     * gets nothing: its jobs may be of types that the caller does not want, or its limit may be reached.
     *
     * @param after looks only at queues with greater names; empty for all
     * @param before looks only at queues with lesser names; {@link DueQueues#END} for all
     * @param looks how many queues with live jobs to look at, or a few more
     */
    DueQueues dueQueues(String after, String before, int looks);

    /**
     * Returns every queue that has settings or jobs, with its counts, for people. A store that must count stops at
     * {@link QueueState#countable} jobs of a queue and says so in {@link QueueState#atLeast}.
     */
    List<QueueState> queues();

    /**
     * Counts the pending and running jobs in the queues whose names begin with a prefix.
     *
     * @param queuePrefix beginning of the names; empty for all queues
     * @param most counting stops here
     * @return the number of jobs, at most {@code most}
     */
    int live(String queuePrefix, int most);

    /**
     * Counts the pending and running jobs of one queue. A process that enqueues into a queue with a ceiling calls it about
     * every 2 seconds. The default reads {@link #queues}.
     *
     * @param most counting stops here
     * @return the number of jobs, at most {@code most}
     */
    default int depth(String queue, int most) {
        return queues().stream()
                .filter(state -> state.name().equals(queue))
                .mapToInt(state -> (int) Math.min(most, state.count(JobState.PENDING) + state.count(JobState.RUNNING)))
                .sum();
    }

    /**
     * Pauses a queue: {@link #claim} takes nothing from it, nor from the queues beside it in which jobs with needs wait,
     * also if they appear later. Running jobs go on. {@link #queues} shows the pause at all of them. The store creates the
     * settings of the queue if there are none. If the queue is paused already, the first pause stays. Each call writes an
     * audit entry, in the same step.
     */
    void pause(String queue, AuditNote note);

    /**
     * Ends the pause of a queue. If the queue is not paused, only the audit entry is written. A queue of jobs with needs
     * goes on if neither it nor the queue that its jobs name is paused.
     */
    void resume(String queue, AuditNote note);

    /**
     * Limits how many jobs of a queue run at once in the whole fleet, together with those of the queues beside it in which
     * jobs with needs wait. Each of these may have a smaller limit of its own. {@link #queues} shows the limit at all of
     * them that have none. Jobs that run go on, even above the limit. The last call wins. Each call writes an audit entry,
     * in the same step.
     *
     * @param maxRunning the limit; null for no limit
     */
    void limit(String queue, @Nullable Integer maxRunning, AuditNote note);

    /**
     * Ends a pending job as CANCELLED, or asks the holder of a running job to stop it. The check, the change, the audit
     * entry and the follow-up jobs are one atomic step. No audit entry is written for {@link Cancellation#TOO_LATE} and
     * {@link Cancellation#MISSING}.
     *
     * @param followUps stored exactly if the answer is {@link Cancellation#DONE}
     */
    Cancellation cancel(JobId id, AuditNote note, List<JobSpec> followUps);

    /** Cancels a job without follow-up jobs; see {@link #cancel(JobId, Note, List)}. */
    default Cancellation cancel(JobId id, AuditNote note) {
        return cancel(id, note, List.of());
    }

    /**
     * Puts a FAILED or PENDING job back to PENDING, as {@code requeue} says. The check of state and unique key, the
     * change and the audit entry are one atomic step. A second call on the job that waits works again. Steps that FAILED
     * in a run are deleted, so that they run again; those that a person let fail stay. A job with a new id has no steps.
     */
    RequeueResult requeue(JobId id, Requeue requeue, AuditNote note);

    /**
     * Puts many jobs back, each in its own atomic step, in as few calls of the database as the store can. The default
     * calls {@link #requeue} for each.
     *
     * @return an answer for each id
     */
    default Map<JobId, RequeueResult> requeueAll(Map<JobId, Requeue> requeues, AuditNote note) {
        Map<JobId, RequeueResult> answers = new HashMap<>();
        requeues.forEach((id, requeue) -> answers.put(id, requeue(id, requeue, note)));
        return answers;
    }

    /**
     * Changes waiting jobs, each in its own atomic step, in as few calls of the database as the store can. The check of
     * {@link JobChange#applyTo}, the change and its entry in the audit log are one step. No claim can
     * come between them. A change of due time or queue unparks a parked job; every other change leaves it parked.
     *
     * @param changes the change of each job, with the policy and the payload as they are to be stored
     * @return an answer for each id
     */
    Map<JobId, JobChange.Answer> changeAll(Map<JobId, JobChange> changes, AuditNote note);

    /**
     * Cancels many jobs, each in its own atomic step, in as few calls of the database as the store can. The default
     * calls {@link #cancel(JobId, Note, List)} for each.
     *
     * @param followUps gives the follow-up jobs of a pending job. They are stored in the same step as its end. It may be
     *     called more than once for a job, and for a job that is not ended by this call; then its answer is not used
     * @return an answer for each id
     */
    default Map<JobId, Cancellation> cancelAll(
            Collection<JobId> ids, AuditNote note, Function<Job, List<JobSpec>> followUps) {
        Map<JobId, Cancellation> answers = new HashMap<>();
        ids.forEach(id ->
                answers.put(id, cancel(id, note, find(id).map(followUps).orElse(List.of()))));
        return answers;
    }

    /**
     * Discards many jobs, each in its own atomic step, in as few calls of the database as the store can. The default
     * calls {@link #discard} for each.
     *
     * @return the ids of the jobs that this call deleted
     */
    default Set<JobId> discardAll(Collection<JobId> ids, AuditNote note) {
        return ids.stream().filter(id -> discard(id, note)).collect(Collectors.toSet());
    }

    /** Returns those of these jobs that exist, in any order. The default calls {@link #find(JobId)} for each. */
    default List<Job> findAll(Collection<JobId> ids) {
        return ids.stream().flatMap(id -> find(id).stream()).toList();
    }

    /** Returns the job that an idempotency key leads to; empty if the key is not known. */
    Optional<JobId> findByIdempotencyKey(String key);

    /**
     * Deletes a job in a terminal state with its history, steps and idempotency keys, and writes an audit entry, in one step.
     *
     * @return whether this call deleted it; false if there is no such job or it is not in a terminal state
     */
    boolean discard(JobId id, AuditNote note);

    /**
     * Deletes jobs that reached one of these terminal states longer ago than {@code age}, with their history, steps
     * and idempotency keys. The leader calls it again and again until nothing is left, then every 10 seconds.
     *
     * @param states terminal states
     * @param limit how many at most
     * @return how many were deleted. Only 0 means that nothing is left: a batch can be short because another caller
     *     deleted some of its jobs
     */
    int prune(Set<JobState> states, Duration age, int limit);

    /**
     * Deletes entries of the audit log that are older than {@code age}, oldest first.
     *
     * @param limit how many at most
     * @return how many were deleted. Only 0 means that nothing is left
     */
    int pruneAudit(Duration age, int limit);

    /**
     * Returns entries of the audit log, newest first.
     *
     * @param job entries of this job; null for all entries
     * @param limit entries per page
     * @param cursor {@link Page#next} of the page before; null for the first page
     * @throws IllegalArgumentException if the cursor is not one of this store
     */
    Page<AuditEntry> audit(@Nullable JobId job, int limit, @Nullable String cursor);

    /** Returns the newest entries of the audit log; see {@link #audit(JobId, int, String)}. */
    default List<AuditEntry> audit(@Nullable JobId job, int limit) {
        return audit(job, limit, null).items();
    }

    /**
     * Writes an audit entry for something that a person did to a thing that is not a job.
     *
     * @param action name of the operation, such as {@code trigger-schedule}
     * @param subject name of the thing
     * @param detail what exactly changed; null if the action says it
     */
    void note(String action, String subject, AuditNote note, @Nullable String detail);

    /**
     * Groups the dead letters that match by the fingerprint of their error, largest group first.
     *
     * <p>The store reads at most {@link JobQuery#looks()} dead letters, the newest after the cursor. If the page is not
     * the last, its counts and times are of those only, and the next pages hold more of the same groups. The states and
     * the limit of the query are ignored.
     *
     * @param limit groups per page
     * @throws IllegalArgumentException if the cursor is not one of this store
     */
    Page<DeadGroup> deadGroups(JobQuery query, int limit);

    /**
     * Creates a schedule, or changes rule and job of the schedule with this name. If the rule stays the same, the next
     * firing stays; otherwise it becomes {@code nextAt}. A paused schedule stays paused. An application usually calls
     * it at each start.
     *
     * @param rule text of the rule; the store does not read it
     * @param job the job that each firing enqueues
     * @param nextAt the next firing of a new or changed schedule
     */
    default void putSchedule(String name, String rule, JobSpec job, Instant nextAt) {
        putSchedule(name, rule, job, nextAt, null);
    }

    /**
     * Stores a schedule for a person; see {@link #putSchedule(String, String, JobSpec, Instant)}. In the same atomic
     * step it writes an audit entry with action {@code put-schedule}.
     *
     * @param note who stores it; null for no audit entry
     */
    void putSchedule(String name, String rule, JobSpec job, Instant nextAt, @Nullable AuditNote note);

    /**
     * Removes a schedule. Its jobs stay.
     *
     * @return whether there was one
     */
    default boolean removeSchedule(String name) {
        return removeSchedule(name, null);
    }

    /**
     * Removes a schedule for a person. If there is one, the same atomic step writes an audit entry with action
     * {@code delete-schedule}.
     *
     * @param note who removes it; null for no audit entry
     * @return whether there was one
     */
    boolean removeSchedule(String name, @Nullable AuditNote note);

    /**
     * Pauses or resumes a schedule, and writes an audit entry if the schedule exists. The last call wins.
     *
     * @return whether there is such a schedule
     */
    boolean pauseSchedule(String name, boolean paused, AuditNote note);

    /**
     * Enqueues the job of a schedule for a person, as by {@link #insert}, and writes an audit entry with action
     * {@code trigger-schedule}. Both are one atomic step. The next firing stays as it is. Each call enqueues a job,
     * unless its keys prevent it; the audit entry names the job that the caller is answered with.
     *
     * @param name name of the schedule, for the audit entry; the store does not look for it
     * @param job the job
     * @param note who triggers it
     * @throws io.reprise.job.KeyReusedException see {@link #insert}; nothing is stored
     * @throws io.reprise.job.DuplicateKeyException see {@link #insert}; nothing is stored
     */
    Enqueued trigger(String name, JobSpec job, AuditNote note);

    /** Returns all schedules by name, for people. */
    List<StoredSchedule> schedules();

    /** Returns a schedule; empty if there is none with this name. */
    Optional<StoredSchedule> schedule(String name);

    /**
     * Returns the schedules that are due and not paused, by due time and then by name. The cost must not depend on how
     * many other schedules exist. The leader calls it when a schedule is due, and at least about every second.
     *
     * @param limit how many at most
     * @param after the last schedule of the page before; null for the first page
     */
    List<StoredSchedule> dueSchedules(int limit, @Nullable StoredSchedule after);

    /** Returns when the next schedule becomes due that is neither paused nor due already; empty if there is none. */
    Optional<Instant> nextFiring();

    /**
     * Fires schedules: moves each from {@code dueAt} to {@code nextAt} and enqueues its jobs. All of it is one atomic
     * step. A schedule fires only if it still stands at {@code dueAt} and is not paused; for the others nothing is
     * done.
     *
     * @param firings no schedule twice
     * @return for each firing, in order, the enqueued jobs; empty if the schedule moved, was paused or was removed
     *     before
     * @throws io.reprise.job.DuplicateKeyException if a job is refused; then no schedule of this call fired
     */
    List<Optional<List<Enqueued>>> fireAll(List<Firing> firings);

    /**
     * Fires one schedule; see {@link #fireAll}.
     *
     * @return the enqueued jobs; empty if the schedule moved, was paused or was removed before
     */
    default Optional<List<Enqueued>> fire(String name, Instant dueAt, Instant nextAt, List<JobSpec> jobs) {
        return fireAll(List.of(new Firing(name, dueAt, nextAt, jobs))).get(0);
    }

    /** Returns those of these jobs that are pending or running. */
    Set<JobId> live(Collection<JobId> jobs);

    /**
     * Returns all shared control state, in the order of names. Every worker calls it every 5 seconds, or less often if
     * there are many rows.
     */
    List<ControlRow> controls();

    /** Returns the control state with these names, as far as it is stored. */
    List<ControlRow> controls(Collection<String> names);

    /**
     * Returns the control state with a greater version than {@code version}. Every worker calls it about once a second.
     *
     * <p>A change may become visible after a change with a greater version. A caller that must not miss a change passes
     * the version of some seconds ago. Removed rows are not reported.
     */
    List<ControlRow> controlsAfter(long version);

    /**
     * Stores control state, each row in its own atomic step. A row is stored only if nobody changed it since it was
     * read: the stored version must equal the version of the row, and there must be no stored row if that version is 0.
     *
     * @param rows no name twice
     * @return the new version of each row, in order, greater than every version that this name ever had; empty if
     *     another caller changed the row first
     */
    List<OptionalLong> putControls(List<ControlRow> rows);

    /** Stores one row of control state; see {@link #putControls}. */
    default OptionalLong putControl(ControlRow row) {
        return putControls(List.of(row)).get(0);
    }

    /**
     * Stores one row of control state for a person; see {@link #putControls}. If the row is stored, an audit entry is
     * written in the same step.
     *
     * @param action name of the operation, such as {@code force-open}
     */
    OptionalLong putControl(ControlRow row, String action, AuditNote note);

    /**
     * Deletes those of these rows whose stored version still equals the version of the row. Each row is its own atomic
     * step.
     *
     * @return the names of the deleted rows
     */
    Set<String> removeControls(List<ControlRow> rows);

    /**
     * Deletes one row of control state if it still has this version; see {@link #removeControls}.
     *
     * @return whether it was deleted
     */
    default boolean removeControl(String name, long version) {
        return !removeControls(List.of(new ControlRow(name, version, ""))).isEmpty();
    }

    /**
     * Counts the parked jobs of each name, for people. A store that must count may stop at {@link QueueState#countable}
     * of the number of names.
     */
    Map<String, Long> parked();

    /** Returns the names by which jobs are parked. The leader calls it about every second, so it must be cheap. */
    Set<String> parkedBy();

    /**
     * Unparks jobs, so that they can be claimed. Due time and wait reason stay, so that a claim can tell which jobs the
     * breaker admitted; see {@link Unparking#free} for the exception. Jobs of paused queues stay parked.
     *
     * <p>Each job is its own atomic step. After a crash some of the jobs may still be parked. The leader calls it, up
     * to about ten times a second while a breaker recovers.
     *
     * @return how many jobs were unparked for each request, in order
     */
    List<Integer> unpark(List<Unparking> requests);

    /**
     * Unparks up to {@code max} jobs of a backlog; see {@link #unpark(List)} and {@link Unparking#backlog}.
     *
     * @return how many jobs were unparked
     */
    default int unpark(String name, int max) {
        return unpark(List.of(Unparking.backlog(name, max))).get(0);
    }

    /**
     * Makes a worker the holder of a role, or keeps it so. A role is free if it has no holder, if the term of its
     * holder is over, or if its holder resigned. The check and the change are one atomic step. Every worker calls it
     * when half of its term is over: about every 5 seconds.
     *
     * @param role name of the role
     * @param worker name of the worker that wants it
     * @param term how long the role is held from now, unless the worker calls again
     * @return whether {@code worker} holds the role now
     */
    boolean lead(String role, String worker, Duration term);

    /**
     * Gives up a role, so that another worker need not wait for the end of the term. Nothing happens if {@code worker}
     * does not hold it.
     */
    void resign(String role, String worker);

    /**
     * Does the upkeep of the store itself, such as folding counters and deleting old insight data. The leader calls it
     * about once a minute. A second call is harmless.
     */
    void maintain();

    /**
     * Adds a listener that is called when jobs may be due. The call is a hint: it may come late, more than once, or not
     * at all. Each worker of this process registers one. A listener must return quickly. An exception that it throws is
     * logged; it does not reach the caller whose write woke it.
     */
    void onWake(Runnable listener);

    /** Removes a listener. Nothing happens if it was never added. The default does nothing. */
    default void offWake(Runnable listener) {}

    /**
     * Calls the listeners of {@link #onWake}, here and, where the database can, in other processes. Call it after the
     * commit of a transaction that stored jobs through {@link #within}. Returns at once.
     */
    void wake();

    /**
     * Changes how many connections this process may have to the database at most. Connections beyond a lower number are
     * closed when they are free; no call fails because of it. The default does nothing, as do stores without a pool of
     * their own.
     *
     * @param connections 2 to 100; null for the number that the store was opened with
     */
    default void poolSize(@Nullable Integer connections) {}

    /** Closes the connections that the store itself opened. No other method may be called after it. */
    @Override
    void close();
}
