// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import io.reprise.JobId;
import io.reprise.JobSpec;
import io.reprise.KeyRule;
import io.reprise.WaitReason;
import io.reprise.retry.Decision;
import io.reprise.retry.FailReason;
import io.reprise.retry.Failure;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of one claim, decided once: what the run was, and what becomes of the job. Accepted only while
 * {@code token} is the job's live token.
 *
 * @param ran how long the run took, so that the store can write its start by its own clock
 * @param failure kept in the attempt's history; null after a success
 * @param decision kept in the attempt's history; null after a success or a cancellation
 * @param sequels jobs to be stored in the same step, exactly if the settlement is accepted
 */
public record Settlement(
        JobId job,
        long token,
        Spent spent,
        Duration ran,
        Next next,
        @Nullable Failure failure,
        @Nullable Decision decision,
        Sequels sequels) {

    /** A settlement that no other job follows. */
    public Settlement(
            JobId job,
            long token,
            Spent spent,
            Duration ran,
            Next next,
            @Nullable Failure failure,
            @Nullable Decision decision) {
        this(job, token, spent, ran, next, failure, decision, Sequels.NONE);
    }

    /** The same outcome, followed by these. */
    public Settlement with(Sequels sequels) {
        return new Settlement(job, token, spent, ran, next, failure, decision, sequels);
    }

    /**
     * Jobs that follow an outcome.
     *
     * @param jobs stored if the outcome is accepted as it is
     * @param ifCancelled stored instead if the job becomes CANCELLED because somebody asked for that meanwhile
     */
    public record Sequels(List<JobSpec> jobs, List<JobSpec> ifCancelled) {

        public static final Sequels NONE = new Sequels(List.of(), List.of());

        public Sequels {
            jobs = List.copyOf(jobs);
            ifCancelled = List.copyOf(ifCancelled);
            jobs.forEach(Sequels::requireHarmless);
            ifCancelled.forEach(Sequels::requireHarmless);
        }

        public boolean isEmpty() {
            return jobs.isEmpty() && ifCancelled.isEmpty();
        }

        /**
         * Checks that a job can follow another.
         *
         * @throws IllegalArgumentException if storing it could be refused: that would keep the outcome from being written
         */
        public static JobSpec requireHarmless(JobSpec spec) {
            if (spec.key() != null && spec.keyRule() != KeyRule.KEEP) {
                throw new IllegalArgumentException(
                        "A job that follows another may hold a unique key under KEEP only, not " + spec.keyRule()
                                + ": its refusal would keep the outcome of the other from being written");
            }
            return spec;
        }
    }

    /** What becomes of the job. */
    public sealed interface Next {}

    /** SUCCEEDED, with an optional JSON result. */
    public record Succeed(@Nullable String result) implements Next {}

    /** FAILED: a dead letter. */
    public record Fail(FailReason reason) implements Next {}

    /** CANCELLED. */
    public record Cancel() implements Next {}

    /**
     * PENDING again, due {@code delay} after the store's now.
     *
     * @param lastDelay what the next retry shall know as the previous delay; null keeps the stored one
     * @param together how many suspects may run on one worker with this one, itself included, if this makes it a suspect
     */
    public record Wait(
            WaitReason reason, Duration delay, @Nullable Duration lastDelay, int together) implements Next {
        public Wait {
            // In the resolution of the stores, so that the due time computed from it is the one stored.
            delay = delay.truncatedTo(ChronoUnit.MICROS);
            if (together < 1) {
                throw new IllegalArgumentException("together must be at least 1, but is " + together);
            }
        }

        /** A wait after which a suspect runs alone. */
        public Wait(WaitReason reason, Duration delay, @Nullable Duration lastDelay) {
            this(reason, delay, lastDelay, 1);
        }
    }

    /**
     * PENDING and parked: not claimed, even when due, until {@link JobStore#unpark} lets it go.
     *
     * @param by name of the control state it waits for
     * @param delay how long after the store's now it is due; null leaves its due time as it was before the claim
     * @param lastDelay what the next retry shall know as the previous delay; null keeps the stored one
     */
    public record Park(
            String by,
            WaitReason reason,
            @Nullable Duration delay,
            @Nullable Duration lastDelay) implements Next {
        public Park {
            delay = delay == null ? null : delay.truncatedTo(ChronoUnit.MICROS);
        }
    }

    /** PENDING as before the claim: due time and wait reason stay as they were; only the counter of {@code spent} moves. */
    public record PutBack() implements Next {}
}
