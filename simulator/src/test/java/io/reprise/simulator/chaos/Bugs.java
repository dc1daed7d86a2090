// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.chaos;

import io.reprise.batch.BatchState;
import io.reprise.batch.Membership;
import io.reprise.fairness.FlowLimit;
import io.reprise.fairness.GroupRules;
import io.reprise.history.StoreCalls;
import io.reprise.history.StoreCalls.Call;
import io.reprise.job.AuditNote;
import io.reprise.job.Cancellation;
import io.reprise.job.Enqueued;
import io.reprise.job.Job;
import io.reprise.job.JobChange;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSpec;
import io.reprise.job.JobSpec.Needs;
import io.reprise.job.JobState;
import io.reprise.job.JobStatus;
import io.reprise.job.JobTimes;
import io.reprise.job.KeyRule;
import io.reprise.job.WaitReason;
import io.reprise.step.Checkpoint;
import io.reprise.step.StepList;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import io.reprise.store.CountedAs;
import io.reprise.store.JobStore;
import io.reprise.store.LostClaim;
import io.reprise.store.Renewal;
import io.reprise.store.Requeue;
import io.reprise.store.RequeueResult;
import io.reprise.store.Settled;
import io.reprise.store.Settlement;
import io.reprise.store.StoreException;
import io.reprise.testing.InMemoryJobStore;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Stores and engines that are wrong in the ways queues have been wrong before. */
final class Bugs {

    /** What a broken store does with a call. */
    interface Broken {
        @Nullable
        Object answer(JobStore sound, Call call);
    }

    private Bugs() {}

    private static ChaosBug store(Broken broken) {
        return new ChaosBug() {
            @Override
            public JobStore store(InMemoryJobStore sound, ShiftedClock clock) {
                return StoreCalls.before(sound, call -> broken.answer(sound, call));
            }
        };
    }

    /** An engine that settles something else than it should, or not at all. */
    private static ChaosBug settles(UnaryOperator<Settlement> otherwise) {
        return new ChaosBug() {
            @Override
            public JobStore engine(JobStore store, ChaosWorker worker) {
                return StoreCalls.before(
                        store, call -> call.method().equals("settle") ? settle(call, otherwise) : call.proceed());
            }
        };
    }

    private static @Nullable Object settle(Call call, UnaryOperator<Settlement> otherwise) {
        return call.proceed(
                settlements(call).stream().map(otherwise).toList(),
                call.arguments().get(1));
    }

    @SuppressWarnings("unchecked")
    private static List<Settlement> settlements(Call call) {
        return (List<Settlement>) Objects.requireNonNull(call.arguments().get(0));
    }

    private static Settlement with(Settlement s, long token, CountedAs spent, Settlement.Next next) {
        Settlement other = new Settlement(s.job(), token, spent, s.ran(), next, s.failure(), s.decision());
        return s.step() == null ? other : other.with(s.step());
    }

    private static Settled all(JobStore store) {
        return new Settled(store.now(), Set.of(), Set.of());
    }

    private static JobStatus.@Nullable Holder holder(JobStore store, JobId id) {
        return store.find(id).map(job -> job.status().holder()).orElse(null);
    }

    static ChaosBug completionWithoutFencing() {
        return store((sound, call) -> !call.method().equals("settle")
                ? call.proceed()
                : settle(call, s -> {
                    JobStatus.Holder holder = holder(sound, s.job());
                    return holder == null ? s : with(s, holder.token(), s.spent(), s.next());
                }));
    }

    static ChaosBug checkpointWithoutFencing() {
        return store((sound, call) -> {
            if (!call.method().equals("checkpoint")) {
                return call.proceed();
            }
            List<Checkpoint> fenceless = new ArrayList<>();
            for (Object each : (List<?>) Objects.requireNonNull(call.arguments().get(0))) {
                Checkpoint checkpoint = (Checkpoint) each;
                JobStatus.Holder holder = holder(sound, checkpoint.job());
                long token = holder == null ? checkpoint.token() : holder.token();
                fenceless.add(new Checkpoint(checkpoint.job(), token, checkpoint.step()));
            }
            return call.proceed(fenceless);
        });
    }

    /** A run looked for the event, did not find it, and waits, although the event has come meanwhile. */
    static ChaosBug eventLostBetweenCheckAndWait() {
        return store((sound, call) -> {
            Object answer = call.proceed();
            if (!(answer instanceof Settled settled)) {
                return answer;
            }
            for (Settlement s : settlements(call)) {
                boolean waits = s.next() instanceof Settlement.Wait wait && wait.reason() == WaitReason.EVENT;
                if (waits && !settled.stale().contains(s.job())) {
                    Instant due = settled.at().plus(((Settlement.Wait) s.next()).delay());
                    sound.changeAll(Map.of(s.job(), JobChange.NONE.at(due)), new AuditNote("bug", "bug"));
                }
            }
            return answer;
        });
    }

    /** The first child of a join that ends is counted twice, so its parent is woken while another child is open. */
    static ChaosBug batchCountedTwice() {
        Set<String> twice = new HashSet<>();
        return store((sound, call) -> {
            Object answer = call.proceed();
            if (answer instanceof Settled settled) {
                for (Settlement s : settlements(call)) {
                    Membership member = s.followUps().member();
                    boolean ends = s.next() instanceof Settlement.Succeed
                            && !settled.stale().contains(s.job())
                            && !settled.cancelled().contains(s.job());
                    if (member != null && ends) {
                        twice.add(member.batch());
                        sound.batch(member.batch())
                                .filter(batch -> batch.open() == 1)
                                .ifPresent(batch -> wake(sound, batch));
                    }
                }
            }
            if (call.method().equals("batch") && answer instanceof Optional<?> found && found.isPresent()) {
                BatchState batch = (BatchState) found.get();
                return Optional.of(twice.contains(batch.name()) && batch.open() > 0 ? once(batch) : batch);
            }
            return answer;
        });
    }

    private static void wake(JobStore sound, BatchState batch) {
        String parent = batch.name().substring(1, batch.name().indexOf('/'));
        sound.changeAll(Map.of(JobId.parse(parent), JobChange.NONE.at(sound.now())), new AuditNote("bug", "bug"));
    }

    private static BatchState once(BatchState batch) {
        return new BatchState(
                batch.name(),
                batch.total(),
                batch.succeeded() + 1,
                batch.dead(),
                batch.cancelled(),
                batch.createdAt(),
                batch.closedAt(),
                batch.endedAt(),
                batch.succeededAt(),
                batch.onSuccess(),
                batch.onEnd());
    }

    /** A dead child that is replayed under a new id is a job of its own, and its parent does not learn of its end. */
    static ChaosBug childReplayedWithoutItsParent() {
        return store((sound, call) -> {
            if (!call.method().equals("requeue")) {
                return call.proceed();
            }
            JobId id = (JobId) Objects.requireNonNull(call.arguments().get(0));
            Requeue requeue = (Requeue) Objects.requireNonNull(call.arguments().get(1));
            Job dead =
                    sound.find(id).filter(job -> job.state() == JobState.FAILED).orElse(null);
            if (dead == null || dead.spec().batch() == null || !requeue.edit().newId()) {
                return call.proceed();
            }
            JobId now = sound.insert(List.of(dead.spec().toBuilder()
                            .batch(null)
                            .idempotencyKey(null)
                            .build()))
                    .get(0)
                    .id();
            return new RequeueResult(RequeueResult.Result.DONE, now);
        });
    }

    /** A later run does not see what an earlier one has stored. */
    static ChaosBug stepsForgotten() {
        return store((sound, call) ->
                call.method().equals("steps") && !isChecker() ? new StepList(sound.now(), List.of()) : call.proceed());
    }

    private static boolean isChecker() {
        return StackWalker.getInstance()
                .walk(frames -> frames.anyMatch(frame -> frame.getMethodName().equals("row")));
    }

    /** The worker that runs an attempt now is taken for its holder. */
    static ChaosBug attemptNumberAsToken() {
        return new ChaosBug() {
            @Override
            public JobStore store(InMemoryJobStore sound, ShiftedClock clock) {
                Map<Long, Integer> attempts = new HashMap<>();
                return StoreCalls.before(sound, call -> {
                    if (call.method().equals("settle")) {
                        return settle(call, s -> {
                            JobStatus.Holder holder = holder(sound, s.job());
                            boolean same = holder != null
                                    && Objects.equals(attempts.get(s.token()), attempts.get(holder.token()));
                            return same ? with(s, holder.token(), s.spent(), s.next()) : s;
                        });
                    }
                    Object answer = call.proceed();
                    if (answer instanceof List<?> list) {
                        for (Object each : list) {
                            if (each instanceof Claim claim) {
                                attempts.put(claim.token(), claim.jobs().get(0).attempts());
                            }
                        }
                    }
                    return answer;
                });
            }
        };
    }

    static ChaosBug reclaimByAWorkersClock() {
        return new ChaosBug() {
            @Override
            public JobStore store(InMemoryJobStore sound, ShiftedClock clock) {
                return StoreCalls.before(sound, call -> {
                    clock.ahead = call.method().equals("takeOver") ? Duration.ofSeconds(5) : Duration.ZERO;
                    try {
                        return call.proceed();
                    } finally {
                        clock.ahead = Duration.ZERO;
                    }
                });
            }
        };
    }

    static ChaosBug groupCommitLostAtShutdown() {
        return new ChaosBug() {
            @Override
            public JobStore engine(JobStore store, ChaosWorker worker) {
                return StoreCalls.before(
                        store,
                        call -> call.method().equals("settle") && worker.isClosing() ? all(store) : call.proceed());
            }
        };
    }

    static ChaosBug outcomesDroppedOnADatabaseError() {
        return new ChaosBug() {
            @Override
            public JobStore engine(JobStore store, ChaosWorker worker) {
                return StoreCalls.before(store, call -> {
                    if (!call.method().equals("settle")) {
                        return call.proceed();
                    }
                    try {
                        return call.proceed();
                    } catch (StoreException e) {
                        return new Settled(worker.world().now(), Set.of(), Set.of());
                    }
                });
            }
        };
    }

    /** Who rescues a job writes that down whatever has become of it meanwhile. */
    static ChaosBug staleRescueOverwrites() {
        return store((sound, call) -> {
            Object answer = call.proceed();
            if (answer instanceof Settled settled) {
                Set<JobId> stale = new HashSet<>(settled.stale());
                settlements(call).stream()
                        .filter(s -> s.spent() == CountedAs.LOSS)
                        .forEach(s -> stale.remove(s.job()));
                return new Settled(settled.at(), stale, settled.cancelled());
            }
            return answer;
        });
    }

    static ChaosBug crashesBypassTheirCap() {
        return settles(s -> s.spent() == CountedAs.LOSS && s.next() instanceof Settlement.Fail
                ? with(s, s.token(), s.spent(), new Settlement.Wait(WaitReason.RETRY, Duration.ZERO, null))
                : s);
    }

    static ChaosBug failuresBypassTheirCap() {
        return settles(s -> s.spent() == CountedAs.ATTEMPT && s.next() instanceof Settlement.Fail
                ? with(s, s.token(), s.spent(), new Settlement.Wait(WaitReason.RETRY, Duration.ZERO, null))
                : s);
    }

    /** A job that has to wait is kept in memory, under its lease. */
    static ChaosBug delaysHoldLeases() {
        return new ChaosBug() {
            @Override
            public JobStore engine(JobStore store, ChaosWorker worker) {
                return StoreCalls.before(store, call -> {
                    if (!call.method().equals("settle")) {
                        return call.proceed();
                    }
                    List<Settlement> rest = settlements(call).stream()
                            .filter(s -> !(s.next() instanceof Settlement.Wait))
                            .toList();
                    return rest.size() == settlements(call).size()
                            ? call.proceed()
                            : rest.isEmpty()
                                    ? new Settled(worker.world().now(), Set.of(), Set.of())
                                    : call.proceed(rest, List.of());
                });
            }
        };
    }

    /** Of a worker that died only the first job of each batch is found again. */
    static ChaosBug prefetchedJobsLeak() {
        return store((sound, call) -> {
            Object answer = call.proceed();
            if (!call.method().equals("takeOver")) {
                return answer;
            }
            List<LostClaim> found = new ArrayList<>();
            for (Object each : (List<?>) Objects.requireNonNull(answer)) {
                LostClaim lost = (LostClaim) each;
                Claim claim = lost.claim();
                Claim first = new Claim(
                        claim.token(),
                        claim.queue(),
                        claim.claimedAt(),
                        claim.alone(),
                        claim.jobs().subList(0, 1));
                if (claim.jobs().size() == 1) {
                    found.add(new LostClaim(first, lost.lostToken(), lost.lostWorker()));
                }
            }
            return found;
        });
    }

    static ChaosBug uniqueKeyFreedEarly() {
        return store((sound, call) -> {
            if (!call.method().equals("insert")) {
                return call.proceed();
            }
            Set<String> running = new HashSet<>();
            sound.find(JobQuery.all().state(JobState.RUNNING).limit(1_000)).items().stream()
                    .map(job -> job.spec().key())
                    .filter(Objects::nonNull)
                    .forEach(running::add);
            List<JobSpec> specs = new ArrayList<>();
            for (Object each : (List<?>) Objects.requireNonNull(call.arguments().get(0))) {
                JobSpec spec = (JobSpec) each;
                specs.add(
                        running.contains(spec.key())
                                ? spec.toBuilder().key(null, KeyRule.KEEP).build()
                                : spec);
            }
            return call.proceed(specs);
        });
    }

    static ChaosBug delaysForgotten() {
        return store((sound, call) -> !call.method().equals("settle")
                ? call.proceed()
                : settle(
                        call,
                        s -> s.next() instanceof Settlement.Wait wait
                                ? with(
                                        s,
                                        s.token(),
                                        s.spent(),
                                        new Settlement.Wait(wait.reason(), Duration.ZERO, wait.lastDelay()))
                                : s));
    }

    static ChaosBug snoozesSpendAttempts() {
        return store((sound, call) -> !call.method().equals("settle")
                ? call.proceed()
                : settle(
                        call,
                        s -> s.spent() == CountedAs.SNOOZE ? with(s, s.token(), CountedAs.ATTEMPT, s.next()) : s));
    }

    static ChaosBug enqueuesLost() {
        int[] calls = {0};
        return store((sound, call) -> {
            if (!call.method().equals("insert") || ++calls[0] % 7 != 0) {
                return call.proceed();
            }
            return List.of(new Enqueued(new JobId(1_000_000 + calls[0]), true, sound.now()));
        });
    }

    static ChaosBug renewalsForgotten() {
        return store((sound, call) -> call.method().equals("renew") ? new Renewal(Set.of(), Set.of()) : call.proceed());
    }

    static ChaosBug pausesForgotten() {
        return store((sound, call) -> call.method().equals("pause") ? null : call.proceed());
    }

    private static ClaimRequest request(Call call) {
        return (ClaimRequest) Objects.requireNonNull(call.arguments().get(0));
    }

    private static ClaimRequest with(ClaimRequest request, List<ClaimRequest.Demand> demands) {
        return request.of(demands, request.max(), request.suspects());
    }

    /** One job of a group at once is taken for order: a job that waits for its retry is passed by. */
    static ChaosBug orderForgottenByRetries() {
        return store((sound, call) -> !call.method().equals("claim")
                ? call.proceed()
                : call.proceed(with(
                        request(call),
                        request(call).demands().stream()
                                .map(demand -> new ClaimRequest.Demand(
                                        demand.queue(), demand.max(), oneAtOnce(demand.rules())))
                                .toList())));
    }

    private static GroupRules oneAtOnce(GroupRules rules) {
        return rules.isOrdered()
                ? new GroupRules(
                        rules.weights(),
                        Map.of("*", FlowLimit.running(1)),
                        rules.types(),
                        rules.most(),
                        rules.rate(),
                        rules.goal())
                : rules;
    }

    /** A worker asks for all jobs of its queues, whatever they need. */
    static ChaosBug needsIgnored() {
        return new ChaosBug() {
            @Override
            public JobStore engine(JobStore store, ChaosWorker worker) {
                return StoreCalls.before(store, call -> {
                    if (!call.method().equals("claim")) {
                        return call.proceed();
                    }
                    List<ClaimRequest.Demand> all =
                            new ArrayList<>(request(call).demands());
                    all.add(new ClaimRequest.Demand(
                            Needs.queue("fast", List.of("eu", "gpu")),
                            request(call).max()));
                    return call.proceed(with(request(call), all));
                });
            }
        };
    }

    static ChaosBug cancellationsForgotten() {
        return store((sound, call) -> call.method().equals("cancel") ? Cancellation.DONE : call.proceed());
    }

    static ChaosBug schedulesFireForEachLeader() {
        return store((sound, call) -> {
            Object answer = call.proceed();
            return call.method().equals("fireAll") && answer instanceof List<?> fired
                    ? fired.stream()
                            .map(each -> Optional.empty().equals(each) ? Optional.of(List.of()) : each)
                            .toList()
                    : answer;
        });
    }

    static ChaosBug deadLettersKeepTheirDueTime() {
        return store((sound, call) -> {
            Object answer = call.proceed();
            if (call.method().equals("find")
                    && answer instanceof Optional<?> found
                    && found.isPresent()
                    && found.get() instanceof Job job
                    && job.state() == JobState.FAILED) {
                JobTimes t = job.times();
                JobTimes due = new JobTimes(
                        t.createdAt(),
                        t.firstDueAt(),
                        sound.now(),
                        t.deadline(),
                        t.startedAt(),
                        t.finishedAt(),
                        t.lastDelay());
                return Optional.of(new Job(job.id(), job.spec(), job.status(), job.counts(), due));
            }
            return answer;
        });
    }
}
