// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import io.reprise.Attempt;
import io.reprise.Job;
import io.reprise.JobId;
import io.reprise.JobSpec;
import io.reprise.JobState;
import io.reprise.Progress;
import io.reprise.Transaction;
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
import org.jspecify.annotations.Nullable;

/**
 * Where jobs live. Every method is atomic, safe to call from many threads and processes at once, bounded in time, and
 * either did all of what it says or throws {@link StoreException} (after which it may or may not have happened: the
 * engine repeats only what is harmless to repeat). All times are the store's own.
 *
 * <p><b>Lease and fence.</b> A claim makes one lease row for a batch of jobs. The lease's token comes from a source that
 * only grows and survives crashes. A token is live for a job from the claim until the job is settled under it, the lease
 * is closed, or the lease is taken over after it expired. An expired lease that nobody took over yet is still live.
 */
public interface JobStore extends JobWriter, InsightStore, DocumentStore, AutoCloseable {

    /** Creates or upgrades the schema. Several processes may call it at once; one does the work, the others wait. */
    void prepare();

    /** The store's clock: the only one that decides whether something is due or expired. */
    Instant now();

    /**
     * A writer that takes part in the caller's transaction: its effects become visible with the caller's commit and
     * vanish with its rollback.
     *
     * @throws IllegalArgumentException if the transaction is not of this store's kind
     */
    JobWriter within(Transaction transaction);

    /**
     * Leases due jobs to a worker. Never returns a job that is leased, parked, not due, past its deadline, in a paused queue, or
     * above its queue's {@code maxRunning}. Within a queue: higher priority first, then earlier due, then lower id, in
     * each of the two groups of {@link ClaimRequest#retryShare}. A job whose cancellation was requested just when its last
     * lease was closed may be among them: its holder says so, and so does {@link #renew}. No claim is empty; the list is if there is no work.
     */
    List<Claim> claim(ClaimRequest request);

    /** Extends leases of this worker that are still live to {@code lease} from now, and tells which are not. */
    Renewal renew(String worker, Collection<Long> tokens, Duration lease);

    /**
     * Takes expired leases away from their workers: atomically ends each old token and leases its remaining jobs to the
     * taker under a new one. A lease without remaining jobs just goes. A take-over that itself expired can be taken
     * over again, still naming the worker that lost it first. Leases that a caller's transaction is settling are passed.
     */
    List<LostClaim> takeOver(String taker, Duration lease, int maxLeases);

    /** Keeps a running handler's progress, if its token is live. */
    boolean progress(JobId job, long token, Progress progress);

    /**
     * Fails up to {@code limit} pending jobs whose deadline has passed, with reason DEADLINE, and returns them.
     *
     * @param sequels asked for each of them, as it is then, for jobs to be inserted in the same atomic step; may be asked
     *     again if the step has to be repeated
     */
    List<Job> expire(int limit, Function<Job, List<JobSpec>> sequels);

    default List<Job> expire(int limit) {
        return expire(limit, job -> List.of());
    }

    Optional<Job> find(JobId id);

    /**
     * One page of the jobs that match.
     *
     * @throws IllegalArgumentException if the cursor is not one of ours
     */
    Page<Job> find(JobQuery query);

    /** Kept history, oldest first. */
    List<Attempt> attempts(JobId id);

    /**
     * When counted runs of each of these jobs failed, oldest first, as far as history is kept; jobs without a failure
     * may be missing. Asked for whole batches of jobs that were retried and succeeded.
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

    /** Names of the queues that have pending or running jobs; cheap enough to ask often. */
    Set<String> liveQueues();

    /** Every queue that has settings or jobs, with counts. */
    List<QueueState> queues();

    /** Creates the settings of a queue if need be. Pausing twice keeps the first pause. */
    void pause(String queue, Note note);

    void resume(String queue, Note note);

    /** Bounds how many jobs of a queue run at once in the whole fleet; null for no limit. */
    void limit(String queue, @Nullable Integer maxRunning, Note note);

    /**
     * Ends a pending job as CANCELLED, or notes that the holder of a running one shall stop it.
     *
     * @param sequels inserted in the same atomic step, exactly if the answer is {@link Cancellation#DONE}
     */
    Cancellation cancel(JobId id, Note note, List<JobSpec> sequels);

    default Cancellation cancel(JobId id, Note note) {
        return cancel(id, note, List.of());
    }

    /** Puts a FAILED or PENDING job back as told. */
    Revived revive(JobId id, Revival revival, Note note);

    /** The job that an idempotency key leads to; empty if the key is not known. */
    Optional<JobId> findByIdempotencyKey(String key);

    /** Deletes a job in a terminal state with its history and idempotency key. False if there is none. */
    boolean discard(JobId id, Note note);

    /** Deletes up to {@code limit} jobs that reached one of the terminal states longer ago than {@code age}. */
    int prune(Set<JobState> states, Duration age, int limit);

    /**
     * Operations by hand, newest first; of one job, or of everything if null.
     *
     * @param cursor what the page before called next; null for the first
     * @throws IllegalArgumentException if the cursor is none of this store's
     */
    Page<AuditEntry> audit(@Nullable JobId job, int limit, @Nullable String cursor);

    /** The newest of them. */
    default List<AuditEntry> audit(@Nullable JobId job, int limit) {
        return audit(job, limit, null).items();
    }

    /** Writes down that something was done by hand to a thing that is not a job. */
    void note(String action, String subject, Note note, @Nullable String detail);

    /**
     * Dead letters that match, by the fingerprint of what they failed of; the largest group first, at most {@code limit}.
     * Counts them: for people who look. The query's states, limit and cursor do not matter.
     */
    List<DeadGroup> deadGroups(JobQuery query, int limit);

    /**
     * Creates a schedule, or changes rule and job of the one with this name; the next firing is kept if the rule is the
     * same, else it becomes {@code nextAt}. A paused schedule stays paused.
     */
    void putSchedule(String name, String rule, JobSpec job, Instant nextAt);

    boolean removeSchedule(String name);

    boolean pauseSchedule(String name, boolean paused, Note note);

    List<StoredSchedule> schedules();

    /**
     * Moves a schedule from {@code dueAt} to {@code nextAt} and enqueues {@code jobs}, in one step, if it still stands at
     * {@code dueAt} and is not paused; otherwise does nothing.
     *
     * @return what was enqueued; empty if another worker was first
     */
    Optional<List<Inserted>> fire(String name, Instant dueAt, Instant nextAt, List<JobSpec> jobs);

    /** All shared control state; a few small rows, asked for about once a second by each worker. */
    List<ControlRow> controls();

    /**
     * Stores control state if nobody else did since the row was read: the stored version must be that of the row, and
     * there must be none if that is 0.
     *
     * @return the new version, greater than every version this name ever had; empty if another was first
     */
    OptionalLong putControl(ControlRow row);

    /** The same by hand: an accepted change is noted, with the action, in the audit log. */
    OptionalLong putControl(ControlRow row, String action, Note note);

    /** Deletes control state, if it still has this version. */
    boolean removeControl(String name, long version);

    /** How many jobs are parked by each name. Counts them: for people who look. */
    Map<String, Long> parked();

    /** The names by which jobs are parked; cheap enough to ask often. */
    Set<String> parkedBy();

    /**
     * Puts up to {@code max} jobs parked by this name back into the lanes they came from, those due earliest first. Jobs of
     * paused queues stay. Due time and wait reason stay as they are, so that a claim can tell who was let through.
     *
     * @return how many
     */
    int unpark(String name, int max);

    /**
     * Becomes or stays the one holder of a role.
     *
     * @return whether {@code worker} holds it now, for {@code term} from now unless it asks again
     */
    boolean lead(String role, String worker, Duration term);

    /** Gives up a role, so that another need not wait for the term to end. */
    void resign(String role, String worker);

    /** Upkeep the leader calls now and then: folds counters, forgets what is old, and the like. */
    void maintain();

    /**
     * Registers one more who wants to know, soon, that jobs of some queue may be due: every worker of this process on
     * this store does. Only a hint: it may come late, twice or never.
     */
    void onWake(Runnable listener);

    /** Tells this listener no more. Harmless if it was never registered. */
    default void offWake(Runnable listener) {}

    @Override
    void close();
}
