// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.retry.FailReason;
import org.jspecify.annotations.Nullable;

/** The terminal outcome of a job. */
public final class Outcome {

    private final Job job;
    private final PayloadCodec codec;

    Outcome(Job job, PayloadCodec codec) {
        this.job = job;
        this.codec = codec;
    }

    public Job job() {
        return job;
    }

    public JobState state() {
        return job.state();
    }

    public boolean succeeded() {
        return state() == JobState.SUCCEEDED;
    }

    /** Set exactly when FAILED. */
    public @Nullable FailReason failReason() {
        return job.failReason();
    }

    /** What the handler gave as result; null if it gave none or did not succeed. */
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
