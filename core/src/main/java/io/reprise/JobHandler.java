// SPDX-License-Identifier: Apache-2.0
package io.reprise;

/**
 * User code that runs a job. Returning means success; throwing means failure, judged by the job's retry policy, except
 * for a {@link JobSignal}, which says outright what shall happen. A job may run more than once: be idempotent, or do
 * the work and {@link JobContext#complete} in one transaction.
 *
 * <p>A handler that is interrupted (timeout, cancellation, lost lease, shutdown) should end soon.
 */
@FunctionalInterface
public interface JobHandler<P> {

    void handle(P payload, JobContext job) throws Exception;
}
