// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.job.Enqueued;
import io.reprise.job.JobSpec;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * Code around the enqueueing and the runs of this process, such as tracing. The interceptor that was added first is the
 * outermost. Thread-safe. An exception of an interceptor reaches the caller of {@code enqueue}, or fails the run.
 *
 * @since 0.1.0
 */
public interface JobInterceptor {

    /** Stores jobs; see {@link #onEnqueue}. */
    @FunctionalInterface
    interface Storing {
        /** Stores the jobs and returns one answer for each, in their order. */
        List<Enqueued> store(List<JobSpec> jobs);
    }

    /** Calls the handler; see {@link #onRun}. */
    @FunctionalInterface
    interface Handling {
        /**
         * Calls the handler. A {@link DeferredHandler} returns when its run has begun.
         *
         * @throws Exception what the handler throws
         */
        void handle() throws Exception;
    }

    /**
     * Fills in what a request leaves open, such as the queue of its type. It is called for each job that this process
     * enqueues, schedules or lets follow another, before the policies of resource, queue and worker join that of the
     * job. The default returns the job unchanged.
     *
     * @throws IllegalArgumentException if the job must not be stored
     */
    default JobSpec onRequest(JobSpec job) {
        return job;
    }

    /**
     * Surrounds the storing of jobs by {@link Reprise#enqueue} and its siblings, in the thread of the caller. Call
     * {@code next} once, with the same number of jobs in the same order. The default does only that.
     */
    default List<Enqueued> onEnqueue(List<JobSpec> jobs, Storing next) {
        return next.store(jobs);
    }

    /**
     * Surrounds the call of a handler, in the thread that calls it. Call {@code next} once, and let its exception pass.
     * The outcome is decided and stored later; a {@link JobListener} receives it. The default does only that.
     *
     * @throws Exception what the handler throws
     */
    default void onRun(JobContext job, Handling next) throws Exception {
        next.handle();
    }

    /**
     * Surrounds the work of a step, in the thread that does it. It is not called for a step whose result is stored. Call
     * {@code next} once, return what it returns, and let its exception pass. The default does only that.
     *
     * @param step name of the step
     * @throws Exception what the work throws
     */
    default <T extends @Nullable Object> T onStep(JobContext job, String step, Callable<T> next) throws Exception {
        return next.call();
    }
}
