// SPDX-License-Identifier: Apache-2.0
package io.reprise.step;

import io.reprise.job.RepriseException;
import io.reprise.step.StoredStep.StepFailure;

/**
 * Thrown by a step that failed for good, or by an event that did not come in time. It is thrown in every run that asks
 * for the step, so a handler can catch it and undo earlier steps. If the handler lets it pass, the job fails with the
 * reason of the step.
 *
 * @since 0.1.0
 */
public class StepFailedException extends RepriseException {

    private static final long serialVersionUID = 1L;

    private final String step;
    private final transient StepFailure failure;

    /**
     * Creates the exception.
     *
     * @param step name of the step
     * @param failure why it failed
     */
    public StepFailedException(String step, StepFailure failure) {
        super("Step " + step + " failed as " + failure.reason() + ": " + failure.type()
                + (failure.message() == null ? "" : ": " + failure.message()));
        this.step = step;
        this.failure = failure;
    }

    /** Returns the name of the step. */
    public String step() {
        return step;
    }

    /** Returns why the step failed. */
    public StepFailure failure() {
        return failure;
    }
}
