// SPDX-License-Identifier: Apache-2.0
package io.reprise.step;

/**
 * A change that a person makes to the steps of a job.
 *
 * @since 0.1.0
 */
public sealed interface StepEdit {

    /** Deletes one step, so that it runs again. */
    record Forget(String name) implements StepEdit {}

    /** Deletes one step, and all that were written at the same time or later. */
    record ForgetFrom(String name) implements StepEdit {}

    /** Deletes all steps. */
    record ForgetAll() implements StepEdit {}

    /** Gives an end to a step that is {@linkplain StoredStep#isResolvable resolvable}. */
    record Resolve(StepWrite step) implements StepEdit {}

    /** Deletes a step that is {@linkplain StoredStep#isResolvable resolvable}, so that it runs again. */
    record Repeat(String name) implements StepEdit {}

    /** Returns the name of the operation in the audit log. */
    default String action() {
        return this instanceof Resolve || this instanceof Repeat ? "resolve-step" : "forget-step";
    }

    /** Returns what the audit log says of it. */
    default String detail() {
        if (this instanceof Forget one) {
            return "step " + one.name();
        }
        if (this instanceof ForgetFrom from) {
            return "step " + from.name() + " and later ones";
        }
        if (this instanceof Repeat repeat) {
            return "step " + repeat.name() + " runs again";
        }
        return this instanceof Resolve resolve
                ? "step " + resolve.step().name() + " as " + resolve.step().state()
                : "all steps";
    }

    /** The answer of the store. */
    enum Result {
        /** The steps are changed, and the audit log has an entry. */
        DONE,
        /** There is no such step, or a person cannot say how it ended. */
        NO_STEP,
        /** The job runs, and its run knows the steps. */
        RUNNING,
        /** There is no such job. */
        MISSING
    }
}
