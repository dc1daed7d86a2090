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
import java.util.stream.Collectors;
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

    /**
     * Looks, without changing anything, whether {@link #prepare} would find something to do. A store that has no versions does
     * nothing.
     *
     * @throws io.reprise.RepriseException if it would
     */
    default void requirePrepared() {}

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
     * Says of live leases of this worker whether their loss, should it come to that, is no fault of the jobs: the worker is
     * being stopped and may be killed before it has given them back. Who takes them over is told so.
     */
    void excuse(String worker, Collection<Long> tokens, boolean excused);

    /**
     * The same for a caller that does not know what else the leases hold, such as a server that hears of runs which another
     * server leased: leases of which nothing remains after this batch are deleted, also if several settle the last jobs of
     * one lease at once.
     */
    Settled settle(List<Settlement> settlements);

    /**
     * Takes expired leases away from their workers: atomically ends each old token and leases its remaining jobs to the
     * taker under a new one. A take-over that itself expired can be taken over again, still naming the worker that lost it
     * first. Passed are leases that a caller's transaction is settling and leases without remaining jobs, however many:
     * fewer than {@code maxLeases} come back only if there are no more.
     */
    List<LostClaim> takeOver(String taker, Duration lease, int maxLeases);

    /**
     * Deletes up to {@code max} expired leases of which nothing remains.
     *
     * @return how many
     */
    int dropEmptyLeases(int max);

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
     * One page of the jobs that match. Looks at {@link JobQuery#looks} rows at most, or a few more if jobs move
     * meanwhile: then the page is short, or empty, and its cursor leads on. What does not match is not looked at where
     * an index knows: at least dead letters are found by their state, alone and with a queue or a fingerprint.
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

    /**
     * Looks at queues in the order of their names, for those in which jobs can be claimed. What this costs depends on how
     * many queues are looked at, not on how many there are nor on how many jobs they have. A queue that could give a job
     * when it was looked at is never left out. One may be named that gives none: its jobs may be of types that nobody
     * asks for, or its limit may be reached.
     *
     * @param after looks at queues with greater names only; empty for all
     * @param before looks at queues with lesser names only; {@link DueQueues#END} for all
     * @param looks queues with live jobs to look at, at most, or a few more
     */
    DueQueues dueQueues(String after, String before, int looks);

    /**
     * Every queue that has settings or jobs, with counts. A store that has to count stops at {@link QueueState#countable} jobs
     * of a queue, and says so.
     */
    List<QueueState> queues();

    /** How many jobs are pending or running in the queues whose names begin like this, counted up to {@code most}. */
    int live(String queuePrefix, int most);

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

    /** The same for many, each by itself, in as few steps as the store can. Answers for each. */
    default Map<JobId, Revived> reviveAll(Map<JobId, Revival> revivals, Note note) {
        Map<JobId, Revived> answers = new HashMap<>();
        revivals.forEach((id, revival) -> answers.put(id, revive(id, revival, note)));
        return answers;
    }

    /**
     * Cancels many, each by itself, in as few steps as the store can. Answers for each.
     *
     * @param sequels asked for each that was pending, for jobs to be inserted in the same atomic step as its end; may be
     *     asked again if the step has to be repeated
     */
    default Map<JobId, Cancellation> cancelAll(Collection<JobId> ids, Note note, Function<Job, List<JobSpec>> sequels) {
        Map<JobId, Cancellation> answers = new HashMap<>();
        ids.forEach(id -> answers.put(id, cancel(id, note, find(id).map(sequels).orElse(List.of()))));
        return answers;
    }

    /** Discards many, each by itself, in as few steps as the store can. Returns those that are gone by this call. */
    default Set<JobId> discardAll(Collection<JobId> ids, Note note) {
        return ids.stream().filter(id -> discard(id, note)).collect(Collectors.toSet());
    }

    /** Those of these jobs that are there. */
    default List<Job> findAll(Collection<JobId> ids) {
        return ids.stream().flatMap(id -> find(id).stream()).toList();
    }

    /** The job that an idempotency key leads to; empty if the key is not known. */
    Optional<JobId> findByIdempotencyKey(String key);

    /** Deletes a job in a terminal state with its history and idempotency key. False if there is none. */
    boolean discard(JobId id, Note note);

    /**
     * Deletes up to {@code limit} jobs that reached one of the terminal states longer ago than {@code age}, with their history
     * and keys. Some that were old may be gone already: 0 says that nothing is left, fewer than {@code limit} does not.
     */
    int prune(Set<JobState> states, Duration age, int limit);

    /** The same for entries of the audit log. */
    int pruneAudit(Duration age, int limit);

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
     * Looks at {@link JobQuery#looks} dead letters at most, the newest after the query's cursor: if the page is not the
     * last, counts and times are of those only, and the following pages have more of the same groups. The query's states
     * and limit do not matter.
     *
     * @throws IllegalArgumentException if the cursor is not one of ours
     */
    Page<DeadGroup> deadGroups(JobQuery query, int limit);

    /**
     * Creates a schedule, or changes rule and job of the one with this name; the next firing is kept if the rule is the
     * same, else it becomes {@code nextAt}. A paused schedule stays paused.
     */
    void putSchedule(String name, String rule, JobSpec job, Instant nextAt);

    boolean removeSchedule(String name);

    boolean pauseSchedule(String name, boolean paused, Note note);

    /** All of them, by name: for people who look. */
    List<StoredSchedule> schedules();

    Optional<StoredSchedule> schedule(String name);

    /**
     * Schedules that are due and not paused, those due first first, then by name. What this costs does not depend on how
     * many others there are.
     *
     * @param after the last of the page before; null for the first page
     */
    List<StoredSchedule> dueSchedules(int limit, @Nullable StoredSchedule after);

    /** When the next schedule that is neither paused nor due yet will be due; empty if there is none. */
    Optional<Instant> nextFiring();

    /**
     * Moves schedules from {@code dueAt} to {@code nextAt} and enqueues their jobs, all in one atomic step, each if it still
     * stands at {@code dueAt} and is not paused; with the others nothing is done. No schedule twice in one call.
     *
     * @return what was enqueued for each, in the order of the firings; empty if another worker was first
     * @throws io.reprise.DuplicateKeyException if one job is refused; then nothing of the call was done
     */
    List<Optional<List<Inserted>>> fireAll(List<Firing> firings);

    /** The same for one. */
    default Optional<List<Inserted>> fire(String name, Instant dueAt, Instant nextAt, List<JobSpec> jobs) {
        return fireAll(List.of(new Firing(name, dueAt, nextAt, jobs))).get(0);
    }

    /** Those of these jobs that are pending or running. */
    Set<JobId> live(Collection<JobId> jobs);

    /** All shared control state, by name. */
    List<ControlRow> controls();

    /** Those of these names that are stored. */
    List<ControlRow> controls(Collection<String> names);

    /**
     * Control state with a greater version than this: what was stored since that version was read, asked for about once a
     * second by each worker. A change may become visible after one with a greater version, so who must not miss any goes
     * back some way. What was removed is not told.
     */
    List<ControlRow> controlsAfter(long version);

    /**
     * Stores control state, each row by itself, if nobody else did since the row was read: the stored version must be that of
     * the row, and there must be none if that is 0. No name twice in one call.
     *
     * @return the new version of each row, in their order, greater than every version this name ever had; empty if
     *     another was first
     */
    List<OptionalLong> putControls(List<ControlRow> rows);

    /** The same for one. */
    default OptionalLong putControl(ControlRow row) {
        return putControls(List.of(row)).get(0);
    }

    /** The same by hand: an accepted change is noted, with the action, in the audit log. */
    OptionalLong putControl(ControlRow row, String action, Note note);

    /** Deletes those of these rows that still have their version, and returns their names. */
    Set<String> removeControls(List<ControlRow> rows);

    /** Deletes control state, if it still has this version. */
    default boolean removeControl(String name, long version) {
        return !removeControls(List.of(new ControlRow(name, version, ""))).isEmpty();
    }

    /**
     * How many jobs are parked by each name; {@link QueueState#countable} of the number of names at least if a store stops
     * counting there. For people who look.
     */
    Map<String, Long> parked();

    /** The names by which jobs are parked; cheap enough to ask often. */
    Set<String> parkedBy();

    /**
     * Puts parked jobs back, so that they can be claimed. Each job moves in one step; after a crash some of them may be left
     * parked. Jobs of paused queues stay. Due time and wait reason stay as they are, so that a claim can tell who was let
     * through.
     *
     * @return how many for each request, in their order
     */
    List<Integer> unpark(List<Unparking> requests);

    /** Puts up to {@code max} jobs of the backlog of this name back, and returns how many. */
    default int unpark(String name, int max) {
        return unpark(List.of(Unparking.backlog(name, max))).get(0);
    }

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
