// SPDX-License-Identifier: Apache-2.0
package io.reprise.step;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * A row of a step to be written.
 *
 * @param name identity within the job
 * @param kind whether it is a step, a sleep, an event or a join
 * @param state the state from now on
 * @param replaces whether the writer knows of a row of this name that is OPEN or STARTED. If not, there must be none
 * @param delay the row is due this long after the store's now; null keeps the due time of the row, if there is one
 * @param suspensions how often the job was suspended here, this time included
 * @param type name of the class of the value; null if there is no value
 * @param value JSON, as the codec stored it; null if there is none
 * @param failure why it failed; null unless FAILED
 * @param granted the granted attempts of the job from now on, because a new step has succeeded; null leaves them
 * @since 0.1.0
 */
public record StepWrite(
        String name,
        StoredStep.Kind kind,
        StoredStep.State state,
        boolean replaces,
        @Nullable Duration delay,
        int suspensions,
        @Nullable String type,
        @Nullable String value,
        StoredStep.@Nullable StepFailure failure,
        @Nullable Integer granted) {

    /** Cuts the delay to microseconds, the unit in which stores keep times. */
    public StepWrite {
        delay = delay == null ? null : delay.truncatedTo(ChronoUnit.MICROS);
    }

    /** Creates a step with its result. */
    public static StepWrite done(String name, @Nullable String type, @Nullable String value) {
        return of(name, StoredStep.Kind.STEP, StoredStep.State.DONE, type, value);
    }

    /** Creates a step that has started and must not start again by itself. */
    public static StepWrite started(String name) {
        return of(name, StoredStep.Kind.STEP, StoredStep.State.STARTED, null, null);
    }

    /** Creates a step, a sleep or an event that failed for good. */
    public static StepWrite failed(String name, StoredStep.Kind kind, StoredStep.StepFailure failure) {
        return new StepWrite(name, kind, StoredStep.State.FAILED, false, null, 0, null, null, failure, null);
    }

    /** Creates a sleep or an event for which the job waits this long. */
    public static StepWrite open(String name, StoredStep.Kind kind, Duration delay) {
        return new StepWrite(name, kind, StoredStep.State.OPEN, false, delay, 1, null, null, null, null);
    }

    /** Creates a join in which the job waits for other jobs, or that has ended. The value names their batch. */
    public static StepWrite join(String name, StoredStep.State state, String value) {
        return of(name, StoredStep.Kind.JOIN, state, String.class.getName(), value);
    }

    /** Creates an event that a caller told. */
    public static StepWrite told(String name, String type, String value) {
        return of(name, StoredStep.Kind.EVENT, StoredStep.State.DONE, type, value);
    }

    /** Creates a sleep or an event in which the job goes on waiting, until the time that is stored. */
    public static StepWrite again(String name, StoredStep.Kind kind, int suspensions) {
        return new StepWrite(name, kind, StoredStep.State.OPEN, true, null, suspensions, null, null, null, null);
    }

    private static StepWrite of(
            String name, StoredStep.Kind kind, StoredStep.State state, @Nullable String type, @Nullable String value) {
        return new StepWrite(name, kind, state, false, null, 0, type, value, null, null);
    }

    /** Returns this row as one that takes the place of a row that is OPEN or STARTED. */
    public StepWrite replacing() {
        return new StepWrite(name, kind, state, true, delay, suspensions, type, value, failure, granted);
    }

    /** Returns this row as one of a name that has no row yet. */
    public StepWrite fresh() {
        return new StepWrite(name, kind, state, false, delay, suspensions, type, value, failure, granted);
    }

    /** Returns this row with a number of suspensions. */
    public StepWrite suspended(int times) {
        return new StepWrite(name, kind, state, replaces, delay, times, type, value, failure, granted);
    }

    /** Returns this row with granted attempts for the job. */
    public StepWrite granting(@Nullable Integer attempts) {
        return new StepWrite(name, kind, state, replaces, delay, suspensions, type, value, failure, attempts);
    }
}
