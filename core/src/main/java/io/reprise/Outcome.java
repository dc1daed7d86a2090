// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.job.Job;
import io.reprise.job.JobState;
import io.reprise.job.PayloadException;
import io.reprise.retry.FailReason;
import org.jspecify.annotations.Nullable;

/**
 * The way a job ended. Obtained from {@link Reprise#await}. Immutable.
 *
 * @since 0.1.0
 */
public final class Outcome {

    private final Job job;
    private final PayloadCodec codec;

    Outcome(Job job, PayloadCodec codec) {
        this.job = job;
        this.codec = codec;
    }

    /** Returns the job in its terminal state. */
    public Job job() {
        return job;
    }

    /** Returns SUCCEEDED, FAILED or CANCELLED. */
    public JobState state() {
        return job.state();
    }

    /** Returns whether the state is SUCCEEDED. */
    public boolean succeeded() {
        return state() == JobState.SUCCEEDED;
    }

    /** Returns why the job failed for good; null unless it is FAILED. */
    public @Nullable FailReason failReason() {
        return job.failReason();
    }

    /**
     * Returns the result that the handler gave, decoded; null if it gave none or did not succeed.
     *
     * @throws PayloadException if the result cannot be read as this class, or is encrypted with an unknown key
     */
    public <T> @Nullable T result(Class<T> type) {
        String json = job.status().result();
        return json == null ? null : codec.decode(codec.open(json), type);
    }

    @Override
    public String toString() {
        FailReason reason = failReason();
        return "Job " + job.id() + " " + state() + (reason == null ? "" : " (" + reason + ")");
    }
}
