// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit;

import io.reprise.Job;
import io.reprise.JobId;
import io.reprise.WaitReason;
import io.reprise.retry.Decision;
import io.reprise.retry.FailReason;
import io.reprise.retry.Failure;
import io.reprise.retry.FailureClass;
import io.reprise.store.Claim;
import io.reprise.store.Settlement;
import io.reprise.store.Settlement.Next;
import io.reprise.store.Spent;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Outcomes of a claimed job, as an engine would decide them. */
public final class Settlements {

    /** How long every run took. */
    public static final Duration RAN = Duration.ofMillis(250);

    private Settlements() {}

    public static Settlement success(Claim claim, Job job) {
        return success(claim, job, null);
    }

    public static Settlement success(Claim claim, Job job, @Nullable String result) {
        return of(job.id(), claim.token(), Spent.ATTEMPT, new Settlement.Succeed(result));
    }

    /** A counted failure, tried again after the delay. */
    public static Settlement retry(Claim claim, Job job, Duration delay) {
        Decision decision = new Decision.Retry(delay, delay, FailureClass.TRANSIENT, "unclassified");
        Next next = new Settlement.Wait(WaitReason.RETRY, delay, delay);
        return new Settlement(job.id(), claim.token(), Spent.ATTEMPT, RAN, next, failure(), decision);
    }

    /** A counted failure that makes a dead letter. */
    public static Settlement fail(Claim claim, Job job) {
        return fail(claim, job, failure());
    }

    public static Settlement fail(Claim claim, Job job, Failure failure) {
        Decision decision = new Decision.Fail(FailReason.EXHAUSTED, FailureClass.TRANSIENT, "unclassified", true);
        Next next = new Settlement.Fail(FailReason.EXHAUSTED);
        return new Settlement(job.id(), claim.token(), Spent.ATTEMPT, RAN, next, failure, decision);
    }

    public static Settlement snooze(Claim claim, Job job, Duration delay) {
        Next next = new Settlement.Wait(WaitReason.SNOOZE, delay, null);
        return new Settlement(job.id(), claim.token(), Spent.SNOOZE, RAN, next, null, new Decision.Snooze(delay));
    }

    /** A run interrupted by a shutdown, due again at once. */
    public static Settlement interruption(Claim claim, Job job) {
        Next next = new Settlement.Wait(WaitReason.RETRY, Duration.ZERO, null);
        Failure failure = Failure.of(FailureClass.INTERRUPTED, "shutdown", "worker stopped");
        Decision decision = new Decision.Release(Duration.ZERO, FailureClass.INTERRUPTED, "shutdown");
        return new Settlement(job.id(), claim.token(), Spent.INTERRUPTION, RAN, next, failure, decision);
    }

    /** A run lost with its worker, due again at once. */
    public static Settlement loss(Claim claim, Job job) {
        return loss(claim, job, 1);
    }

    /** A loss after which a suspect may run with others, {@code together} in all. */
    public static Settlement loss(Claim claim, Job job, int together) {
        Next next = new Settlement.Wait(WaitReason.RETRY, Duration.ZERO, null, together);
        Failure failure = Failure.of(FailureClass.LOST, "lease", "lease expired");
        Decision decision = new Decision.Release(Duration.ZERO, FailureClass.LOST, "lost");
        return new Settlement(job.id(), claim.token(), Spent.LOSS, RAN, next, failure, decision);
    }

    public static Settlement cancellation(Claim claim, Job job) {
        return of(job.id(), claim.token(), Spent.ATTEMPT, new Settlement.Cancel());
    }

    /** A run given back before the handler started. */
    public static Settlement putBack(Claim claim, Job job) {
        return of(job.id(), claim.token(), Spent.NOTHING, new Settlement.PutBack());
    }

    /** A run parked by a breaker before the handler started. */
    public static Settlement park(Claim claim, Job job, String by) {
        return of(job.id(), claim.token(), Spent.NOTHING, new Settlement.Park(by, WaitReason.BREAKER, null, null));
    }

    /** A counted failure whose retry is parked by a budget. */
    public static Settlement parkedRetry(Claim claim, Job job, Duration delay, String by) {
        Decision decision = new Decision.Retry(delay, delay, FailureClass.TRANSIENT, "unclassified");
        Next next = new Settlement.Park(by, WaitReason.BUDGET, delay, delay);
        return new Settlement(job.id(), claim.token(), Spent.ATTEMPT, RAN, next, failure(), decision);
    }

    /** An outcome without failure and decision. */
    public static Settlement of(JobId job, long token, Spent spent, Next next) {
        return new Settlement(job, token, spent, RAN, next, null, null);
    }

    public static Failure failure() {
        return Failure.reported("java.net.ConnectException", "refused", 503, "the other side is down", null);
    }
}
