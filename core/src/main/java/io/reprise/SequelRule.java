// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import java.util.List;

/**
 * Says which jobs follow when a job takes a step. They are stored in the same atomic step as the outcome they follow, so
 * that they exist exactly if it was accepted: no crash lies between. Asked for {@link JobEvent.Kind#SUCCEEDED},
 * {@code RETRY_SCHEDULED}, {@code FAILED} and {@code CANCELLED}, however that came about.
 *
 * <p>Asked in the engine's threads, and sometimes for steps that are not taken after all: it must be quick, and do nothing
 * but answer. If it throws, the job goes on without sequels and the error is logged.
 */
@FunctionalInterface
public interface SequelRule {

    /**
     * The jobs that follow, usually none. A unique key is allowed under {@link KeyRule#KEEP} only.
     *
     * @param job as it was before the step
     * @param token of the run that ended; 0 if none did
     */
    List<? extends JobRequest<?>> after(JobEvent.Kind kind, Job job, long token);
}
