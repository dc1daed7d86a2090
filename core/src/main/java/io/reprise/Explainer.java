// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.control.BreakerPhase;
import io.reprise.control.ControlKey;
import io.reprise.fairness.FlowGate;
import io.reprise.fairness.FlowKey;
import io.reprise.fairness.GroupRules;
import io.reprise.insight.Explanation;
import io.reprise.insight.Explanation.Reason;
import io.reprise.insight.QueuePosition;
import io.reprise.internal.control.Breaker;
import io.reprise.internal.control.ControlOperations;
import io.reprise.internal.run.FlowRules;
import io.reprise.job.Attempt;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec.Needs;
import io.reprise.job.JobStatus;
import io.reprise.job.QueueState;
import io.reprise.job.WaitReason;
import io.reprise.job.WorkerReport;
import io.reprise.job.WorkerState;
import io.reprise.retry.Decision;
import io.reprise.retry.FailReason;
import io.reprise.retry.RetryPolicy;
import io.reprise.store.JobStore;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** Finds the reasons why a job is running, waiting or ended. Serves one call of {@link Reprise#explain}. */
final class Explainer {

    /** Upkeep looks every second. After this time it is late. */
    private static final Duration PROMPT = Duration.ofSeconds(5);

    private final JobStore store;
    private final QueuePosition queuePosition;
    private final RetryPolicy policy;
    private final Predictor predictor;
    private final ControlOperations controlOperations;
    private final FlowRules rules;
    private final Job job;
    private final List<Reason> reasons = new ArrayList<>();
    private @Nullable Instant nextAt;

    Explainer(
            JobStore store,
            QueuePosition queuePosition,
            RetryPolicy policy,
            Predictor predictor,
            ControlOperations controlOperations,
            FlowRules rules) {
        this.store = store;
        this.controlOperations = controlOperations;
        this.policy = policy;
        this.rules = rules;
        this.predictor = predictor;
        this.queuePosition = queuePosition;
        this.job = queuePosition.job();
    }

    Explanation explain() {
        Instant finishedAt = Objects.requireNonNullElse(job.times().finishedAt(), queuePosition.at());
        switch (job.state()) {
            case SUCCEEDED -> reasons.add(new Explanation.Succeeded(finishedAt, job.attempts()));
            case CANCELLED -> reasons.add(new Explanation.Cancelled(finishedAt));
            case FAILED -> dead(finishedAt);
            case RUNNING -> running();
            case PENDING -> pending();
        }
        return new Explanation(job.id(), queuePosition.at(), reasons, nextAt, predictor.prediction(job));
    }

    private void dead(Instant finishedAt) {
        FailReason reason = Objects.requireNonNullElse(job.failReason(), FailReason.PERMANENT);
        JobStatus.LastError error = job.status().lastError();
        reasons.add(new Explanation.Dead(
                reason, finishedAt, job.attempts(), lastRule(), error == null ? null : error.type()));
    }

    private void running() {
        JobStatus.Holder holder = Objects.requireNonNull(job.status().holder());
        Instant until = Objects.requireNonNullElse(queuePosition.leaseUntil(), queuePosition.at());
        if (until.isAfter(queuePosition.at())) {
            Instant since = Objects.requireNonNullElse(job.times().startedAt(), queuePosition.at());
            reasons.add(new Explanation.Running(holder.worker(), since, until, holder.cancelRequested()));
        } else {
            reasons.add(new Explanation.Silent(holder.worker(), until));
            upkeep("leases", until);
        }
    }

    /** Says how far upkeep is behind, if it should have ended this wait already. */
    private void upkeep(String piece, Instant since) {
        if (Duration.between(since, queuePosition.at()).compareTo(PROMPT) > 0) {
            store.behind(Map.of()).stream()
                    .filter(behind -> behind.piece().equals(piece) && behind.rows() > 0)
                    .map(behind -> new Explanation.UpkeepLate(piece, behind.rows(), behind.by()))
                    .forEach(reasons::add);
        }
    }

    private OptionalInt maxAttempts() {
        return policy.maxAttempts().toOptional().map(OptionalInt::of).orElse(OptionalInt.empty());
    }

    private void pending() {
        Instant deadline = job.times().deadline();
        if (deadline != null && !deadline.isAfter(queuePosition.at())) {
            reasons.add(new Explanation.DeadlinePassed(deadline));
            upkeep("deadlines", deadline);
            return;
        }
        Instant dueAt = Objects.requireNonNullElse(job.times().dueAt(), queuePosition.at());
        boolean due = !dueAt.isAfter(queuePosition.at());
        if (!due) {
            WaitReason why = Objects.requireNonNullElse(job.status().waitReason(), WaitReason.DELAYED);
            reasons.add(new Explanation.NotDue(dueAt, why, job.attempts(), maxAttempts(), lastRule()));
            nextAt = dueAt;
        }
        control();
        queue();
        flow(due);
        workers(due);
        if (due && (queuePosition.higher() > 0 || queuePosition.earlier() > 0)) {
            reasons.add(new Explanation.Behind(queuePosition.higher(), queuePosition.earlier()));
        }
        if (reasons.isEmpty()) {
            reasons.add(new Explanation.Next());
        }
    }

    private void control() {
        ControlKey parkedBy = queuePosition.parkedBy() == null
                ? null
                : ControlKey.parse(queuePosition.parkedBy()).orElse(null);
        if (parkedBy != null && parkedBy.kind() != ControlKey.Kind.BREAKER) {
            reasons.add(new Explanation.BudgetEmpty(parkedBy, controlOperations.budget(parkedBy, parkedBy(parkedBy))));
        }
        // A step may have parked the job by the breaker of its own resource.
        String resource = parkedBy != null && parkedBy.kind() == ControlKey.Kind.BREAKER
                ? parkedBy.subject()
                : job.spec().resource();
        if (resource != null) {
            String name = ControlKey.breaker(resource).text();
            store.controls(List.of(name)).stream()
                    .map(row -> Breaker.parse(row.state(), queuePosition.at()))
                    .filter(breaker -> (breaker.holds() && !controlOperations.isAtItsRate(resource, breaker))
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
                controlOperations.isAtItsRate(resource, breaker) ? BreakerPhase.CLOSED : breaker.phase(),
                breaker.since(),
                probe,
                breaker.why(),
                parked,
                ControlOperations.ramp(breaker, parked)));
        if (probe != null && (nextAt == null || probe.isAfter(nextAt))) {
            nextAt = probe;
        }
    }

    private long parkedBy(ControlKey key) {
        return store.parked().getOrDefault(key.text(), 0L);
    }

    private void queue() {
        QueueState.Pause pause = queuePosition.paused();
        if (pause != null) {
            reasons.add(new Explanation.QueuePaused(
                    job.queue(), pause.since(), pause.note().by(), pause.note().why()));
        }
        Integer limit = queuePosition.maxRunning();
        if (limit != null && queuePosition.running() >= limit) {
            reasons.add(new Explanation.LimitReached(job.queue(), limit, queuePosition.running()));
        }
    }

    private void flow(boolean due) {
        GroupRules limits = due ? rules.of(job.queue()) : GroupRules.EQUAL;
        if (!limits.isLimited()) {
            return;
        }
        String group = job.spec().group();
        FlowGate gate = store.flow(job.queue(), limits, group);
        Long head = group == null ? null : gate.head(group);
        boolean behind = false;
        if (group != null && head != null && head != job.id().value()) {
            behind = true;
            reasons.add(new Explanation.WaitsForGroup(job.queue(), group, new JobId(head)));
        }
        for (FlowGate.Reached limit :
                gate.reached(new FlowKey(group, job.type(), job.id().value()))) {
            if (behind && limit.limit().ordered() && limit.until() == null) {
                continue;
            }
            reasons.add(new Explanation.FlowLimitReached(job.queue(), limit, rules.from(job.queue(), limit)));
            Instant until = limit.until();
            if (until != null && (nextAt == null || until.isAfter(nextAt))) {
                nextAt = until;
            }
        }
    }

    private void workers(boolean due) {
        List<WorkerReport> serving = store.workers().stream()
                .map(WorkerState::report)
                .filter(worker -> worker.serves(job.queue()))
                .toList();
        String wanted = WorkerReport.versioned(job.type(), job.spec().version());
        List<WorkerReport> able =
                serving.stream().filter(worker -> worker.handles(wanted)).toList();
        if (serving.isEmpty()
                && !job.spec().needs().isEmpty()
                && store.workers().stream().anyMatch(worker -> worker.report().servesBase(job.queue()))) {
            reasons.add(new Explanation.NoOffer(
                    Needs.base(job.queue()), List.copyOf(job.spec().needs())));
        } else if (serving.isEmpty()) {
            reasons.add(new Explanation.NoWorker(job.queue()));
        } else if (able.isEmpty()) {
            reasons.add(new Explanation.NoHandler(job.queue(), wanted));
        } else if (due && able.stream().allMatch(Explainer::isBusy)) {
            reasons.add(new Explanation.WorkersBusy(able.size()));
        } else if (due
                && able.stream()
                        .allMatch(worker -> isBusy(worker) || worker.full().contains(job.type()))) {
            reasons.add(new Explanation.TypeFull(job.type(), able.size()));
        }
    }

    private static boolean isBusy(WorkerReport worker) {
        return worker.holding() >= worker.concurrency();
    }

    /** Returns the rule of the latest decision that is kept: the reason why the job waits or is dead. */
    private @Nullable String lastRule() {
        List<Attempt> attempts = store.attempts(job.id());
        Decision decision =
                attempts.isEmpty() ? null : attempts.get(attempts.size() - 1).decision();
        return decision == null ? null : decision.rule();
    }
}
