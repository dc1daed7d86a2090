// SPDX-License-Identifier: Apache-2.0
package io.reprise.history;

import io.reprise.history.HistoryEvent.Kind;
import io.reprise.job.Cancellation;
import io.reprise.job.Enqueued;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.KeyRule;
import io.reprise.job.WaitReason;
import io.reprise.retry.LossRule;
import io.reprise.retry.RetryPolicy;
import io.reprise.step.Checkpoint;
import io.reprise.step.StepList;
import io.reprise.step.StepWrite;
import io.reprise.step.StoredStep;
import io.reprise.step.Telling;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import io.reprise.store.Firing;
import io.reprise.store.JobStore;
import io.reprise.store.JobWriter;
import io.reprise.store.LostClaim;
import io.reprise.store.Renewal;
import io.reprise.store.Requeue;
import io.reprise.store.RequeueResult;
import io.reprise.store.Settled;
import io.reprise.store.Settlement;
import io.reprise.store.StoreException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Records the calls of one process to a store, and the answers. Of calls that join a caller's transaction it records
 * only that they may happen, because the store does not learn of the commit.
 */
public final class RecordingStore implements StoreCalls {

    private static final Set<KeyRule> REPLACING = Set.of(KeyRule.REPLACE, KeyRule.FOLLOW);

    private final String who;
    private final HistoryLog log;

    private RecordingStore(String who, HistoryLog log) {
        this.who = who;
        this.log = log;
    }

    /** Returns the store with a recorder around it. */
    public static JobStore around(JobStore store, String who, HistoryLog log) {
        return StoreCalls.before(store, new RecordingStore(who, log));
    }

    /** Records the present state of a job. */
    public static void row(HistoryLog log, Job job, List<io.reprise.job.Attempt> attempts) {
        new RecordingStore("store", log).row(job, attempts, new Details());
    }

    /** Records the present state of a job with its steps. */
    public static void row(HistoryLog log, Job job, List<io.reprise.job.Attempt> attempts, StepList steps) {
        List<String> done = steps.steps().stream()
                .filter(step -> step.state() == StoredStep.State.DONE)
                .map(StoredStep::name)
                .toList();
        Details details = new Details().put("now", steps.at()).put("done", String.join(",", done));
        new RecordingStore("store", log).row(job, attempts, details);
    }

    @Override
    public @Nullable Object answer(Call call) {
        return new Watched(call, log.nanos()).answer();
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <T> T argument(Call call, int index) {
        return (T) java.util.Objects.requireNonNull(call.arguments().get(index));
    }

    private void row(Job job, List<io.reprise.job.Attempt> attempts, Details details) {
        details.put("state", job.state())
                .put("wait", job.status().waitReason())
                .put("fail", job.failReason())
                .put("due", job.times().dueAt())
                .put("finished", job.times().finishedAt())
                .put(
                        "key",
                        job.status().waitReason() == WaitReason.FOLLOW
                                ? null
                                : job.spec().key())
                .put("attempts", job.counts().attempts())
                .put("losses", job.counts().losses())
                .put("interruptions", job.counts().interruptions())
                .put("snoozes", job.counts().snoozes())
                .put("granted", job.counts().granted());
        if (!attempts.isEmpty()) {
            details.put(
                    "tokens",
                    String.join(
                            ",",
                            attempts.stream()
                                    .map(attempt -> Long.toString(attempt.token()))
                                    .toList()));
        }
        long now = log.nanos();
        log.add(new HistoryEvent(Kind.ROW, now, now, who, job.id().value(), 0, details.map()));
    }

    /** One call, with its start. */
    private final class Watched {

        private final Call call;
        private final long from;

        Watched(Call call, long from) {
            this.call = call;
            this.from = from;
        }

        @Nullable
        Object answer() {
            offer();
            @Nullable Object answer;
            try {
                answer = call.proceed();
            } catch (StoreException e) {
                unknown();
                throw e;
            }
            if (answer instanceof JobWriter writer) {
                return new Joining(writer);
            }
            if (answer != null) {
                told(answer);
            } else if (call.method().equals("pause")) {
                note(Kind.PAUSED, 0, 0, new Details().put("queue", argument(call, 0)));
            } else if (call.method().equals("resume")) {
                note(Kind.RESUMED, 0, 0, new Details().put("queue", argument(call, 0)));
            }
            return answer;
        }

        /** Records the call before it is made, in case the process dies before it can record the answer. */
        private void offer() {
            if (call.method().equals("settle")) {
                for (Settlement offered : RecordingStore.<List<Settlement>>argument(call, 0)) {
                    note(Kind.OFFERED, offered.job().value(), offered.token(), outcome(offered));
                }
            } else if (call.method().equals("resume")) {
                note(Kind.UNKNOWN, 0, 0, new Details().put("call", "resume").put("queue", argument(call, 0)));
            }
        }

        private void unknown() {
            switch (call.method()) {
                case "insert", "claim", "takeOver", "expire", "prune", "fire", "fireAll" ->
                    note(Kind.UNKNOWN, 0, 0, new Details().put("call", call.method()));
                case "settle" -> {
                    for (Settlement offered : RecordingStore.<List<Settlement>>argument(call, 0)) {
                        note(
                                Kind.UNKNOWN,
                                offered.job().value(),
                                offered.token(),
                                outcome(offered).put("call", "settle"));
                    }
                }
                case "cancel", "requeue", "discard" ->
                    note(
                            Kind.UNKNOWN,
                            RecordingStore.<JobId>argument(call, 0).value(),
                            0,
                            new Details().put("call", call.method()));
                case "checkpoint" ->
                    RecordingStore.<List<Checkpoint>>argument(call, 0)
                            .forEach(step -> note(
                                    Kind.UNKNOWN,
                                    step.job().value(),
                                    step.token(),
                                    details(step).put("call", "checkpoint")));
                case "tell" ->
                    note(
                            Kind.UNKNOWN,
                            RecordingStore.<JobId>argument(call, 0).value(),
                            0,
                            new Details().put("call", "tell").put("step", argument(call, 1)));
                default -> note(Kind.UNANSWERED, 0, 0, new Details().put("call", call.method()));
            }
        }

        @SuppressWarnings("unchecked")
        private void told(Object answer) {
            switch (call.method()) {
                case "insert" -> inserted(argument(call, 0), (List<Enqueued>) answer);
                case "claim" -> claimed(argument(call, 0), (List<Claim>) answer);
                case "takeOver" -> takenOver(argument(call, 1), (List<LostClaim>) answer);
                case "renew" -> renewed(argument(call, 1), argument(call, 2), (Renewal) answer);
                case "settle" -> {
                    // Without a second argument only the store knows which leases are empty.
                    boolean named = call.arguments().size() > 1;
                    settled(argument(call, 0), named ? argument(call, 1) : List.of(), (Settled) answer);
                }
                case "checkpoint" -> checkpointed(argument(call, 0), (List<Checkpoint.Answer>) answer);
                case "tell" -> {
                    if (answer == Telling.TOLD) {
                        Details event = new Details().put("step", argument(call, 1));
                        note(
                                Kind.EVENT_TOLD,
                                RecordingStore.<JobId>argument(call, 0).value(),
                                0,
                                event);
                    }
                }
                case "cancel" -> cancelled(argument(call, 0), (Cancellation) answer);
                case "requeue" -> requeued(argument(call, 0), argument(call, 1), (RequeueResult) answer);
                case "discard" -> discarded(argument(call, 0), (Boolean) answer);
                case "cancelAll" -> ((Map<JobId, Cancellation>) answer).forEach(this::cancelled);
                case "requeueAll" -> {
                    Map<JobId, Requeue> requeues = argument(call, 0);
                    ((Map<JobId, RequeueResult>) answer)
                            .forEach(
                                    (id, requeued) -> requeued(id, Objects.requireNonNull(requeues.get(id)), requeued));
                }
                case "discardAll" -> ((Set<JobId>) answer).forEach(id -> discarded(id, true));
                case "expire" -> ((List<Job>) answer).forEach(this::expired);
                case "fire" ->
                    fired(
                            new Firing(argument(call, 0), argument(call, 1), argument(call, 2), argument(call, 3)),
                            (Optional<List<Enqueued>>) answer);
                case "fireAll" -> {
                    List<Firing> firings = argument(call, 0);
                    for (int i = 0; i < firings.size(); i++) {
                        fired(firings.get(i), ((List<Optional<List<Enqueued>>>) answer).get(i));
                    }
                }
                default -> {
                    // Other calls say nothing about a job.
                }
            }
        }

        private void inserted(List<JobSpec> specs, List<Enqueued> answers) {
            for (int i = 0; i < specs.size(); i++) {
                inserted(specs.get(i), answers.get(i));
            }
        }

        private void inserted(JobSpec spec, Enqueued answer) {
            RetryPolicy policy = spec.policy().complete();
            LossRule losses = policy.losses().orElseThrow();
            Duration window = spec.policy().deadline().toOptional().orElse(null);
            boolean follows = isBehind(spec, answer);
            note(
                    Kind.ENQUEUED,
                    answer.id().value(),
                    0,
                    new Details()
                            .put("created", answer.created())
                            .put("replaced", !answer.created() && REPLACING.contains(spec.keyRule()))
                            .put("key", follows ? null : spec.key())
                            .put("queue", spec.queue())
                            .put("due", follows ? null : answer.dueAt())
                            .put("deadline", window == null ? null : sum(answer.dueAt(), window))
                            .put("attempts", policy.maxAttempts().toOptional().orElse(null))
                            .put("losses", losses.max())
                            .put("lossesCount", losses.counts()));
        }

        /** Whether the job waits for the end of the one that holds its key. Until then it is due in a century. */
        private static boolean isBehind(JobSpec spec, Enqueued answer) {
            return spec.keyRule() == KeyRule.FOLLOW
                    && answer.dueAt().minus(JobSpec.MAX_DELAY).isAfter(Instant.EPOCH);
        }

        private void claimed(ClaimRequest request, List<Claim> claims) {
            for (Claim claim : claims) {
                for (Job job : claim.jobs()) {
                    note(
                            Kind.CLAIMED,
                            job.id().value(),
                            claim.token(),
                            new Details()
                                    .put("at", claim.claimedAt())
                                    .put("lease", request.lease().toNanos())
                                    .put("queue", claim.queue())
                                    .put("alone", claim.alone())
                                    .put("suspects", claim.together() > 0)
                                    .put("deadline", job.times().deadline()));
                }
            }
        }

        private void takenOver(Duration lease, List<LostClaim> taken) {
            for (LostClaim lost : taken) {
                for (Job job : lost.claim().jobs()) {
                    note(
                            Kind.TAKEN_OVER,
                            job.id().value(),
                            lost.claim().token(),
                            new Details()
                                    .put("lost", lost.lostToken())
                                    .put("loser", lost.lostWorker())
                                    .put("lease", lease.toNanos())
                                    .put("alone", lost.claim().alone()));
                }
            }
        }

        private void renewed(Collection<Long> tokens, Duration lease, Renewal answer) {
            for (long token : tokens) {
                boolean lost = answer.lost().contains(token);
                note(
                        lost ? Kind.LEASE_LOST : Kind.RENEWED,
                        0,
                        token,
                        lost ? new Details() : new Details().put("lease", lease.toNanos()));
            }
        }

        private void settled(List<Settlement> offered, Collection<Long> closing, Settled answer) {
            for (Settlement settlement : offered) {
                boolean stale = answer.stale().contains(settlement.job());
                Details details = outcome(settlement);
                if (!stale) {
                    details.put("at", answer.at())
                            .put("due", due(settlement.next(), answer.at()))
                            .put("cancelled", answer.cancelled().contains(settlement.job()));
                }
                note(stale ? Kind.REFUSED : Kind.ACCEPTED, settlement.job().value(), settlement.token(), details);
                if (!stale && !settlement.followUps().jobs().isEmpty()) {
                    // The store does not say under which ids it stored the jobs that follow.
                    note(Kind.UNKNOWN, 0, 0, new Details().put("call", "insert"));
                }
            }
            closing.forEach(token -> note(Kind.CLOSED, 0, token, new Details()));
        }

        private void checkpointed(List<Checkpoint> checkpoints, List<Checkpoint.Answer> answers) {
            for (int i = 0; i < checkpoints.size(); i++) {
                Checkpoint step = checkpoints.get(i);
                if (answers.get(i) == Checkpoint.Answer.WRITTEN) {
                    note(Kind.CHECKPOINTED, step.job().value(), step.token(), details(step));
                }
            }
        }

        private void cancelled(JobId job, Cancellation answer) {
            note(Kind.CANCELLED, job.value(), 0, new Details().put("result", answer));
        }

        private void requeued(JobId job, Requeue requeue, RequeueResult answer) {
            JobId now = answer.id();
            if (now == null) {
                return;
            }
            note(
                    Kind.REQUEUED,
                    job.value(),
                    0,
                    new Details()
                            .put("id", now.value())
                            .put("reset", requeue.resetCounts())
                            .put("grant", requeue.grant()));
        }

        private void discarded(JobId job, boolean done) {
            if (done) {
                note(Kind.DISCARDED, job.value(), 0, new Details());
            }
        }

        private void expired(Job job) {
            note(
                    Kind.EXPIRED,
                    job.id().value(),
                    0,
                    new Details().put("at", job.times().finishedAt()));
        }

        private void fired(Firing firing, Optional<List<Enqueued>> jobs) {
            if (jobs.isPresent()) {
                note(
                        Kind.FIRED,
                        0,
                        0,
                        new Details().put("schedule", firing.schedule()).put("due", firing.dueAt()));
                inserted(firing.jobs(), jobs.get());
            }
        }

        private void note(Kind kind, long job, long token, Details details) {
            long until = kind == Kind.OFFERED ? from : log.nanos();
            log.add(new HistoryEvent(kind, from, until, who, job, token, details.map()));
        }
    }

    /** Calls that take part in a caller's transaction. */
    private final class Joining implements JobWriter {

        private final JobWriter writer;

        Joining(JobWriter writer) {
            this.writer = writer;
        }

        @Override
        public List<Enqueued> insert(List<JobSpec> specs) {
            may("insert", 0, 0, new Details());
            return writer.insert(specs);
        }

        @Override
        public Settled settle(List<Settlement> settlements, Collection<Long> closing) {
            for (Settlement offered : settlements) {
                may("settle", offered.job().value(), offered.token(), outcome(offered));
            }
            return writer.settle(settlements, closing);
        }

        @Override
        public List<Checkpoint.Answer> checkpoint(List<Checkpoint> checkpoints) {
            return writer.checkpoint(checkpoints);
        }

        private void may(String call, long job, long token, Details details) {
            long now = log.nanos();
            log.add(new HistoryEvent(
                    Kind.UNKNOWN,
                    now,
                    now,
                    who,
                    job,
                    token,
                    details.put("call", call).put(HistoryEvent.JOINED, true).map()));
        }
    }

    private static Details outcome(Settlement settlement) {
        StepWrite step = settlement.step();
        WaitReason reason = settlement.next() instanceof Settlement.Wait wait ? wait.reason() : null;
        boolean awaits = reason == WaitReason.EVENT;
        return new Details()
                .put("spent", settlement.spent())
                .put("next", settlement.next().getClass().getSimpleName())
                .put("awaits", step != null && awaits ? step.name() : null)
                .put("joins", step != null && reason == WaitReason.BATCH ? step.name() : null)
                .put("granted", step == null ? null : step.granted());
    }

    private static Details details(Checkpoint checkpoint) {
        StepWrite step = checkpoint.step();
        return new Details().put("step", step.name()).put("state", step.state()).put("granted", step.granted());
    }

    private static @Nullable Instant due(Settlement.Next next, Instant at) {
        if (next instanceof Settlement.Wait wait) {
            return sum(at, wait.delay());
        }
        return next instanceof Settlement.Park park && park.delay() != null ? sum(at, park.delay()) : null;
    }

    private static Instant sum(Instant at, Duration delay) {
        return at.plus(delay).truncatedTo(ChronoUnit.MICROS);
    }

    /** Details without null values. */
    private static final class Details {

        private final Map<String, String> map = new TreeMap<>();

        Details put(String name, @Nullable Object value) {
            if (value != null) {
                map.put(name, value.toString());
            }
            return this;
        }

        Map<String, String> map() {
            return map;
        }
    }
}
