// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.settle;

import io.reprise.RetryAdvisor;
import io.reprise.RetryAdvisor.Situation;
import io.reprise.batch.Membership;
import io.reprise.control.ControlKey;
import io.reprise.failure.Failure;
import io.reprise.failure.FailureClass;
import io.reprise.internal.control.LiveSettings;
import io.reprise.internal.control.LocalControl;
import io.reprise.internal.engine.Driver;
import io.reprise.internal.engine.EngineParts;
import io.reprise.internal.engine.StoreClock;
import io.reprise.internal.run.Handlers;
import io.reprise.internal.run.Run;
import io.reprise.internal.run.RunResult;
import io.reprise.internal.run.StartCheck;
import io.reprise.internal.run.Suspension;
import io.reprise.internal.run.UnhandledTypes;
import io.reprise.job.Job;
import io.reprise.job.JobSignal;
import io.reprise.job.WaitReason;
import io.reprise.retry.AttemptHistory;
import io.reprise.retry.Decision;
import io.reprise.retry.FailReason;
import io.reprise.retry.GiveUp;
import io.reprise.retry.LossRule;
import io.reprise.retry.Prediction;
import io.reprise.retry.RetryPolicy;
import io.reprise.step.Step;
import io.reprise.step.StepFailedException;
import io.reprise.step.StepWrite;
import io.reprise.step.StoredStep;
import io.reprise.store.CountedAs;
import io.reprise.store.LostClaim;
import io.reprise.store.Settlement;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Turns the end of a run into a settlement: what becomes of the job, with its follow-up jobs. The {@link Settler}
 * calls it once per run and keeps the answer until it is written. It asks the retry policy, the breakers and the budgets; it never writes to the store.
 */
public final class OutcomeDecider {

    private static final Duration UNDECIDED_DELAY = Duration.ofSeconds(30);

    /** Suspects that may run together: many while another group loss is allowed after this one, few before the last. */
    private static final int LARGE_GROUP = 1_000;

    private static final int SMALL_GROUP = 16;

    /** After this many interruptions a job is blamed even if its remote worker never sent a heartbeat. */
    private static final int MAX_UNHEARD = 10;

    /** Fail reasons of jobs whose failure class alone would have allowed a retry. */
    private static final Set<FailReason> RETRIED_BUT_FOR = Set.of(FailReason.EXHAUSTED, FailReason.HOPELESS);

    /** Fail reasons that become the outcome of a step. After a deadline there is no further run. */
    private static final Set<FailReason> STEP_ENDS =
            Set.of(FailReason.EXHAUSTED, FailReason.PERMANENT, FailReason.HOPELESS, FailReason.UNREADABLE);

    /**
     * Those of a step that runs at most once. A call that timed out in its last attempt may have had its effect, so its
     * handler must not undo what came before.
     */
    private static final Set<FailReason> KNOWN_STEP_ENDS = Set.of(FailReason.PERMANENT, FailReason.UNREADABLE);

    private final PolicyLayers policies;
    private final Handlers handlers;
    private final StoreClock clock;
    private final LocalControl control;
    private final FollowUps followUps;
    private final PredictionTable predictions;
    private final UnhandledTypes unhandled;
    private final RandomGenerator random;
    private final Events events;
    private final Driver driver;
    private final boolean retries;
    private final LiveSettings live;

    public OutcomeDecider(PolicyLayers policies, EngineParts parts, PredictionTable predictions, boolean retries) {
        this.policies = policies;
        this.handlers = parts.handlers();
        this.clock = parts.clock();
        this.control = parts.control();
        this.followUps = parts.followUps();
        this.predictions = predictions;
        this.unhandled = parts.unhandled();
        this.random = parts.random();
        this.events = parts.events();
        this.driver = parts.driver();
        this.retries = retries;
        this.live = parts.live();
    }

    /** Decides about an ended run, and adds the follow-up jobs. Does not write anything. */
    Settlement settle(RunResult end) {
        return followUps.with(end.run().job, decide(end));
    }

    private Settlement decide(RunResult end) {
        return switch (end.kind()) {
            case NOT_STARTED -> settlement(end, CountedAs.NOTHING, new Settlement.PutBack(), null, null);
            case HELD -> settlement(end, CountedAs.NOTHING, parkedByBreaker(end.run().job), null, null);
            case UNHANDLED -> settlement(end, CountedAs.NOTHING, unhandled.next(end.run().job), null, null);
            case UNREADABLE -> byPolicy(end, unreadable(end));
            case HANDLED -> handled(end);
        };
    }

    private Settlement handled(RunResult end) {
        Suspension suspension = end.run().suspension();
        Run.Stop stop = end.run().stopReason();
        // A run that was stopped meanwhile ends as a stopped one. Its next run comes to the same place.
        if (suspension != null && (stop == null || stop == Run.Stop.TIMEOUT)) {
            if (suspension instanceof Suspension.Pause pause) {
                return paused(end, pause);
            }
            if (suspension instanceof Suspension.Held held) {
                Settlement.Next park =
                        new Settlement.Park(ControlKey.breaker(held.resource()).text(), WaitReason.BREAKER, null, null);
                return settlement(end, CountedAs.NOTHING, park, null, null);
            }
            if (suspension instanceof Suspension.Unknown unknown) {
                return unknown(
                        end,
                        Failure.of(
                                FailureClass.PERMANENT,
                                "UnknownOutcome",
                                "Step " + unknown.step() + " has started and must not run twice, and nobody knows how"
                                        + " it ended. Find out, and resolve the step"));
            }
        }
        RunResult.Thrown error = end.error();
        if (error == null && suspension != null) {
            error = RunResult.Thrown.of(new IllegalStateException(
                    "The handler of job " + end.run().id() + " went on after its run had ended in a step"));
        }
        return error == null
                ? settlement(end, CountedAs.ATTEMPT, new Settlement.Succeed(end.result()), null, null)
                : thrown(end, error);
    }

    private Settlement paused(RunResult end, Suspension.Pause pause) {
        Job job = end.run().job;
        boolean joins = pause.reason() == WaitReason.BATCH;
        if (!joins && StartCheck.isOver(job, clock.now().plus(pause.delay()))) {
            Failure failure = Failure.of(
                    FailureClass.PERMANENT,
                    "WaitsTooLong",
                    "Step " + pause.write().name() + " of job " + job.id() + " waits until "
                            + clock.now().plus(pause.delay()) + ", but the deadline of the job is "
                            + job.times().deadline() + ". Give its policy a later deadline, or noDeadline()");
            Decision fail = new Decision.Fail(FailReason.DEADLINE, FailureClass.PERMANENT, "step-waits", true);
            return settlement(end, CountedAs.ATTEMPT, new Settlement.Fail(FailReason.DEADLINE), failure, fail);
        }
        String rule = pause.reason() == WaitReason.SLEEP ? "sleep" : joins ? "join" : "await";
        return settlement(
                        end,
                        CountedAs.SNOOZE,
                        new Settlement.Wait(pause.reason(), pause.delay(), null),
                        null,
                        new Decision.Snooze(
                                pause.delay(), rule + ":" + pause.write().name()))
                .with(pause.write())
                .with(new Settlement.FollowUps(pause.children(), List.of()));
    }

    private static Settlement unknown(RunResult end, Failure failure) {
        Decision decision = new Decision.Fail(FailReason.UNKNOWN_OUTCOME, FailureClass.PERMANENT, "at-most-once", true);
        return settlement(end, CountedAs.ATTEMPT, new Settlement.Fail(FailReason.UNKNOWN_OUTCOME), failure, decision);
    }

    /**
     * Asks the advisor of the job's type about a failed run, on the thread that ended it. The {@code Committer} settles
     * many runs and must not wait for code of the user.
     */
    public void advise(RunResult end) {
        Job job = end.run().job;
        RetryAdvisor advisor = handlers.advisor(job.type());
        RunResult.Thrown error = end.error();
        Run.Stop stop = end.run().stopReason();
        if (advisor == null
                || error == null
                || error.signal() != null
                || end.kind() != RunResult.Kind.HANDLED
                || (stop != null && stop != Run.Stop.TIMEOUT)
                || end.run().isSettledByCaller()) {
            return;
        }
        Failure failure = failure(error, null, stop);
        RetryPolicy policy = policy(end.run());
        Decision decided = decided(job, failure, policy);
        Situation situation = new Situation(job, failure, history(job, policy), decided);
        end.run().advised(new AdvisorCall(advisor, policy, situation, events).ask(driver));
    }

    /** Decides about a job whose lease expired and was taken over by the {@code Reclaimer}. */
    public Settlement lost(LostClaim lost, Job job) {
        if (lost.excused()) {
            return interrupted(
                    lost,
                    job,
                    "shutdown",
                    Failure.of(
                            FailureClass.INTERRUPTED,
                            "Shutdown",
                            "Worker " + lost.lostWorker() + " was stopped before it had given the job back"));
        }
        if (isUnheard(lost, job)) {
            return interrupted(
                    lost,
                    job,
                    "unheard",
                    Failure.of(
                            FailureClass.INTERRUPTED,
                            "Unheard",
                            "Worker " + lost.lostWorker()
                                    + " was never heard of under its lease: it may not know of it"));
        }
        return killed(lost, job);
    }

    /**
     * A remote worker that never sent a heartbeat may not have received the lease, which is no fault of the job. Or
     * it died before its first heartbeat, which may be the job's fault. So this excuse holds only
     * {@code MAX_UNHEARD} times.
     */
    public static boolean isUnheard(LostClaim lost, Job job) {
        return lost.unheard() && job.counts().interruptions() < MAX_UNHEARD;
    }

    /** Decides as if the worker had given the job back itself. */
    private Settlement interrupted(LostClaim lost, Job job, String rule, Failure failure) {
        Decision release = new Decision.Release(Duration.ZERO, FailureClass.INTERRUPTED, rule);
        Settlement settlement = new Settlement(
                job.id(),
                lost.claim().token(),
                CountedAs.INTERRUPTION,
                held(lost),
                new Settlement.PutBack(),
                failure,
                release);
        return followUps.with(job, settlement);
    }

    private Duration held(LostClaim lost) {
        Duration held = Duration.between(lost.claim().claimedAt(), clock.now());
        return held.isNegative() ? Duration.ZERO : held;
    }

    private Settlement killed(LostClaim lost, Job job) {
        Failure failure = Failure.of(
                FailureClass.LOST,
                "LeaseExpired",
                "Worker " + lost.lostWorker() + " did not renew its lease and is taken to be gone");
        RetryPolicy policy = policy(job);
        Decision decision = checked(
                policy.decideLoss(failure, history(job, policy), lost.claim().alone(), random));
        Settlement.Next next = decision instanceof Decision.Release release
                ? new Settlement.Wait(WaitReason.RETRY, release.delay(), null)
                : next(decision);
        if (next instanceof Settlement.Wait wait) {
            next = new Settlement.Wait(wait.reason(), wait.delay(), wait.lastDelay(), together(job, policy));
        }
        Settlement settlement =
                new Settlement(job.id(), lost.claim().token(), CountedAs.LOSS, held(lost), next, failure, decision);
        return followUps.with(job, settlement);
    }

    /**
     * Returns how many suspects may run together with a job that was lost again. A job that kills its worker costs its
     * whole group one loss. So its groups become smaller, and it runs alone when one more loss would quarantine it.
     */
    private static int together(Job job, RetryPolicy policy) {
        int most = policy.losses().orElse(LossRule.DEFAULT).max();
        int left = most - (job.counts().losses() + 1);
        return left < 2 ? 1 : left == 2 ? SMALL_GROUP : LARGE_GROUP;
    }

    /**
     * Gives back a run for which the decision itself failed. The failure stays visible, and the job runs again after
     * {@code UNDECIDED_DELAY}.
     */
    Settlement undecided(RunResult end, RuntimeException why) {
        Decision release = new Decision.Release(UNDECIDED_DELAY, FailureClass.INTERRUPTED, "undecided");
        Settlement settlement =
                settlement(end, CountedAs.SNOOZE, next(release), Failure.of(FailureClass.INTERRUPTED, why), release);
        // The rules may be what failed. Without them a job whose cancellation was requested is still counted in its
        // batch.
        return settlement.with(new Settlement.FollowUps(
                List.of(), List.of(), Membership.in(end.run().job.spec())));
    }

    private Settlement thrown(RunResult end, RunResult.Thrown error) {
        JobSignal.Kind signal = error.signal() == null ? null : error.signal().kind();
        Run.Stop stop = end.run().stopReason();
        if (signal == JobSignal.Kind.SNOOZE) {
            Decision.Snooze snooze = new Decision.Snooze(delay(error.signal()));
            return settlement(end, CountedAs.SNOOZE, next(snooze), null, snooze);
        }
        if (signal == JobSignal.Kind.CANCEL || stop == Run.Stop.CANCELLED) {
            return settlement(end, CountedAs.ATTEMPT, new Settlement.Cancel(), error.failure(), null);
        }
        if (stop == Run.Stop.SHUTDOWN || stop == Run.Stop.LOST) {
            // The job caused neither stop. A lost lease is live until another worker takes it over, so this
            // outcome can still be written.
            String rule = stop == Run.Stop.SHUTDOWN ? "shutdown" : "lost";
            Failure failure = error.failure().withGiven(FailureClass.INTERRUPTED);
            Decision release = new Decision.Release(Duration.ZERO, FailureClass.INTERRUPTED, rule);
            return settlement(end, CountedAs.INTERRUPTION, new Settlement.PutBack(), failure, release);
        }
        if (error.step() != null && end.run().failedStep() == null) {
            return uncaught(end, error.step());
        }
        return byPolicy(end, failure(error, signal, stop));
    }

    /** The handler let the failure of a step pass: the job fails as the step did. */
    private Settlement uncaught(RunResult end, StepFailedException thrown) {
        StoredStep.StepFailure why = thrown.failure();
        Failure failure = Failure.of(
                why.failureClass(),
                why.type(),
                "Step " + thrown.step() + ": " + Objects.requireNonNullElse(why.message(), "no message"));
        Decision decision = new Decision.Fail(why.reason(), why.failureClass(), "step:" + thrown.step(), true);
        return settlement(end, CountedAs.ATTEMPT, new Settlement.Fail(why.reason()), failure, decision);
    }

    private static Failure failure(RunResult.Thrown error, JobSignal.@Nullable Kind signal, Run.@Nullable Stop stop) {
        if (signal == JobSignal.Kind.FAIL) {
            return error.failure().withGiven(FailureClass.PERMANENT);
        }
        if (stop == Run.Stop.TIMEOUT) {
            return error.failure().withGiven(FailureClass.TIMEOUT);
        }
        return signal == null ? error.failure() : error.failure().withGiven(FailureClass.TRANSIENT);
    }

    private static Failure unreadable(RunResult end) {
        return end.error() == null
                ? Failure.of(FailureClass.UNREADABLE, "Unreadable", "The payload could not be read")
                : end.error().failure().withGiven(FailureClass.UNREADABLE);
    }

    private Settlement byPolicy(RunResult end, Failure failure) {
        Job job = end.run().job;
        RetryPolicy policy = policy(end.run());
        Advised advised = end.run().advised();
        if (advised != null && advised.overruled()) {
            Decision decision = advised.decision();
            return decision == null
                    ? settlement(end, CountedAs.ATTEMPT, new Settlement.Cancel(), failure, null)
                    : failed(end, failure, checked(decision));
        }
        Decision known = advised == null ? null : advised.decision();
        Decision decision = known == null ? decided(job, failure, policy) : known;
        if (isExcused(end.run(), decision, policy)) {
            return excused(end, failure, policy, decision);
        }
        if (decision instanceof Decision.Retry retry
                && StartCheck.isOver(job, clock.now().plus(retry.delay()))) {
            decision = new Decision.Fail(
                    FailReason.DEADLINE, retry.failureClass(), retry.rule(), true, retry.prediction());
        }
        return failed(end, failure, decision);
    }

    private Decision decided(Job job, Failure failure, RetryPolicy policy) {
        return checked(policy.decide(failure, history(job, policy), prediction(job, failure, policy), random));
    }

    private @Nullable Prediction prediction(Job job, Failure failure, RetryPolicy policy) {
        int attempt = job.counts().attempts() + 1;
        GiveUp rule = policy.giveUpBelow().toOptional().orElse(null);
        return rule == null
                ? predictions.after(job, failure.fingerprint(), attempt)
                : predictions.after(job, failure.fingerprint(), attempt, rule.minSamples());
    }

    /**
     * Whether an admitted run failed because of its resource. Such a run tested the resource, so the failure
     * costs the job no attempt. A job has as many free runs as attempts: without a bound, the only job of a resource
     * would be called for ever.
     */
    private boolean isExcused(Run run, Decision decision, RetryPolicy policy) {
        int free = policy.maxAttempts().toOptional().orElse(Integer.MAX_VALUE);
        if (run.job.counts().snoozes() >= free) {
            return false;
        }
        boolean again = decision instanceof Decision.Retry
                || (decision instanceof Decision.Fail fail && RETRIED_BUT_FOR.contains(fail.reason()));
        return again && control.excuses(run, decision.failureClass());
    }

    private Settlement excused(RunResult end, Failure failure, RetryPolicy policy, Decision decision) {
        Job job = end.run().job;
        Duration delay = decision instanceof Decision.Retry retry
                ? retry.delay()
                : policy.delay(Math.max(1, job.attempts()), job.times().lastDelay(), random);
        FailureClass failed = Objects.requireNonNullElse(decision.failureClass(), FailureClass.DEPENDENCY_DOWN);
        Decision release = new Decision.Release(delay, failed, decision.rule());
        return settlement(end, CountedAs.SNOOZE, new Settlement.Wait(WaitReason.RETRY, delay, null), failure, release);
    }

    private static Settlement.Next parkedByBreaker(Job job) {
        String resource = Objects.requireNonNull(job.spec().resource());
        return new Settlement.Park(ControlKey.breaker(resource).text(), WaitReason.BREAKER, null, null);
    }

    private Settlement failed(RunResult end, Failure failure, Decision decision) {
        if (end.run().suspension() instanceof Suspension.Failed step) {
            boolean once = step.step().isAtMostOnce();
            Set<FailReason> ends = once ? KNOWN_STEP_ENDS : STEP_ENDS;
            if (decision instanceof Decision.Fail fail && ends.contains(fail.reason())) {
                return stepFailed(end, failure, fail, step);
            }
            if (once && (decision instanceof Decision.Retry || decision instanceof Decision.Fail)) {
                return unknown(end, failure);
            }
        }
        ControlKey lacking = decision instanceof Decision.Retry retry
                ? control.charge(LocalControl.blamed(end.run()), retry.failureClass())
                : null;
        if (lacking != null && decision instanceof Decision.Retry retry && control.fails(lacking)) {
            return failed(
                    end,
                    failure,
                    new Decision.Fail(
                            FailReason.BUDGET,
                            retry.failureClass(),
                            "budget-spent",
                            retry.counts(),
                            retry.prediction()));
        }
        Settlement.Next next = next(decision);
        if (lacking != null && next instanceof Settlement.Wait wait) {
            next = new Settlement.Park(lacking.text(), WaitReason.BUDGET, wait.delay(), wait.lastDelay());
        }
        if (decision instanceof Decision.Release release) {
            next = new Settlement.Wait(WaitReason.RETRY, release.delay(), null);
        }
        return settlement(end, decision.counts() ? CountedAs.ATTEMPT : CountedAs.SNOOZE, next, failure, decision);
    }

    /** The failure becomes the outcome of the step, and the handler learns of it in one more run. */
    private Settlement stepFailed(RunResult end, Failure failure, Decision.Fail fail, Suspension.Failed failed) {
        FailureClass failureClass = Objects.requireNonNullElse(fail.failureClass(), FailureClass.PERMANENT);
        StoredStep.StepFailure why =
                new StoredStep.StepFailure(fail.reason(), failureClass, failure.type(), failure.message());
        StepWrite row = StepWrite.failed(failed.step().name(), StoredStep.Kind.STEP, why)
                .granting(end.run().job.counts().spent(end.run().job.policy()) + 1);
        Decision release = new Decision.Release(
                Duration.ZERO, failureClass, "step-failed:" + failed.step().name());
        Settlement.Next next = new Settlement.Wait(WaitReason.RETRY, Duration.ZERO, null);
        return settlement(end, CountedAs.ATTEMPT, next, failure, release)
                .with(failed.replaces() ? row.replacing() : row);
    }

    private Decision checked(Decision decision) {
        return !retriesEnabled() && decision instanceof Decision.Retry retry
                ? new Decision.Fail(
                        FailReason.DISABLED,
                        retry.failureClass(),
                        "retries-disabled",
                        retry.counts(),
                        retry.prediction())
                : decision;
    }

    private boolean retriesEnabled() {
        Boolean told = live.now().defaults().retries();
        return told == null ? retries : told;
    }

    private static Settlement.Next next(Decision decision) {
        if (decision instanceof Decision.Retry retry) {
            return new Settlement.Wait(WaitReason.RETRY, retry.delay(), retry.delay());
        }
        if (decision instanceof Decision.Fail fail) {
            return new Settlement.Fail(fail.reason());
        }
        if (decision instanceof Decision.Snooze snooze) {
            return new Settlement.Wait(WaitReason.SNOOZE, snooze.delay(), null);
        }
        return new Settlement.Wait(WaitReason.SNOOZE, ((Decision.Release) decision).delay(), null);
    }

    private static Settlement settlement(
            RunResult end,
            CountedAs spent,
            Settlement.Next next,
            @Nullable Failure failure,
            @Nullable Decision decision) {
        Settlement settlement =
                new Settlement(end.run().id(), end.run().token(), spent, end.ran(), next, failure, decision);
        return next instanceof Settlement.Succeed
                ? settlement
                : settlement.tagged(end.run().tracedTags());
    }

    private RetryPolicy policy(Run run) {
        Step<?> step = run.failedStep();
        return step == null
                ? policy(run.job)
                : policies.effective(run.job, handlers.policy(run.job.type()), step.policy());
    }

    private RetryPolicy policy(Job job) {
        return policies.effective(job, handlers.policy(job.type()));
    }

    private AttemptHistory history(Job job, RetryPolicy policy) {
        return new AttemptHistory(
                job.counts().spent(policy),
                job.counts().losses(),
                Duration.between(job.times().firstDueAt(), clock.now()),
                job.times().lastDelay());
    }

    private static Duration delay(@Nullable JobSignal signal) {
        Duration delay = signal == null ? null : signal.delay();
        return delay == null ? Duration.ZERO : delay;
    }
}
