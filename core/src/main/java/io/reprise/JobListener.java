// SPDX-License-Identifier: Apache-2.0
package io.reprise;

/**
 * Is told of every transition that this process makes. Called in the engine's threads after the commit: be quick. What
 * it throws is logged and otherwise ignored.
 */
@FunctionalInterface
public interface JobListener {

    void onEvent(JobEvent event);

    /** An alert was raised or cleared for the fleet. Told in the process whose worker leads. */
    default void onAlert(Alert alert) {}

    /** A breaker or a budget changed. */
    default void onControl(ControlEvent event) {}

    /** A {@link SequelRule} failed, and something that should have followed the step of a job does not. */
    default void onSequelFailure(JobEvent.Kind kind, JobId job, Throwable failure) {}
}
