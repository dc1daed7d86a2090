// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.run;

import io.reprise.JobRequest;
import io.reprise.job.JobId;
import io.reprise.job.Transaction;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Lets a handler enqueue by the {@code Reprise} that runs it, which exists only after the engine. Thread-safe. */
public final class HandlerEnqueuer {

    private volatile @Nullable Function<JobRequest<?>, JobId> alone;
    private volatile @Nullable BiFunction<Transaction, JobRequest<?>, JobId> joined;

    /** Sets the methods that store a job. */
    public void serves(Function<JobRequest<?>, JobId> alone, BiFunction<Transaction, JobRequest<?>, JobId> joined) {
        this.alone = alone;
        this.joined = joined;
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
