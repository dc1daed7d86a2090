// SPDX-License-Identifier: Apache-2.0
package io.reprise.settings;

import io.reprise.job.RepriseException;
import java.time.Duration;

/**
 * Thrown when a job is not enqueued because of one of the {@link Ceilings}. Nothing was stored.
 *
 * @since 0.1.0
 */
public class CeilingException extends RepriseException {

    private static final long serialVersionUID = 1L;

    /** The ceilings that refuse a job. */
    public enum Kind {
        /** The payload is larger than {@link Ceilings#payloadBytes}. The same job is refused again. */
        PAYLOAD,
        /** The queue holds {@link Ceilings#queueDepth} jobs. Try again when workers have caught up. */
        DEPTH
    }

    private final Kind kind;
    private final String queue;
    private final long value;
    private final long ceiling;
    private final Duration retryAfter;

    /**
     * Creates the exception.
     *
     * @param queue queue of the job
     * @param value bytes of the payload, or jobs with those to be enqueued
     * @param ceiling the ceiling
     * @param retryAfter when to try again; zero if that does not help
     */
    public CeilingException(Kind kind, String queue, long value, long ceiling, Duration retryAfter) {
        super(
                kind == Kind.DEPTH
                        ? "Queue '" + queue + "' would hold " + value + " jobs but must hold at most " + ceiling
                                + ": try again in " + retryAfter.toSeconds()
                                + " s, or raise queueDepth in the settings of the fleet"
                        : "payload of a job for queue '" + queue + "' is " + value + " bytes but must be at most "
                                + ceiling
                                + ": keep large data elsewhere, or raise payloadBytes in the settings of the fleet");
        this.kind = kind;
        this.queue = queue;
        this.value = value;
        this.ceiling = ceiling;
        this.retryAfter = retryAfter;
    }

    /** Returns which ceiling it is. */
    public Kind kind() {
        return kind;
    }

    /** Returns the queue of the job. */
    public String queue() {
        return queue;
    }

    /** Returns the bytes of the payload, or the jobs that the queue would hold. */
    public long value() {
        return value;
    }

    /** Returns the ceiling. */
    public long ceiling() {
        return ceiling;
    }

    /** Returns when to try again; zero if that does not help. */
    public Duration retryAfter() {
        return retryAfter;
    }
}
