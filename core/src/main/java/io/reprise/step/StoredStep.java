// SPDX-License-Identifier: Apache-2.0
package io.reprise.step;

import io.reprise.failure.FailureClass;
import io.reprise.retry.FailReason;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One step of a job, as it is stored. Immutable.
 *
 * @param name identity within the job
 * @param kind whether it is a step, a sleep, an event or a join
 * @param state how far it is
 * @param token token of the run that wrote it; 0 if a caller or a person did
 * @param at when it was written, by the store's clock
 * @param dueAt end of a sleep, or of the wait for an event; null for others
 * @param suspensions how often the job was suspended here
 * @param type name of the class of the value when it was written; null if there is no value
 * @param value JSON of a result or an event, as the codec stored it; null if there is none
 * @param failure why it failed; null unless FAILED
 * @since 0.1.0
 */
public record StoredStep(
        String name,
        Kind kind,
        State state,
        long token,
        Instant at,
        @Nullable Instant dueAt,
        int suspensions,
        @Nullable String type,
        @Nullable String value,
        @Nullable StepFailure failure) {

    /** The greatest number of steps of a job, sleeps and events included. */
    public static final int MAX_STEPS = 1_000;

    /** The greatest size of one value, in bytes of UTF-8. */
    public static final int MAX_VALUE_BYTES = 256 * 1024;

    /** The greatest size of all values of a job, in bytes of UTF-8. */
    public static final int MAX_JOB_BYTES = 8 * 1024 * 1024;

    /** The kind of a step. */
    public enum Kind {
        /** Work of the handler. */
        STEP,
        /** A time to wait. */
        SLEEP,
        /** A value that a caller tells the job. */
        EVENT,
        /** Other jobs whose results the handler waits for. */
        JOIN
    }

    /** How far a step is. */
    public enum State {
        /** Nothing is decided: the job waits here, or the step may run. */
        OPEN,
        /** A step that runs at most once has started. */
        STARTED,
        /** It has its value. It is not run again. */
        DONE,
        /** It failed for good. The handler gets a {@link StepFailedException}. */
        FAILED
    }

    /**
     * Why a step failed for good.
     *
     * @param reason why there is no further attempt
     * @param failureClass class of the last failure
     * @param type name of the error
     * @param message text of the error; null if there is none
     */
    public record StepFailure(
            FailReason reason,
            FailureClass failureClass,
            String type,
            @Nullable String message) {}

    /** Returns this step with another value. */
    public StoredStep withValue(@Nullable String other) {
        return new StoredStep(name, kind, state, token, at, dueAt, suspensions, type, other, failure);
    }

    /**
     * Returns this step as it is at a time. A sleep that is over is DONE. No store writes that: the next run goes on
     * behind the sleep by its due time.
     *
     * @param now the time, by the store's clock
     */
    public StoredStep asOf(Instant now) {
        boolean slept = kind == Kind.SLEEP && state == State.OPEN && dueAt != null && !dueAt.isAfter(now);
        return slept
                ? new StoredStep(name, kind, State.DONE, token, at, dueAt, suspensions, type, value, failure)
                : this;
    }

    /** Returns whether the job waits for this event, which nobody has told yet, or for this join. */
    public boolean isAwaited() {
        return (kind == Kind.EVENT || kind == Kind.JOIN) && state == State.OPEN;
    }

    /**
     * Returns whether a person may say how the step ended: it has started and has no end, or a person said it before. What
     * a run has stored stays.
     */
    public boolean isResolvable() {
        return state == State.STARTED || (kind == Kind.STEP && token == 0 && isEnded());
    }

    /** Returns whether the step has its end. */
    public boolean isEnded() {
        return state == State.DONE || state == State.FAILED;
    }
}
