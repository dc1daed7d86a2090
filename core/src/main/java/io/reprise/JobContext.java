// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import org.jspecify.annotations.Nullable;

/** What a handler knows about the run it is in. Valid only during that run; thread-safe. */
public interface JobContext {

    JobId id();

    /** The job as it was claimed. */
    Job job();

    /** Which counted attempt this is, from 1. */
    int attempt();

    /**
     * The fencing token of this run: greater than that of any earlier run of this job. Hand it to what you write to, so
     * that it can refuse a run that has been overtaken.
     */
    long token();

    /** Keeps progress where others can see it. Best effort: a database error is not thrown. */
    void progress(int percent, @Nullable String message);

    /** Sets the result to be stored if this run succeeds. */
    void result(Object value);

    /**
     * Adds to what this run cost, beside its time, for {@link Reprise#costs}. Counts also if the run fails.
     *
     * @param unit any name, such as {@code usd} or {@code tokens}; at most 8 different ones in a run
     */
    void cost(double amount, String unit);

    /** Whether this run should end: cancelled, timed out, lease lost, or the worker is shutting down. */
    boolean isCancelled();

    /** Ends the run if it should end. @throws JobSignal if {@link #isCancelled} */
    void checkpoint();

    /**
     * Completes the job inside the caller's own transaction: its success becomes visible exactly when, and only if, that
     * transaction commits. If it rolls back, return or throw as usual afterwards; the job was not completed.
     *
     * @throws StaleLeaseException if this run has lost its lease; roll back
     */
    void complete(Transaction transaction);
}
