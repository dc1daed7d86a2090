// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.run;

import io.reprise.JobRequest;
import io.reprise.batch.Membership;
import io.reprise.job.Enqueued;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.Transaction;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Lets a handler enqueue by the {@code Reprise} that runs it, which exists only after the engine. Thread-safe. */
public final class HandlerEnqueuer {

    private volatile @Nullable Function<JobRequest<?>, JobId> alone;
    private volatile @Nullable BiFunction<Transaction, JobRequest<?>, JobId> joined;
    private volatile @Nullable Function<List<? extends JobRequest<?>>, List<JobSpec>> binder;
    private volatile @Nullable Function<List<JobSpec>, List<Enqueued>> storing;

    /** Sets the methods that store a job. */
    public void serves(Function<JobRequest<?>, JobId> alone, BiFunction<Transaction, JobRequest<?>, JobId> joined) {
        this.alone = alone;
        this.joined = joined;
    }

    /** Sets the methods that make jobs from requests, and store them. */
    public void batches(
            Function<List<? extends JobRequest<?>>, List<JobSpec>> binder,
            Function<List<JobSpec>, List<Enqueued>> storing) {
        this.binder = binder;
        this.storing = storing;
    }

    /** Makes the jobs to store from requests. */
    List<JobSpec> bind(List<? extends JobRequest<?>> jobs) {
        Function<List<? extends JobRequest<?>>, List<JobSpec>> known = binder;
        if (known == null) {
            throw new IllegalStateException("This worker cannot enqueue yet");
        }
        return known.apply(jobs);
    }

    /** Stores more members of the batch that a running job is in. */
    List<JobId> addToBatch(Membership batch, List<? extends JobRequest<?>> jobs) {
        List<JobSpec> specs = bind(jobs);
        return specs.isEmpty() ? List.of() : store(batch.members(specs, true));
    }

    private List<JobId> store(List<JobSpec> jobs) {
        Function<List<JobSpec>, List<Enqueued>> known = storing;
        if (known == null) {
            throw new IllegalStateException("This worker cannot enqueue yet");
        }
        return known.apply(jobs).stream().map(Enqueued::id).toList();
    }

    /** Returns why a job cannot add others to a batch; null if it can. */
    static @Nullable String whyAlone(JobId job, @Nullable Membership batch) {
        if (batch != null && !batch.isChild()) {
            return null;
        }
        return "Job " + job + (batch == null ? " is in no batch" : " is the child of a join, whose jobs are all known")
                + ": it cannot add jobs to it";
    }

    JobId enqueue(JobRequest<?> job) {
        Function<JobRequest<?>, JobId> known = alone;
        if (known == null) {
            throw new IllegalStateException("This worker cannot enqueue yet");
        }
        return known.apply(job);
    }

    JobId enqueue(Transaction transaction, JobRequest<?> job) {
        BiFunction<Transaction, JobRequest<?>, JobId> known = joined;
        if (known == null) {
            throw new IllegalStateException("This worker cannot enqueue yet");
        }
        return known.apply(transaction, job);
    }
}
