// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import io.reprise.Job;
import io.reprise.JobSignal;
import io.reprise.WaitReason;
import io.reprise.retry.Decision;
import io.reprise.retry.FailReason;
import io.reprise.retry.Failure;
import io.reprise.retry.FailureClass;
import io.reprise.retry.History;
import io.reprise.retry.LossRule;
import io.reprise.retry.RetryPolicy;
import io.reprise.store.LostClaim;
import io.reprise.store.Settlement;
import io.reprise.store.Spent;
import java.time.Duration;
import java.time.Instant;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Turns the end of a run into what becomes of the job. Asked once per run; the answer is kept until it is written. */
final class Decider {

    private static final Duration NO_HANDLER_DELAY = Duration.ofSeconds(30);
    private static final int MAX_CAUSES = 16;

    private final Policies policies;
    private final Handlers handlers;
    private final StoreClock clock;
    private final RandomGenerator random;
    private final boolean retries;

    Decider(Policies policies, Handlers handlers, StoreClock clock, RandomGenerator random, boolean retries) {
        this.policies = policies;
        this.handlers = handlers;
        this.clock = clock;
        this.random = random;
        this.retries = retries;
    }

    Settlement settle(Ended end) {
        return switch (end.kind()) {
            case NOT_STARTED -> settlement(end, Spent.NOTHING, new Settlement.PutBack(), null, null);
            case TOO_LATE -> tooLate(end);
            case UNHANDLED -> unhandled(end);
            case UNREADABLE -> byPolicy(end, Failure.of(FailureClass.UNREADABLE, error(end)));
            case HANDLED ->
                end.error() == null
                        ? settlement(end, Spent.ATTEMPT, new Settlement.Succeed(end.result()), null, null)
                        : thrown(end, end.error());
        };
    }

    /** The loss of a lease, found by the sweeper. */
    Settlement lost(LostClaim lost, Job job) {
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
        Duration held = Duration.between(lost.claim().claimedAt(), clock.now());
        return new Settlement(
                job.id(),
                lost.claim().token(),
                Spent.LOSS,
                held.isNegative() ? Duration.ZERO : held,
                next,
                failure,
                decision);
    }

    private Settlement thrown(Ended end, Throwable error) {
        JobSignal signal = signal(error);
        if (signal != null && signal.kind() == JobSignal.Kind.SNOOZE) {
            Decision.Snooze snooze = new Decision.Snooze(orZero(signal.delay()));
            return settlement(end, Spent.SNOOZE, next(snooze), null, snooze);
        }
        boolean asked = signal != null && signal.kind() == JobSignal.Kind.CANCEL;
        if (asked || end.run().stopReason() == Run.Stop.CANCELLED) {
            return settlement(end, Spent.ATTEMPT, new Settlement.Cancel(), Failure.of(error), null);
        }
        if (end.run().stopReason() == Run.Stop.SHUTDOWN) {
            Failure failure = Failure.of(FailureClass.INTERRUPTED, error);
            Decision release = new Decision.Release(Duration.ZERO, FailureClass.INTERRUPTED, "shutdown");
            return settlement(end, Spent.INTERRUPTION, new Settlement.PutBack(), failure, release);
        }
        return byPolicy(end, failure(end, error, signal));
    }

    private static Failure failure(Ended end, Throwable error, @Nullable JobSignal signal) {
        if (end.run().stopReason() == Run.Stop.TIMEOUT) {
            return Failure.of(FailureClass.TIMEOUT, error);
        }
        if (signal == null) {
            return Failure.of(error);
        }
        boolean fatal = signal.kind() == JobSignal.Kind.FAIL;
        return Failure.of(fatal ? FailureClass.PERMANENT : FailureClass.TRANSIENT, error);
    }

    private Settlement byPolicy(Ended end, Failure failure) {
        Job job = end.run().job;
        Instant deadline = job.times().deadline();
        RetryPolicy policy = policy(job);
        Decision decision = checked(policy.decide(failure, history(job, policy), random));
        if (decision instanceof Decision.Retry retry
                && deadline != null
                && !clock.now().plus(retry.delay()).isBefore(deadline)) {
            decision = new Decision.Fail(FailReason.DEADLINE, retry.failureClass(), retry.rule(), true);
        }
        return failed(end, failure, decision);
    }

    private static Settlement tooLate(Ended end) {
        Failure failure = Failure.of(
                FailureClass.TIMEOUT, "Deadline", "The deadline of the job passed before this run could start");
        Decision decision = new Decision.Fail(FailReason.DEADLINE, FailureClass.TIMEOUT, "deadline", false);
        return settlement(end, Spent.NOTHING, next(decision), failure, decision);
    }

    private Settlement unhandled(Ended end) {
        String type = end.run().job.type();
        Failure failure = Failure.of(
                FailureClass.INTERRUPTED,
                "NoHandler",
                "This worker has no handler for type '" + type + "', but serves the queue '"
                        + end.run().job.queue() + "'. Register a handler or use another queue.");
        Decision release = new Decision.Release(NO_HANDLER_DELAY, FailureClass.INTERRUPTED, "no-handler");
        return settlement(end, Spent.SNOOZE, next(release), failure, release);
    }

    private static Settlement failed(Ended end, Failure failure, Decision decision) {
        return settlement(end, Spent.ATTEMPT, next(decision), failure, decision);
    }

    private Decision checked(Decision decision) {
        return !retries && decision instanceof Decision.Retry retry
                ? new Decision.Fail(FailReason.DISABLED, retry.failureClass(), "retries-disabled", retry.counts())
                : decision;
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
            Ended end, Spent spent, Settlement.Next next, @Nullable Failure failure, @Nullable Decision decision) {
        return new Settlement(end.run().id(), end.run().token(), spent, end.ran(), next, failure, decision);
    }

    private RetryPolicy policy(Job job) {
        return policies.effective(job, handlers.policy(job.type()));
    }

    private History history(Job job, RetryPolicy policy) {
        int losses = job.counts().losses();
        boolean lossesCount = policy.losses().map(LossRule::counts).orElse(false);
        return new History(
                job.counts().attempts() + (lossesCount ? losses : 0),
                losses,
                Duration.between(job.times().firstDueAt(), clock.now()),
                job.times().lastDelay());
    }

    private static Throwable error(Ended end) {
        Throwable error = end.error();
        return error == null ? new IllegalStateException("no error given") : error;
    }

    private static Duration orZero(@Nullable Duration delay) {
        return delay == null ? Duration.ZERO : delay;
    }

    private static @Nullable JobSignal signal(Throwable error) {
        Throwable link = error;
        for (int depth = 0; link != null && depth < MAX_CAUSES; depth++) {
            if (link instanceof JobSignal signal) {
                return signal;
            }
            link = link.getCause();
        }
        return null;
    }
}
