// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.retry.Failure;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** How a run outside this process ended, as its worker reports it to {@link RemoteWorkers#report}. Immutable. */
public final class RemoteReport {

    /** What became of one report. Null if it was accepted, now or when it was made before; else why nothing was changed. */
    public record Answer(@Nullable RuntimeException refusal) {

        public boolean isAccepted() {
            return refusal == null;
        }
    }

    private final RemoteLease.Key key;
    private final @Nullable String result;
    private final @Nullable Failure failure;
    private final @Nullable JobSignal signal;
    private final boolean started;

    private RemoteReport(
            RemoteLease.Key key,
            @Nullable String result,
            @Nullable Failure failure,
            @Nullable JobSignal signal,
            boolean started) {
        this.key = Objects.requireNonNull(key, "key");
        this.result = result;
        this.failure = failure;
        this.signal = signal;
        this.started = started;
    }

    /**
     * The job succeeded.
     *
     * @param result JSON, or null
     */
    public static RemoteReport completed(RemoteLease.Key key, @Nullable String result) {
        return new RemoteReport(key, result, null, null, true);
    }

    /** The run failed: the policy decides what becomes of the job. */
    public static RemoteReport failed(RemoteLease.Key key, Failure failure) {
        return new RemoteReport(key, null, Objects.requireNonNull(failure, "failure"), null, true);
    }

    /** Not a failure: the job comes again after the delay and has spent no attempt. */
    public static RemoteReport snoozed(RemoteLease.Key key, Duration delay) {
        return new RemoteReport(key, null, null, JobSignal.snooze(delay), true);
    }

    /** The job ends as CANCELLED. */
    public static RemoteReport cancelled(RemoteLease.Key key, String why) {
        return new RemoteReport(key, null, null, JobSignal.cancel(why), true);
    }

    /** The job was not started: it is given back as it was before. */
    public static RemoteReport released(RemoteLease.Key key) {
        return new RemoteReport(key, null, null, null, false);
    }

    public RemoteLease.Key key() {
        return key;
    }

    public @Nullable String result() {
        return result;
    }

    public @Nullable Failure failure() {
        return failure;
    }

    /** What a handler would have thrown. */
    public @Nullable JobSignal signal() {
        return signal;
    }

    /** Whether there was a run at all. */
    public boolean isStarted() {
        return started;
    }
}
