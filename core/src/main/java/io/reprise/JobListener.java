// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.insight.Alert;
import io.reprise.insight.ControlEvent;
import io.reprise.insight.JobEvent;
import io.reprise.job.JobId;

/**
 * Receives every transition of a job that this process makes, after the commit. The calls come from threads of the
 * engine, or from the thread that enqueued the job or did the operation. Return quickly, and expect several calls at
 * once. An exception of a listener is logged and has no other effect.
 *
 * @since 0.1.0
 */
@FunctionalInterface
public interface JobListener {

    /** A job made a transition. */
    void onEvent(JobEvent event);

    /**
     * Returns whether {@link #onEvent} wants transitions of this kind. It is asked once for each kind, when the worker
     * starts. An event that no listener wants is not made, which saves time. True unless overridden.
     */
    default boolean listensTo(JobEvent.Kind kind) {
        return true;
    }

    /**
     * An alert was raised or cleared for the fleet. Only the process of the leading worker is called, so register a
     * listener in every worker. Does nothing unless overridden.
     */
    default void onAlert(Alert alert) {}

    /**
     * A breaker or a budget changed. Only the process that made the change is called. Does nothing unless overridden.
     */
    default void onControl(ControlEvent event) {}

    /**
     * A {@link FollowUpRule} failed, so a job that should follow does not exist. The first job is not affected. Does
     * nothing unless overridden.
     *
     * @param kind the transition that the rule was asked about
     * @param job the job that made the transition
     * @param failure the error of the rule
     */
    default void onFollowUpFailure(JobEvent.Kind kind, JobId job, Throwable failure) {}

    /**
     * A {@link RetryAdvisor} threw, returned null or took too long, so the decision of the policy stands. Does nothing
     * unless overridden.
     *
     * @param job the job whose failure it was asked about
     * @param failure the error of the advisor
     */
    default void onAdvisorFailure(JobId job, Throwable failure) {}
}
