// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.job.JobSignal;

/**
 * User code that runs a job. If it returns, the job succeeded. If it throws, the retry policy of the job judges the
 * exception. A {@link JobSignal} says directly what happens next. A job may run more than once: be idempotent, or do
 * the work and {@link JobContext#complete} in one transaction.
 *
 * <p>On timeout, cancellation, a lost lease or shutdown the worker interrupts the handler, which should then end soon.
 * Handlers are called from many threads at once.
 *
 * @param <P> class of the payload
 * @since 0.1.0
 */
@FunctionalInterface
public interface JobHandler<P> {

    /**
     * Runs the job once.
     *
     * @param payload the decoded payload
     * @param job the context of this run
     * @throws Exception any exception means that the attempt failed
     */
    void handle(P payload, JobContext job) throws Exception;
}
