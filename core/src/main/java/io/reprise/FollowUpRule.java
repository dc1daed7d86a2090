// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.insight.JobEvent;
import io.reprise.job.Job;
import io.reprise.job.KeyRule;
import java.util.List;

/**
 * A rule that says which jobs follow when a job makes a transition. The store writes them in the same atomic step as
 * the outcome that they follow: they exist if and only if the outcome was accepted. The engine asks for
 * {@link JobEvent.Kind#SUCCEEDED}, {@code RETRY_SCHEDULED}, {@code FAILED} and {@code CANCELLED}.
 *
 * <p>The engine asks in its own threads, and also for transitions that do not happen in the end. So the rule must be
 * quick and must only answer. If it throws, the job goes on without follow-ups, the error is logged, and
 * {@link JobListener#onFollowUpFailure} is called.
 *
 * @since 0.1.0
 */
@FunctionalInterface
public interface FollowUpRule {

    /**
     * Returns the jobs that follow; an empty list for none.
     *
     * @param kind the transition
     * @param job the job before the transition
     * @param token fencing token of the run that ended; 0 if no run ended
     * @return jobs to store. Their unique keys are allowed with {@link KeyRule#KEEP} only; a job with another rule is
     *     left out
     */
    List<? extends JobRequest<?>> after(JobEvent.Kind kind, Job job, long token);
}
