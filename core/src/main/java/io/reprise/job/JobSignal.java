// SPDX-License-Identifier: Apache-2.0
package io.reprise.job;

import io.reprise.failure.FailureDetails;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * An exception by which a handler says directly what happens next, instead of leaving it to the policy's rules. It is
 * recognised anywhere in the cause chain, so wrapping does not hide it.
 *
 * <pre>{@code
 * throw JobSignal.retryAfter(Duration.ofMinutes(5), "the bank is closed");
 * }</pre>
 *
 * @since 0.1.0
 */
public final class JobSignal extends RuntimeException implements FailureDetails {

    private static final long serialVersionUID = 1L;

    /** The request of the handler. */
    public enum Kind {
        /** The attempt failed, and another attempt is worthwhile, but not before the given delay. Spends an attempt. */
        RETRY_AFTER,
        /** The attempt failed, and no retry can help. The job becomes a dead letter with reason PERMANENT. */
        FAIL,
        /** Nothing failed: the handler asks to be called again after the given delay. Spends no attempt. */
        SNOOZE,
        /** Nothing is left to do: the job ends as CANCELLED. */
        CANCEL
    }

    private final Kind kind;
    private final @Nullable Duration delay;

    private JobSignal(Kind kind, @Nullable Duration delay, @Nullable String message, @Nullable Throwable cause) {
        super(message, cause);
        this.kind = kind;
        this.delay = delay;
    }

    /**
     * Fails the attempt and asks for a retry after the delay. The policy bounds the delay by its {@code retryAfterCap},
     * and uses its own delay if that is longer. If the attempts are spent, the job fails.
     *
     * @param delay 0 to 36,500 days
     * @throws IllegalArgumentException if {@code delay} is outside these bounds
     */
    public static JobSignal retryAfter(Duration delay, String why) {
        return new JobSignal(Kind.RETRY_AFTER, requireDelay(delay), why, null);
    }

    /**
     * Fails the attempt with a cause and asks for a retry after the delay, as {@link #retryAfter(Duration, String)}
     * does.
     *
     * @param delay 0 to 36,500 days
     * @throws IllegalArgumentException if {@code delay} is outside these bounds
     */
    public static JobSignal retryAfter(Duration delay, Throwable cause) {
        return new JobSignal(Kind.RETRY_AFTER, requireDelay(delay), cause.getMessage(), cause);
    }

    /** Fails the job for good, as {@link Kind#FAIL}. */
    public static JobSignal fail(String why) {
        return new JobSignal(Kind.FAIL, null, why, null);
    }

    /** Fails the job for good with a cause, as {@link Kind#FAIL}. */
    public static JobSignal fail(Throwable cause) {
        return new JobSignal(Kind.FAIL, null, cause.getMessage(), cause);
    }

    /**
     * Asks for another call after the delay, as {@link Kind#SNOOZE}.
     *
     * @param delay 0 to 36,500 days
     * @throws IllegalArgumentException if {@code delay} is outside these bounds
     */
    public static JobSignal snooze(Duration delay) {
        return new JobSignal(Kind.SNOOZE, requireDelay(delay), "snoozed for " + delay, null);
    }

    /** Ends the job as CANCELLED, as {@link Kind#CANCEL}. */
    public static JobSignal cancel(String why) {
        return new JobSignal(Kind.CANCEL, null, why, null);
    }

    /** Returns the request of the handler. */
    public Kind kind() {
        return kind;
    }

    /** Returns the delay of RETRY_AFTER and SNOOZE; null for the others. */
    public @Nullable Duration delay() {
        return delay;
    }

    /** Returns the delay of RETRY_AFTER; null for the others. */
    @Override
    public @Nullable Duration retryAfter() {
        return kind == Kind.RETRY_AFTER ? delay : null;
    }

    private static Duration requireDelay(Duration delay) {
        if (delay.isNegative() || delay.compareTo(JobSpec.MAX_DELAY) > 0) {
            throw new IllegalArgumentException("delay must be 0 to " + JobSpec.MAX_DELAY + ", not " + delay);
        }
        return delay;
    }
}
