// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.batch.BatchState;
import io.reprise.batch.Membership;
import io.reprise.job.Enqueued;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.KeyRule;
import io.reprise.job.RefusedException;
import io.reprise.store.JobStore;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Jobs with a common end. Members can be added until the batch is closed, and by its own running members even later, until
 * it has ended ({@link JobContext#addToBatch}). The batch <em>ends</em> when it is closed and no member waits or runs. It
 * <em>succeeds</em> when all members have succeeded, which can be later: a dead letter that a person retries still counts.
 * Each of the two comes at most once.
 *
 * <p>A batch is created by the first call that stores something. A name that is there already leads to that batch. A batch
 * is deleted 30 days after its end, unless a member is open again then. One that nobody closes is deleted 30 days after its
 * creation, as soon as no member is open, and the jobs that wait for it are cancelled. Thread-safe.
 *
 * @since 0.1.0
 */
public final class Batch {

    /** How a {@link Reprise} makes jobs from requests, and stores them. */
    record Wiring(
            Function<List<? extends JobRequest<?>>, List<JobSpec>> binder,
            Function<List<JobSpec>, List<Enqueued>> storing) {}

    private final JobStore store;
    private final String name;
    private final Wiring wiring;
    private @Nullable JobRequest<?> onSuccess;
    private @Nullable JobRequest<?> onEnd;
    private boolean there;

    Batch(JobStore store, String name, Wiring wiring) {
        this.store = store;
        this.name = JobSpec.requireName("batch", name);
        this.wiring = wiring;
    }

    /** Returns the name of the batch. */
    public String name() {
        return name;
    }

    /**
     * Sets the job that runs when all members have succeeded. It is stored when the batch is created and waits until then.
     * The last call wins. A batch that is there already keeps the job that it was created with. Nobody starts the job by
     * hand before, and no job with its unique key replaces it. The call that creates the batch throws {@link
     * IllegalArgumentException} if the job has a delay or a time of its own, or a key under REPLACE or FOLLOW.
     */
    public synchronized Batch onSuccess(JobRequest<?> job) {
        onSuccess = job;
        return this;
    }

    /**
     * Sets the job that runs when all members have ended, however they ended; see {@link #onSuccess}.
     */
    public synchronized Batch onEnd(JobRequest<?> job) {
        onEnd = job;
        return this;
    }

    /**
     * Stores members, all or none; see {@link #addAll}.
     *
     * @return this batch
     * @throws RefusedException if the batch is closed (INVALID_STATE); nothing is stored
     */
    public Batch add(JobRequest<?>... jobs) {
        addAll(Arrays.asList(jobs));
        return this;
    }

    /**
     * Stores members in one transaction, all or none. A request whose key leads to a job that is there adds nothing.
     *
     * @return the ids, in the order of the jobs
     * @throws RefusedException if the batch is closed (INVALID_STATE); nothing is stored
     * @throws IllegalArgumentException if a job has a unique key under another rule than KEEP
     */
    public List<JobId> addAll(List<? extends JobRequest<?>> jobs) {
        List<JobSpec> members = Membership.of(name).members(wiring.binder().apply(jobs), false);
        create();
        return members.isEmpty()
                ? List.of()
                : wiring.storing().apply(members).stream().map(Enqueued::id).toList();
    }

    private synchronized void create() {
        if (!there) {
            store.createBatch(name, follower("onSuccess", onSuccess), follower("onEnd", onEnd));
            there = true;
        }
    }

    private @Nullable JobSpec follower(String what, @Nullable JobRequest<?> job) {
        if (job == null) {
            return null;
        }
        JobSpec spec = wiring.binder().apply(List.of(job)).get(0);
        if (spec.dueAt() != null || !spec.delay().equals(Duration.ZERO)) {
            throw new IllegalArgumentException("The job of " + what + " of batch '" + name
                    + "' is due when the batch is: it cannot have a delay or a time of its own");
        }
        if (spec.key() != null && (spec.keyRule() == KeyRule.REPLACE || spec.keyRule() == KeyRule.FOLLOW)) {
            throw new IllegalArgumentException("The job of " + what + " of batch '" + name
                    + "' may hold a unique key under KEEP or REJECT only, not " + spec.keyRule()
                    + ": it waits for the batch, not for another job");
        }
        return spec.toBuilder().dueAt(JobSpec.MAX_DUE).build();
    }

    /**
     * Closes the batch: from now on it can end. A batch without members ends and succeeds at once.
     *
     * @return the batch after the close
     * @throws RefusedException if it was closed before (INVALID_STATE)
     */
    public BatchState close() {
        create();
        BatchState before = store.closeBatch(name).orElseThrow(() -> RefusedException.noBatch(name));
        if (before.closedAt() != null) {
            throw new RefusedException(
                    RefusedException.Code.INVALID_STATE,
                    "Batch '" + name + "' was closed before, at " + before.closedAt() + ": close a batch once");
        }
        return state();
    }

    /**
     * Returns the batch as it is now.
     *
     * @throws RefusedException if it does not exist (NOT_FOUND)
     */
    public BatchState state() {
        return store.batch(name).orElseThrow(() -> RefusedException.noBatch(name));
    }
}
