// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import io.reprise.batch.Membership;
import io.reprise.failure.Failure;
import io.reprise.job.Attempt;
import io.reprise.job.JobCounts;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.KeyRule;
import io.reprise.job.WaitReason;
import io.reprise.retry.Decision;
import io.reprise.retry.FailReason;
import io.reprise.step.StepWrite;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of one claim of a job: how the run ended and what becomes of the job. The engine decides it once and
 * writes it until the store accepts or refuses it. The store accepts it only while {@code token} is the live token of
 * the job.
 *
 * @param job id of the job
 * @param token token of the lease under which the job ran
 * @param spent the counter that this claim moves
 * @param ran how long the run took; the store computes the start from its own clock
 * @param next what becomes of the job
 * @param failure the failure, kept with the attempt; null if nothing failed
 * @param decision the decision, kept with the attempt; null after a success, a cancellation, or a claim that did not
 *     start
 * @param followUps follow-up jobs, stored in the same step exactly if the settlement is accepted. If the step begins a
 *     join, they are its children, and their batch is created in the same step
 * @param step a step that is written in the same step exactly if the settlement is accepted as it is; null if there is
 *     none. If the job begins to wait for an event that was told already, it is due at once
 * @param tags tags that take the place of the job's, for the trace of the run; null to keep them. A success keeps them
 * @since 0.1.0
 */
public record Settlement(
        JobId job,
        long token,
        CountedAs spent,
        Duration ran,
        Next next,
        @Nullable Failure failure,
        @Nullable Decision decision,
        FollowUps followUps,
        @Nullable StepWrite step,
        @Nullable Set<String> tags) {

    /** Creates a settlement without follow-up jobs and without a step. */
    public Settlement(
            JobId job,
            long token,
            CountedAs spent,
            Duration ran,
            Next next,
            @Nullable Failure failure,
            @Nullable Decision decision) {
        this(job, token, spent, ran, next, failure, decision, FollowUps.NONE, null, null);
    }

    /** Returns this settlement with other follow-up jobs. The last call wins. */
    public Settlement with(FollowUps followUps) {
        return new Settlement(job, token, spent, ran, next, failure, decision, followUps, step, tags);
    }

    /** Returns this settlement with a step. The last call wins. */
    public Settlement with(@Nullable StepWrite step) {
        return new Settlement(job, token, spent, ran, next, failure, decision, followUps, step, tags);
    }

    /** Returns this settlement with tags that take the place of the job's; null to keep them. The last call wins. */
    public Settlement tagged(@Nullable Set<String> tags) {
        return new Settlement(job, token, spent, ran, next, failure, decision, followUps, step, tags);
    }

    /** Returns how the attempt ended that the store keeps of this claim. */
    public Attempt.Ending ending() {
        return switch (spent) {
            case LOSS -> Attempt.Ending.LOST;
            case INTERRUPTION -> Attempt.Ending.INTERRUPTED;
            case SNOOZE -> Attempt.Ending.SNOOZED;
            case ATTEMPT, NOTHING -> {
                if (next instanceof Succeed) {
                    yield Attempt.Ending.SUCCEEDED;
                }
                yield next instanceof Cancel ? Attempt.Ending.CANCELLED : Attempt.Ending.FAILED;
            }
        };
    }

    /**
     * Returns what this settlement makes of a job that is held under its token. A requested cancellation takes the place
     * of any outcome but a success.
     *
     * @param counts the counters of the job before this claim
     * @param lane the lane of the job before this claim
     * @param cancelRequested whether a person asked to cancel the job
     */
    public Effect on(JobCounts counts, Lane lane, boolean cancelRequested) {
        boolean instead = cancelRequested && !(next instanceof Cancel) && !(next instanceof Succeed);
        JobState state = null;
        if (next instanceof Cancel || instead) {
            state = JobState.CANCELLED;
        } else if (next instanceof Succeed) {
            state = JobState.SUCCEEDED;
        } else if (next instanceof Fail) {
            state = JobState.FAILED;
        }
        boolean suspected = state == null && next instanceof Wait && spent == CountedAs.LOSS && counts.losses() > 0;
        Lane then = spent == CountedAs.ATTEMPT ? Lane.RETRY : suspected ? Lane.SUSPECT : lane;
        return new Effect(state, spent.addTo(counts), then, instead);
    }

    /**
     * A job after a settlement.
     *
     * @param state the state in which the job ended; null if it waits
     * @param counts the counters
     * @param lane the lane. A job that waits after its second loss is a suspect
     * @param cancelledInstead whether a requested cancellation took the place of the outcome
     */
    public record Effect(@Nullable JobState state, JobCounts counts, Lane lane, boolean cancelledInstead) {}

    /**
     * Returns one settlement for each job: that with the greatest token, because smaller tokens are dead.
     *
     * @param stale gets the jobs that had several
     */
    public static List<Settlement> newest(List<Settlement> settlements, Set<JobId> stale) {
        Map<JobId, Settlement> newest = new LinkedHashMap<>();
        for (Settlement settlement : settlements) {
            Settlement other = newest.putIfAbsent(settlement.job(), settlement);
            if (other != null) {
                stale.add(settlement.job());
                if (other.token() < settlement.token()) {
                    newest.put(settlement.job(), settlement);
                }
            }
        }
        return newest.size() == settlements.size() ? settlements : List.copyOf(newest.values());
    }

    /**
     * Jobs and counts that follow an outcome in the same atomic step.
     *
     * @param jobs stored if the outcome is accepted as it is
     * @param ifCancelled stored instead if the job becomes CANCELLED because that was requested
     * @param member the batch of the job, which counts the job if it ends; null if the job is in none
     */
    public record FollowUps(
            List<JobSpec> jobs,
            List<JobSpec> ifCancelled,
            @Nullable Membership member) {

        /** Nothing follows. */
        public static final FollowUps NONE = new FollowUps(List.of(), List.of());

        /**
         * Copies and checks the jobs.
         *
         * @throws IllegalArgumentException if the store could refuse one of the jobs; see {@link #requireHarmless}
         */
        public FollowUps {
            jobs = List.copyOf(jobs);
            ifCancelled = List.copyOf(ifCancelled);
            jobs.forEach(FollowUps::requireHarmless);
            ifCancelled.forEach(FollowUps::requireHarmless);
        }

        /** Creates follow-up jobs of a job that is in no batch. */
        public FollowUps(List<JobSpec> jobs, List<JobSpec> ifCancelled) {
            this(jobs, ifCancelled, null);
        }

        /** Returns whether nothing follows. */
        public boolean isEmpty() {
            return jobs.isEmpty() && ifCancelled.isEmpty() && member == null;
        }

        /**
         * Checks that the store cannot refuse a follow-up job. A refusal would keep the outcome of the other job from
         * being written.
         *
         * @return the spec
         * @throws IllegalArgumentException if the spec has a unique key under another rule than KEEP
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

    /** The next state of a job after a claim. */
    public sealed interface Next {}

    /**
     * The job becomes SUCCEEDED. The worker sets it when the handler returned. The job stays until retention prunes it.
     *
     * @param result JSON result of the handler; null if it has none
     */
    public record Succeed(@Nullable String result) implements Next {}

    /**
     * The job becomes FAILED: a dead letter. A worker sets it when the policy gives up, and the leader for a lost job.
     * A person can retry, replay or discard it.
     *
     * @param reason why the job failed
     */
    public record Fail(FailReason reason) implements Next {}

    /**
     * The job becomes CANCELLED. The worker sets it when the handler cancels the job, or stops because cancellation was
     * requested. The job stays until retention prunes it.
     */
    public record Cancel() implements Next {}

    /**
     * The job becomes PENDING, due {@code delay} after the store's now. A worker sets it for a retry or a snooze, the
     * leader for a lost job. Workers claim it when it is due. A person can bring it forward with a manual retry.
     *
     * @param reason why the job waits
     * @param delay the delay; a part below one microsecond is cut off
     * @param lastDelay the delay that the next retry gets as its previous delay; null keeps the stored one
     * @param together how many suspects may run on one worker with this job, itself included, if this settlement makes
     *     it a suspect; 1 or more
     */
    public record Wait(
            WaitReason reason, Duration delay, @Nullable Duration lastDelay, int together) implements Next {
        /**
         * Cuts the delay to microseconds, the unit in which stores keep times. So the due time computed from it is the
         * stored one.
         *
         * @throws IllegalArgumentException if {@code together} is less than 1
         */
        public Wait {
            // Stores keep microseconds, so the due time computed from this delay is the stored one.
            delay = delay.truncatedTo(ChronoUnit.MICROS);
            if (together < 1) {
                throw new IllegalArgumentException("together must be at least 1, but is " + together);
            }
        }

        /** Creates a wait after which a suspect runs alone. */
        public Wait(WaitReason reason, Duration delay, @Nullable Duration lastDelay) {
            this(reason, delay, lastDelay, 1);
        }
    }

    /**
     * The job becomes PENDING and parked. No worker claims it, even when it is due, until the leader unparks it with
     * {@link JobStore#unpark}. A worker sets it if a breaker holds the job, if a budget has no credit for the retry, or
     * if no worker has a handler. A person can bring it back with a manual retry.
     *
     * @param by name that the job is parked by; {@link JobStore#unpark} uses it
     * @param reason why the job waits: BREAKER, BUDGET or NO_HANDLER
     * @param delay the job is due this long after the store's now; null leaves its due time as it was before the claim
     * @param lastDelay the delay that the next retry gets as its previous delay; null keeps the stored one
     */
    public record Park(
            String by,
            WaitReason reason,
            @Nullable Duration delay,
            @Nullable Duration lastDelay) implements Next {
        /** Cuts the delay to microseconds, the unit in which stores keep times. */
        public Park {
            delay = delay == null ? null : delay.truncatedTo(ChronoUnit.MICROS);
        }
    }

    /**
     * The job becomes PENDING as it was before the claim, with the same due time and wait reason. Only the counter of
     * {@code spent} moves. A worker sets it for a job that it did not start or that a shutdown interrupted; the leader
     * sets it for an excused loss. Workers can claim the job at once.
     */
    public record PutBack() implements Next {}
}
