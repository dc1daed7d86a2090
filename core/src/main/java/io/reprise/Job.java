// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.retry.FailReason;
import io.reprise.retry.RetryPolicy;
import java.time.Instant;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** One stored unit of work as it stood when it was read: what was asked for, how far it has come, what it has cost. */
public record Job(JobId id, JobSpec spec, JobStatus status, JobCounts counts, JobTimes times) {

    /** The same without payload and result, which may be long: the payload is {@code null} in JSON, the result null. */
    public Job brief() {
        return new Job(id, spec.toBuilder().payload("null").build(), status.withResult(null), counts, times);
    }

    public String type() {
        return spec.type();
    }

    public String queue() {
        return spec.queue();
    }

    public JobState state() {
        return status.state();
    }

    public RetryPolicy policy() {
        return spec.policy();
    }

    public @Nullable FailReason failReason() {
        return status.failReason();
    }

    /** Counted runs so far. */
    public int attempts() {
        return counts.attempts();
    }

    /** Runs the policy allows, manual grants included; empty if unlimited. */
    public OptionalInt maxAttempts() {
        return policy().complete()
                .maxAttempts()
                .toOptional()
                .map(limit -> OptionalInt.of(limit + counts.granted()))
                .orElse(OptionalInt.empty());
    }

    /** Retries so far, the one that is waited for or runs included. */
    public int retryCount() {
        return state().isTerminal() ? Math.max(0, attempts() - 1) : attempts();
    }

    /** Retries the policy allows; empty if unlimited. */
    public OptionalInt maxRetries() {
        OptionalInt limit = maxAttempts();
        return limit.isPresent() ? OptionalInt.of(limit.getAsInt() - 1) : limit;
    }

    /** Whether the policy leaves the job another counted run. */
    public boolean isRetryable() {
        FailReason reason = failReason();
        boolean barred = reason == FailReason.PERMANENT || reason == FailReason.UNREADABLE;
        return !barred && (maxAttempts().isEmpty() || attempts() < maxAttempts().getAsInt());
    }

    /** When a job that waits for a retry comes back; null in every other situation. */
    public @Nullable Instant nextRetryAt() {
        return status.waitReason() == WaitReason.RETRY ? times.dueAt() : null;
    }
}
