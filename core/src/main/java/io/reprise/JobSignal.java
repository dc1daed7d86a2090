// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.retry.FailureDetails;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Thrown by a handler to say outright what shall happen, instead of leaving it to the classifier. Recognised anywhere
 * along the cause chain, so that wrapping does not hide it.
 */
public final class JobSignal extends RuntimeException implements FailureDetails {

    private static final long serialVersionUID = 1L;

    /** What a handler can ask for. */
    public enum Kind {
        /** A failure that is worth another attempt, not before the given delay. */
        RETRY_AFTER,
        /** A failure that no further attempt will cure. */
        FAIL,
        /** Not a failure: call me again after the given delay. Spends no attempt. */
        SNOOZE,
        /** End the job as CANCELLED. */
        CANCEL
    }

    private final Kind kind;
    private final @Nullable Duration delay;

    private JobSignal(Kind kind, @Nullable Duration delay, @Nullable String message, @Nullable Throwable cause) {
        super(message, cause);
        this.kind = kind;
        this.delay = delay;
    }

    /** The policy's own delay is kept if it is longer; the given one is bounded by the policy's {@code retryAfterCap}. */
    public static JobSignal retryAfter(Duration delay, String why) {
        return new JobSignal(Kind.RETRY_AFTER, requireDelay(delay), why, null);
    }

    public static JobSignal retryAfter(Duration delay, Throwable cause) {
        return new JobSignal(Kind.RETRY_AFTER, requireDelay(delay), cause.getMessage(), cause);
    }

    public static JobSignal fail(String why) {
        return new JobSignal(Kind.FAIL, null, why, null);
    }

    public static JobSignal fail(Throwable cause) {
        return new JobSignal(Kind.FAIL, null, cause.getMessage(), cause);
    }

    public static JobSignal snooze(Duration delay) {
        return new JobSignal(Kind.SNOOZE, requireDelay(delay), "snoozed for " + delay, null);
    }

    public static JobSignal cancel(String why) {
        return new JobSignal(Kind.CANCEL, null, why, null);
    }

    public Kind kind() {
        return kind;
    }

    /** Set for RETRY_AFTER and SNOOZE. */
    public @Nullable Duration delay() {
        return delay;
    }

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
