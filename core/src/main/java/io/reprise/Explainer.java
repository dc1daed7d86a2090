// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.Explanation.Reason;
import io.reprise.control.Breaker;
import io.reprise.control.BreakerPhase;
import io.reprise.control.ControlKey;
import io.reprise.internal.ControlDesk;
import io.reprise.retry.Decision;
import io.reprise.retry.FailReason;
import io.reprise.retry.RetryPolicy;
import io.reprise.store.JobStore;
import io.reprise.store.QueueState;
import io.reprise.store.Standing;
import io.reprise.store.WorkerReport;
import io.reprise.store.WorkerState;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** Finds the reasons why a job is running, waiting or ended. Serves one call of {@link Reprise#explain}. */
final class Explainer {

    private final JobStore store;
    private final Standing standing;
    private final RetryPolicy policy;
    private final Advisor advisor;
    private final ControlDesk desk;
    private final Job job;
    private final List<Reason> reasons = new ArrayList<>();
    private @Nullable Instant nextAt;

    Explainer(JobStore store, Standing standing, RetryPolicy policy, Advisor advisor, ControlDesk desk) {
        this.store = store;
        this.desk = desk;
        this.policy = policy;
        this.advisor = advisor;
        this.standing = standing;
        this.job = standing.job();
    }

    Explanation explain() {
        Instant finishedAt = Objects.requireNonNullElse(job.times().finishedAt(), standing.at());
        switch (job.state()) {
            case SUCCEEDED -> reasons.add(new Explanation.Succeeded(finishedAt, job.attempts()));
            case CANCELLED -> reasons.add(new Explanation.Cancelled(finishedAt));
            case FAILED -> dead(finishedAt);
            case RUNNING -> running();
            case PENDING -> pending();
        }
        return new Explanation(job.id(), standing.at(), reasons, nextAt, advisor.prediction(job));
    }

    private void dead(Instant finishedAt) {
        FailReason reason = Objects.requireNonNullElse(job.failReason(), FailReason.PERMANENT);
        JobStatus.LastError error = job.status().lastError();
        reasons.add(new Explanation.Dead(
                reason, finishedAt, job.attempts(), lastRule(), error == null ? null : error.type()));
    }

    private void running() {
        JobStatus.Holder holder = Objects.requireNonNull(job.status().holder());
        Instant until = Objects.requireNonNullElse(standing.leaseUntil(), standing.at());
        if (until.isAfter(standing.at())) {
            Instant since = Objects.requireNonNullElse(job.times().startedAt(), standing.at());
            reasons.add(new Explanation.Running(holder.worker(), since, until, holder.cancelRequested()));
        } else {
            reasons.add(new Explanation.Silent(holder.worker(), until));
        }
    }

    private OptionalInt maxAttempts() {
        return policy.maxAttempts().toOptional().map(OptionalInt::of).orElse(OptionalInt.empty());
    }

    private void pending() {
        Instant deadline = job.times().deadline();
        if (deadline != null && !deadline.isAfter(standing.at())) {
            reasons.add(new Explanation.DeadlinePassed(deadline));
            return;
        }
        Instant dueAt = Objects.requireNonNullElse(job.times().dueAt(), standing.at());
        boolean due = !dueAt.isAfter(standing.at());
        if (!due) {
            WaitReason why = Objects.requireNonNullElse(job.status().waitReason(), WaitReason.DELAYED);
            reasons.add(new Explanation.NotDue(dueAt, why, job.attempts(), maxAttempts(), lastRule()));
            nextAt = dueAt;
        }
        control();
        queue();
        workers(due);
        if (due && (standing.higher() > 0 || standing.earlier() > 0)) {
            reasons.add(new Explanation.Behind(standing.higher(), standing.earlier()));
        }
        if (reasons.isEmpty()) {
            reasons.add(new Explanation.Next());
        }
    }

    private void control() {
        String resource = job.spec().resource();
        ControlKey parkedBy = standing.parkedBy() == null
                ? null
                : ControlKey.parse(standing.parkedBy()).orElse(null);
        if (parkedBy != null && parkedBy.kind() != ControlKey.Kind.BREAKER) {
            reasons.add(new Explanation.BudgetEmpty(parkedBy, desk.budget(parkedBy, parkedBy(parkedBy))));
        }
        if (resource != null) {
            String name = ControlKey.breaker(resource).text();
            store.controls().stream()
                    .filter(row -> row.name().equals(name))
                    .map(row -> Breaker.parse(row.state(), standing.at()))
                    .filter(breaker -> breaker.holds()
                            || (parkedBy != null && parkedBy.text().equals(name)))
                    .forEach(breaker -> held(resource, breaker));
        }
    }

    private void held(String resource, Breaker breaker) {
        boolean rests = breaker.phase() == BreakerPhase.OPEN && breaker.force() == null;
        Instant probe = rests ? breaker.nextProbe() : null;
        long parked = parkedBy(ControlKey.breaker(resource));
        reasons.add(new Explanation.HeldByBreaker(
                resource,
                breaker.phase(),
                breaker.since(),
                probe,
                breaker.why(),
                parked,
                ControlDesk.ramp(breaker, parked)));
        if (probe != null && (nextAt == null || probe.isAfter(nextAt))) {
            nextAt = probe;
        }
    }

    private long parkedBy(ControlKey key) {
        return store.parked().getOrDefault(key.text(), 0L);
    }

    private void queue() {
        QueueState.Pause pause = standing.paused();
        if (pause != null) {
            reasons.add(new Explanation.QueuePaused(
                    job.queue(), pause.since(), pause.note().by(), pause.note().why()));
        }
        Integer limit = standing.maxRunning();
        if (limit != null && standing.running() >= limit) {
            reasons.add(new Explanation.LimitReached(job.queue(), limit, standing.running()));
        }
    }

    private void workers(boolean due) {
        List<WorkerReport> serving = store.workers().stream()
                .map(WorkerState::report)
                .filter(worker -> worker.serves(job.queue()))
                .toList();
        List<WorkerReport> able =
                serving.stream().filter(worker -> worker.handles(job.type())).toList();
        if (serving.isEmpty()) {
            reasons.add(new Explanation.NoWorker(job.queue()));
        } else if (able.isEmpty()) {
            reasons.add(new Explanation.NoHandler(job.queue(), job.type()));
        } else if (due && able.stream().allMatch(worker -> worker.holding() >= worker.concurrency())) {
            reasons.add(new Explanation.WorkersBusy(able.size()));
        }
    }

    /** Returns the rule of the latest decision that is kept: the reason why the job waits or is dead. */
    private @Nullable String lastRule() {
        List<Attempt> attempts = store.attempts(job.id());
        Decision decision =
                attempts.isEmpty() ? null : attempts.get(attempts.size() - 1).decision();
        return decision == null ? null : decision.rule();
    }
}
