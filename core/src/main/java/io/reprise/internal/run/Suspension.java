// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.run;

import io.reprise.job.JobSpec;
import io.reprise.job.WaitReason;
import io.reprise.step.Step;
import io.reprise.step.StepWrite;
import java.time.Duration;
import java.util.List;

/** Why a run ended inside a step, whatever its handler did afterwards. The first reason counts. */
public sealed interface Suspension {

    /**
     * The job waits in a sleep, for an event or for other jobs.
     *
     * @param write the row to store; it counts the suspensions
     * @param children jobs that are stored with it; empty unless a join begins
     */
    record Pause(WaitReason reason, Duration delay, StepWrite write, List<JobSpec> children) implements Suspension {

        /** A pause that stores no jobs. */
        public Pause(WaitReason reason, Duration delay, StepWrite write) {
            this(reason, delay, write, List.of());
        }
    }

    /** The breaker of the step's resource holds the step back. */
    record Held(String resource) implements Suspension {}

    /**
     * The step failed.
     *
     * @param replaces whether the step has a row that is not ended
     */
    record Failed(Step<?> step, RunResult.Thrown thrown, boolean replaces) implements Suspension {}

    /** A step that runs at most once has a start without an end. */
    record Unknown(String step) implements Suspension {}

    /** A stored value does not fit the class that the handler asks for. */
    record Unreadable(RunResult.Thrown thrown) implements Suspension {}

    /** The run lost its lease, or could not write a step. The error of the handler says what. */
    record Lost() implements Suspension {}

    /**
     * Leaves the handler. It is an {@code Error}, so that a handler's {@code catch (Exception)} does not stop it. If a
     * handler catches it nevertheless, the run has ended all the same.
     */
    final class Interrupt extends Error {
        private static final long serialVersionUID = 1L;

        Interrupt(String what) {
            super(what, null, false, false);
        }
    }
}
