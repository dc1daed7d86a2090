// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.run;

import io.reprise.JobRequest;
import io.reprise.PayloadCodec;
import io.reprise.batch.BatchMember;
import io.reprise.batch.Membership;
import io.reprise.failure.Failure;
import io.reprise.failure.FailureClass;
import io.reprise.insight.LogLine;
import io.reprise.insight.TraceParent;
import io.reprise.internal.control.LocalControl;
import io.reprise.internal.engine.Driver;
import io.reprise.internal.engine.EngineParts;
import io.reprise.internal.engine.StoreClock;
import io.reprise.internal.engine.WorkerSettings;
import io.reprise.internal.settle.Events;
import io.reprise.internal.settle.RemoteOutcomes;
import io.reprise.internal.settle.RunTotals;
import io.reprise.internal.settle.Settler;
import io.reprise.job.Attempt;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSignal;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.JobStatus;
import io.reprise.job.JobTimes;
import io.reprise.job.PayloadException;
import io.reprise.job.Progress;
import io.reprise.job.RefusedException;
import io.reprise.job.WaitReason;
import io.reprise.job.WorkerReport;
import io.reprise.remote.RemoteJoin;
import io.reprise.remote.RemoteLease;
import io.reprise.remote.RemoteLog;
import io.reprise.remote.RemoteReport;
import io.reprise.remote.StaleLeaseException;
import io.reprise.step.Checkpoint;
import io.reprise.step.Step;
import io.reprise.step.StepFailedException;
import io.reprise.step.StepList;
import io.reprise.step.StepWrite;
import io.reprise.step.StoredStep;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import io.reprise.store.ClaimRequest.Demand;
import io.reprise.store.JobStore;
import io.reprise.store.Micros;
import io.reprise.store.Renewal;
import io.reprise.store.Settlement;
import io.reprise.store.Suspects;
import io.reprise.text.JsonSyntax;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Leases jobs to remote workers and settles their reports. {@code RemoteWorkers} calls it, in the server from
 * request threads. The lease is in the store under the remote worker's name, so any engine on that store can take
 * the report, even after a restart. Outcomes are decided as for local runs. If a remote worker falls silent, the
 * {@code Reclaimer} takes over its lease.
 */
public final class RemoteRuns {

    private static final Duration REPORT = Duration.ofSeconds(10);
    private static final Duration FIRST_CONTROL = Duration.ofSeconds(2);
    private static final int MAX_REPORTS = 10_000;
    private static final int MAX_FINDERS = 10_000;

    private final JobStore store;
    private final WorkerSettings settings;
    private final Driver driver;
    private final StoreClock clock;
    private final Events events;
    private final LocalControl control;
    private final StartCheck check;
    private final PayloadCodec codec;
    private final HandlerEnqueuer enqueuer;
    private final RemoteOutcomes outcomes;
    private final Set<String> own;
    private final RandomGenerator random;
    private final FlowRules rules;
    private final RunTotals totals;
    private final QueueOrders orders;
    private final LentJobs lent;
    private final Map<String, Long> reportedNanos = new ConcurrentHashMap<>();

    /** By the prefix of the queues that they find. */
    private final Map<Searched, QueueFinder> finders = new ConcurrentHashMap<>();

    public RemoteRuns(EngineParts parts, Settler settler) {
        this.store = parts.store();
        this.settings = parts.settings();
        this.driver = parts.driver();
        this.lent = new LentJobs(driver::nanos);
        this.clock = parts.clock();
        this.events = parts.events();
        this.control = parts.control();
        this.check = new StartCheck(parts);
        this.codec = parts.codec();
        this.enqueuer = parts.enqueuer();
        this.own = Set.copyOf(parts.handlers().types());
        this.outcomes = new RemoteOutcomes(parts, settler);
        this.random = parts.random();
        this.rules = new FlowRules(settings.queues(), parts.live());
        this.totals = parts.totals();
        this.orders = new QueueOrders(store, parts.live());
    }

    /** Leases jobs that may run now. */
    public List<RemoteLease> lease(RemoteLease.LeaseRequest leaseRequest) {
        report(leaseRequest);
        List<RemoteLease> leased = new ArrayList<>();
        // An engine that has just started does not know yet which breakers are open.
        if (!control.isReady() && !driver.await(control::isReady, FIRST_CONTROL)) {
            return leased;
        }
        QueueFinder.Ask ask = (queues, max, each) -> claim(leaseRequest, queues, max, each, leased);
        if (leaseRequest.queues().isEmpty()) {
            finder(leaseRequest).claim(leaseRequest.max(), ask);
        } else {
            ask.claim(withNeeds(leaseRequest), leaseRequest.max(), leaseRequest.max());
        }
        return leased;
    }

    private List<String> withNeeds(RemoteLease.LeaseRequest leaseRequest) {
        if (leaseRequest.offers().isEmpty()) {
            return leaseRequest.queues();
        }
        List<String> all = new ArrayList<>();
        for (String queue : leaseRequest.queues()) {
            all.addAll(QueueFinder.beside(store, queue, leaseRequest.offers()));
            all.add(queue);
        }
        return all;
    }

    private record Searched(String prefix, Set<String> offers) {}

    private QueueFinder finder(RemoteLease.LeaseRequest leaseRequest) {
        if (finders.size() >= MAX_FINDERS) {
            finders.clear();
        }
        return finders.computeIfAbsent(
                new Searched(leaseRequest.prefix(), leaseRequest.offers()),
                key -> new QueueFinder(store, driver, random, key.prefix, key.offers));
    }

    private List<Claim> claim(
            RemoteLease.LeaseRequest leaseRequest, List<String> queues, int max, int each, List<RemoteLease> leased) {
        // A worker that names no types gets none of the types that this engine handles, because their payloads are
        // not meant for every worker.
        boolean any = leaseRequest.types().isEmpty();
        ClaimRequest request = new ClaimRequest(
                leaseRequest.worker(),
                leaseRequest.lease(),
                max,
                queues.stream()
                        .map(queue -> new Demand(queue, Math.min(max, each), rules.of(queue)))
                        .toList(),
                settings.retryShare(),
                Suspects.upTo(LeaseBook.FIRST_SUSPECTS),
                any ? own : leaseRequest.types(),
                any,
                true);
        long sent = driver.nanos();
        orders.lineUp(request);
        List<Claim> claims = store.claim(request);
        for (Claim claim : claims) {
            clock.heard(claim.claimedAt(), sent);
            rules.started(claim, totals);
            for (Run run : new HeldLease(claim, 0, 0).runs()) {
                String payload = mayStart(run) ? payload(run) : null;
                if (payload != null) {
                    events.started(run.job, clock.now());
                    leased.add(lease(run, payload, claim, leaseRequest.lease()));
                }
            }
        }
        return claims;
    }

    private RemoteLease lease(Run run, String payload, Claim claim, Duration term) {
        RemoteLease.Key key = new RemoteLease.Key(claim.token(), run.id(), run.admitted);
        Job job = run.job;
        lent.add(key, job);
        Job readable = payload.equals(job.spec().payload()) ? job : with(payload, job);
        return new RemoteLease(key, readable, run.attempt(), claim.claimedAt().plus(term));
    }

    private static Job with(String payload, Job job) {
        JobSpec spec = job.spec().toBuilder().payload(payload).build();
        return new Job(job.id(), spec, job.status(), job.counts(), job.times());
    }

    /** As it was before it was stored; null, and settled, if nobody here can read it. */
    private @Nullable String payload(Run run) {
        try {
            return codec.open(run.job.spec().payload());
        } catch (PayloadException e) {
            outcomes.settle(new RunResult(run, RunResult.Kind.UNREADABLE, Duration.ZERO, RunResult.Thrown.of(e), null));
            return null;
        }
    }

    /** Settles a run that must not start. */
    private boolean mayStart(Run run) {
        RunResult refusal = check.refusal(run, driver.nanos());
        if (refusal != null) {
            outcomes.settle(refusal);
        }
        return refusal == null;
    }

    /**
     * Extends a lease by another term.
     *
     * @return whether the run must stop because the job was cancelled
     * @throws StaleLeaseException if the lease is gone, or if the job's timeout has passed; then the run has failed
     */
    public boolean renew(RemoteLease.Key key, Duration term, @Nullable Progress progress, @Nullable RemoteLog lines) {
        Job job = held(key);
        Duration limit = job.spec().timeout();
        if (limit != null && ran(job).compareTo(limit) > 0) {
            Failure late = Failure.reported("Timeout", null, null, "The run took longer than " + limit, null)
                    .withGiven(FailureClass.TIMEOUT);
            String why = "the job's timeout of " + limit + " has passed";
            if (outcomes.settle(ended(key, job, new RunResult.Thrown(late, null), null))) {
                throw new StaleLeaseException(noLonger(key) + ": " + why + ", and the run has failed with TIMEOUT");
            }
            throw stale(key, why);
        }
        Renewal renewal = store.renew(holder(job).worker(), List.of(key.token()), term);
        if (renewal.lost().contains(key.token())) {
            throw stale(key, "another worker has the job, or will");
        }
        if (progress != null && store.progress(key.job(), key.token(), progress)) {
            lent.take(key);
            events.progress(job, progress, clock.now());
        }
        if (lines != null) {
            Run run = run(key, job);
            run.log = log(key, lines);
            Run.writeLogs(List.of(run), store);
        }
        return renewal.cancelled().contains(key.job()) || holder(job).cancelRequested();
    }

    /** Returns new lines, bounded together with those that the run has stored before. */
    private RunLog log(RemoteLease.Key key, RemoteLog lines) {
        List<LogLine> before = lines.from() == 0
                ? List.of()
                : store.log(key.job(), key.token()).stream()
                        .filter(line -> line.token() == key.token())
                        .toList();
        RunLog log = new RunLog(
                lines.from(),
                before.stream().mapToInt(line -> line.text().length() + 1).sum());
        if (!before.isEmpty() && before.get(before.size() - 1).text().equals(RunLog.MORE)) {
            // Each heartbeat of a run that goes on writing would say it again.
            return log;
        }
        Instant now = clock.now();
        lines.lines().forEach(line -> log.add(key.token(), now, line));
        return log;
    }

    /**
     * Stores a step of a run that goes on.
     *
     * @param value JSON; null if there is none
     * @param started whether the step has only started, and must not start again by itself
     * @throws StaleLeaseException if the lease is gone
     * @throws RefusedException if another row of this name is there
     */
    public void checkpoint(RemoteLease.Key key, String name, @Nullable String value, boolean started) {
        Job job = held(key);
        StepList steps = store.steps(key.job());
        StoredStep there = find(steps, name);
        String stored = value == null ? null : codec.seal(JsonSyntax.require("value of step " + name, value));
        requireRoom(key, steps, there, name, stored);
        StepWrite row = started ? StepWrite.started(name) : StepWrite.done(name, value == null ? null : "JSON", stored);
        boolean replaces = there != null
                && there.kind() == StoredStep.Kind.STEP
                && !there.isEnded()
                && !(started && there.state() == StoredStep.State.STARTED);
        int spent = job.counts().spent(job.policy());
        row = replaces ? row.replacing() : row;
        row = started || spent <= job.counts().granted() ? row : row.granting(spent);
        Checkpoint.Answer answer = store.checkpoint(List.of(new Checkpoint(key.job(), key.token(), row)))
                .get(0);
        if (answer == Checkpoint.Answer.STALE) {
            throw stale(key, "another worker has the job, or will");
        }
        if (answer == Checkpoint.Answer.OTHER) {
            throw new RefusedException(
                    RefusedException.Code.INVALID_STATE,
                    "Step " + name + " of job " + key.job() + " is stored already"
                            + (there == null ? "" : ", as " + there.kind() + " in state " + there.state()));
        }
        lent.take(key);
    }

    private static void requireRoom(
            RemoteLease.Key key, StepList steps, @Nullable StoredStep there, String name, @Nullable String value) {
        long bytes = value == null ? 0 : value.getBytes(StandardCharsets.UTF_8).length;
        long before = steps.steps().stream()
                .mapToLong(step -> step.value() == null ? 0 : step.value().getBytes(StandardCharsets.UTF_8).length)
                .sum();
        if (bytes > StoredStep.MAX_VALUE_BYTES || before + bytes > StoredStep.MAX_JOB_BYTES) {
            throw new PayloadException("The result of step " + name + " of job " + key.job() + " has " + bytes
                    + " bytes; a step may have " + StoredStep.MAX_VALUE_BYTES + ", and all steps of a job "
                    + StoredStep.MAX_JOB_BYTES + ". Keep it elsewhere and return where it is");
        }
        if (there == null && steps.steps().size() >= StoredStep.MAX_STEPS) {
            throw new PayloadException("Job " + key.job() + " has " + StoredStep.MAX_STEPS + " steps, and step " + name
                    + " would be one more. Give parts of the work to jobs of their own");
        }
    }

    /** Returns the steps of a job that this key holds, as they were before they were stored. */
    public List<StoredStep> steps(RemoteLease.Key key) {
        held(key);
        return store.steps(key.job()).now().stream()
                .map(step -> step.value() == null ? step : step.withValue(codec.open(step.value())))
                .toList();
    }

    /**
     * Ends a run that sleeps or waits for an event.
     *
     * @return false if the wait is over: the run goes on
     * @throws PayloadException if the job has all the steps that it may have
     */
    public boolean pause(RemoteLease.Key key, String name, StoredStep.Kind kind, Duration duration) {
        Job job = held(key);
        StepList steps = store.steps(key.job());
        StoredStep there = find(steps, name);
        if (there != null && there.kind() != kind) {
            throw new RefusedException(
                    RefusedException.Code.INVALID_STATE,
                    "Step " + name + " of job " + key.job() + " is stored as " + there.kind() + ", not as " + kind);
        }
        if (there != null && there.suspensions() >= StepBook.MAX_SUSPENSIONS) {
            throw new RefusedException(
                    RefusedException.Code.INVALID_STATE,
                    "Job " + key.job() + " was woken " + StepBook.MAX_SUSPENSIONS + " times in step " + name
                            + " before its time: something wakes it again and again");
        }
        requireRoom(key, steps, there, name, null);
        Suspension.Pause pause = pause(steps, there, name, kind, duration);
        if (pause == null) {
            if (kind == StoredStep.Kind.EVENT && there != null && !there.isEnded()) {
                store.checkpoint(List.of(new Checkpoint(key.job(), key.token(), StepBook.late(key.job(), name))));
            }
            return false;
        }
        Run run = run(key, job);
        run.suspend(pause);
        boolean tooLong = StartCheck.isOver(job, clock.now().plus(pause.delay()));
        if (!outcomes.settle(new RunResult(run, RunResult.Kind.HANDLED, ran(job), null, null))) {
            throw stale(key, "another worker has the job, or will");
        }
        if (tooLong) {
            throw new StaleLeaseException(noLonger(key) + ": step " + name + " would wait until after the deadline "
                    + job.times().deadline()
                    + ", and the job has failed with DEADLINE. Give its policy a later deadline");
        }
        return true;
    }

    private static Suspension.@Nullable Pause pause(
            StepList steps, @Nullable StoredStep there, String name, StoredStep.Kind kind, Duration duration) {
        WaitReason reason = kind == StoredStep.Kind.SLEEP ? WaitReason.SLEEP : WaitReason.EVENT;
        if (there == null) {
            return new Suspension.Pause(reason, duration, StepWrite.open(name, kind, duration));
        }
        Instant due = there.dueAt();
        if (there.isEnded() || due == null || !due.isAfter(steps.at())) {
            return null;
        }
        return new Suspension.Pause(
                reason, Duration.between(steps.at(), due), StepWrite.again(name, kind, there.suspensions() + 1));
    }

    /** Stores other jobs once, and ends the run until all have ended. */
    public RemoteJoin join(RemoteLease.Key key, String name, List<? extends JobRequest<?>> jobs) {
        Job job = held(key);
        StepList steps = store.steps(key.job());
        StoredStep there = find(steps, name);
        if (there != null && there.kind() != StoredStep.Kind.JOIN) {
            throw refused(key, name, "is stored as " + there.kind() + ", not as " + StoredStep.Kind.JOIN);
        }
        if (there == null) {
            requireRoom(key, steps, null, name, null);
            return begin(key, job, name, enqueuer.bind(jobs));
        }
        if (there.failure() != null) {
            return new RemoteJoin(false, List.of(), there.failure().message());
        }
        String batch = codec.decode(codec.open(String.valueOf(there.value())), String.class);
        if (batch.isEmpty()) {
            return new RemoteJoin(false, List.of(), null);
        }
        long open = store.batch(batch)
                .orElseThrow(() -> refused(
                        key, name, "has jobs that are not counted any more. Forget the step to store them again"))
                .open();
        if (open == 0) {
            return joined(key, job, there, batch);
        }
        if (there.suspensions() >= StepBook.MAX_SUSPENSIONS) {
            throw refused(
                    key,
                    name,
                    "was woken " + StepBook.MAX_SUSPENSIONS + " times while " + open
                            + " of its jobs were open: something wakes it again and again");
        }
        StepWrite row = StepWrite.join(name, StoredStep.State.OPEN, String.valueOf(there.value()));
        return suspend(
                key,
                job,
                new Suspension.Pause(
                        WaitReason.BATCH, StepBook.MAX_WAIT, row.replacing().suspended(there.suspensions() + 1)));
    }

    /**
     * Stores more members of the batch of a job that this key holds. Only the lease is looked at here: the store refuses them if
     * the batch has ended, so a run that loses its lease meanwhile cannot make the batch wrong.
     */
    public List<JobId> addToBatch(RemoteLease.Key key, List<? extends JobRequest<?>> jobs) {
        Membership batch = Membership.in(held(key).spec());
        String refusal = HandlerEnqueuer.whyAlone(key.job(), batch);
        if (batch == null || refusal != null) {
            throw new RefusedException(RefusedException.Code.INVALID_STATE, String.valueOf(refusal));
        }
        return enqueuer.addToBatch(batch, jobs);
    }

    private RemoteJoin begin(RemoteLease.Key key, Job job, String name, List<JobSpec> jobs) {
        if (jobs.isEmpty()) {
            write(key, granting(job, StepWrite.join(name, StoredStep.State.DONE, codec.seal(codec.encode("")))));
            return new RemoteJoin(false, List.of(), null);
        }
        List<JobSpec> children = Membership.children(key.job(), name, key.token(), jobs);
        String value = codec.seal(codec.encode(Membership.join(key.job(), name, key.token())));
        StepWrite row = StepWrite.join(name, StoredStep.State.OPEN, value).suspended(1);
        return suspend(
                key, job, new Suspension.Pause(WaitReason.BATCH, StepBook.MAX_WAIT, granting(job, row), children));
    }

    private static StepWrite granting(Job job, StepWrite row) {
        int spent = job.counts().spent(job.policy());
        return spent <= job.counts().granted() ? row : row.granting(spent);
    }

    private RemoteJoin suspend(RemoteLease.Key key, Job job, Suspension.Pause pause) {
        Run run = run(key, job);
        run.suspend(pause);
        if (!outcomes.settle(new RunResult(run, RunResult.Kind.HANDLED, ran(job), null, null))) {
            throw stale(key, "another worker has the job, or will");
        }
        return new RemoteJoin(true, List.of(), null);
    }

    /** Collects the results, page by page. */
    private RemoteJoin joined(RemoteLease.Key key, Job job, StoredStep there, String batch) {
        List<@Nullable String> results = new ArrayList<>();
        long chars = 0;
        List<BatchMember> page;
        do {
            page = store.members(batch, results.size() - 1, StepBook.PAGE);
            for (BatchMember child : page) {
                if (child.state() != JobState.SUCCEEDED) {
                    return new RemoteJoin(
                            false,
                            List.of(),
                            StepBook.failure(store, there.name(), child).message());
                }
                String result = child.result() == null ? null : codec.open(child.result());
                chars += result == null ? 0 : result.length();
                results.add(result);
            }
            if (chars > StoredStep.MAX_JOB_BYTES) {
                throw refused(
                        key,
                        there.name(),
                        "has results of more than " + StoredStep.MAX_JOB_BYTES
                                + " characters. Let the jobs keep them elsewhere and return where they are");
            }
        } while (page.size() == StepBook.PAGE);
        if (!there.isEnded()) {
            StepWrite done = StepWrite.join(there.name(), StoredStep.State.DONE, String.valueOf(there.value()));
            write(key, granting(job, done.replacing().suspended(there.suspensions())));
        }
        return new RemoteJoin(false, results, null);
    }

    private void write(RemoteLease.Key key, StepWrite row) {
        Checkpoint.Answer answer = store.checkpoint(List.of(new Checkpoint(key.job(), key.token(), row)))
                .get(0);
        if (answer == Checkpoint.Answer.STALE) {
            throw stale(key, "another worker has the job, or will");
        }
        lent.take(key);
    }

    private static RefusedException refused(RemoteLease.Key key, String name, String why) {
        return new RefusedException(
                RefusedException.Code.INVALID_STATE, "Step " + name + " of job " + key.job() + " " + why);
    }

    private static @Nullable StoredStep find(StepList steps, String name) {
        return steps.steps().stream()
                .filter(step -> step.name().equals(name))
                .findFirst()
                .orElse(null);
    }

    /**
     * Takes reports, each on its own, in as few store calls as possible. A repeated report is accepted again.
     *
     * @param check receives the job of each report first; an exception that it throws becomes the
     *     answer, and nothing changes
     */
    public List<RemoteReport.Answer> report(List<RemoteReport> reports, Consumer<Job> check) {
        RemoteReport.Answer[] answers = new RemoteReport.Answer[reports.size()];
        Set<Integer> lookedTwice = new HashSet<>();
        List<Integer> left =
                new ArrayList<>(IntStream.range(0, reports.size()).boxed().toList());
        while (!left.isEmpty()) {
            // One report per job and round: each later report of a job sees the effect of the earlier one.
            Map<JobId, Integer> round = new LinkedHashMap<>();
            left.removeIf(n -> round.putIfAbsent(reports.get(n).key().job(), n) == null);
            List<Integer> refused = report(reports, List.copyOf(round.values()), check, answers);
            refused.removeIf(n -> !lookedTwice.add(n));
            left.addAll(0, refused);
        }
        return Arrays.asList(answers);
    }

    /**
     * Returns those that have to be looked at again: the store refused them. Perhaps the same report came twice at once, and
     * the other one was taken.
     */
    private List<Integer> report(
            List<RemoteReport> reports, List<Integer> round, Consumer<Job> check, RemoteReport.Answer[] answers) {
        Map<JobId, Job> lentHere = new HashMap<>();
        for (int n : round) {
            RemoteLease.Key key = reports.get(n).key();
            Job job = lent.take(key);
            if (job != null) {
                lentHere.put(key.job(), job);
            }
        }
        Map<JobId, Job> jobs = found(round.stream()
                .map(n -> reports.get(n).key().job())
                .filter(id -> !lentHere.containsKey(id))
                .toList());
        jobs.putAll(lentHere);
        List<Integer> settled = new ArrayList<>();
        List<RunResult> ends = new ArrayList<>();
        for (int n : round) {
            RemoteReport report = reports.get(n);
            Job job = jobs.get(report.key().job());
            answers[n] = new RemoteReport.Answer(refusal(report, job, check), null);
            if (job != null && answers[n].isAccepted() && isHeld(report.key(), job)) {
                settled.add(n);
                ends.add(ended(report, job));
            }
        }
        List<Integer> again = new ArrayList<>();
        List<Settler.@Nullable Accepted> accepted = outcomes.settle(ends);
        for (int i = 0; i < ends.size(); i++) {
            int n = settled.get(i);
            RemoteReport report = reports.get(n);
            Settler.Accepted written = accepted.get(i);
            if (written == null) {
                answers[n] = new RemoteReport.Answer(stale(report.key(), "another worker has the job, or will"), null);
                again.add(n);
            } else {
                answers[n] = new RemoteReport.Answer(null, succeeded(written, report.result()));
            }
        }
        return again;
    }

    /** Returns the job after a success, as the store shows it; null after any other outcome. */
    private @Nullable Job succeeded(Settler.Accepted written, @Nullable String result) {
        Settlement settlement = written.decided().settlement();
        Job job = written.decided().job();
        if (written.cancelled() || !(settlement.next() instanceof Settlement.Succeed)) {
            return null;
        }
        JobStatus before = job.status();
        JobStatus status = new JobStatus(
                JobState.SUCCEEDED, null, null, before.lastError(), before.progress(), result, null, null);
        JobTimes times = job.times();
        Instant started = written.at().minus(Micros.duration(Micros.of(settlement.ran())));
        return readable(new Job(
                job.id(),
                job.spec(),
                status,
                settlement.spent().addTo(job.counts()),
                new JobTimes(
                        times.createdAt(),
                        times.firstDueAt(),
                        null,
                        times.deadline(),
                        started,
                        written.at(),
                        times.lastDelay())));
    }

    private @Nullable Job readable(Job job) {
        String stored = job.spec().payload();
        try {
            String payload = codec.open(stored);
            return payload.equals(stored) ? job : with(payload, job);
        } catch (PayloadException e) {
            return null;
        }
    }

    private Map<JobId, Job> found(List<JobId> ids) {
        return ids.isEmpty()
                ? new HashMap<>()
                : store.findAll(ids).stream()
                        .collect(Collectors.toMap(Job::id, job -> job, (one, other) -> one, HashMap::new));
    }

    /** Returns why a report is refused; null if it can be taken, or was taken before. */
    private @Nullable RuntimeException refusal(RemoteReport report, @Nullable Job job, Consumer<Job> check) {
        if (job == null) {
            return stale(report.key(), "the job is gone");
        }
        try {
            check.accept(job);
        } catch (RuntimeException e) {
            return e;
        }
        return isHeld(report.key(), job) || isTold(report) ? null : notHeld(report.key(), job);
    }

    /** Whether an earlier report said the same about this run. A worker that lost the answer sends its report again. */
    private boolean isTold(RemoteReport report) {
        Attempt.Ending ending = ending(report);
        return ending != null
                && store.attempts(report.key().job()).stream()
                        .anyMatch(attempt -> attempt.token() == report.key().token() && attempt.ending() == ending);
    }

    private static Attempt.@Nullable Ending ending(RemoteReport report) {
        if (!report.isStarted()) {
            return null;
        }
        JobSignal signal = report.signal();
        if (signal != null) {
            return signal.kind() == JobSignal.Kind.SNOOZE ? Attempt.Ending.SNOOZED : Attempt.Ending.CANCELLED;
        }
        return report.failure() == null ? Attempt.Ending.SUCCEEDED : Attempt.Ending.FAILED;
    }

    private RunResult ended(RemoteReport report, Job job) {
        if (!report.isStarted()) {
            return RunResult.notStarted(run(report.key(), job));
        }
        JobSignal signal = report.signal();
        Failure failure = report.failure();
        RunResult.Thrown thrown = signal != null
                ? RunResult.Thrown.of(signal)
                : failure == null ? null : new RunResult.Thrown(failure, null);
        String result = report.result();
        Step<?> step = report.step();
        RunResult end = step == null || thrown == null
                ? ended(report.key(), job, thrown, result == null ? null : codec.seal(result))
                : failedIn(step, thrown, report.key(), job);
        report.costs().forEach((unit, amount) -> end.run().spend(unit, amount));
        RemoteLog lines = report.log();
        if (lines != null) {
            end.run().log = log(report.key(), lines);
        }
        TraceParent trace = report.trace();
        if (trace != null) {
            end.run().tracedAs(() -> trace);
        }
        return end;
    }

    /** The end of a run that failed in a step, as a local run would have ended there. */
    private RunResult failedIn(Step<?> step, RunResult.Thrown thrown, RemoteLease.Key key, Job job) {
        StepList steps = store.steps(key.job());
        StoredStep there = find(steps, step.name());
        StoredStep.StepFailure known = there == null ? null : there.failure();
        if (known != null) {
            return ended(key, job, RunResult.Thrown.of(new StepFailedException(step.name(), known)), null);
        }
        RunResult end = ended(key, job, thrown, null);
        boolean hasNoRoom = there == null && steps.steps().size() >= StoredStep.MAX_STEPS;
        if (hasNoRoom || (there != null && there.isEnded())) {
            // A failure of the job itself: this step cannot keep it.
            return end;
        }
        if (there == null) {
            end.run().suspend(new Suspension.Failed(step, thrown, false));
        } else if (there.state() != StoredStep.State.STARTED) {
            end.run().suspend(new Suspension.Failed(step, thrown, true));
        } else if (there.token() == key.token()) {
            end.run().suspend(new Suspension.Failed(step.atMostOnce(), thrown, true));
        } else {
            end.run().suspend(new Suspension.Unknown(step.name()));
        }
        return end;
    }

    private RunResult ended(RemoteLease.Key key, Job job, RunResult.@Nullable Thrown error, @Nullable String result) {
        return new RunResult(run(key, job), RunResult.Kind.HANDLED, ran(job), error, result);
    }

    private static Run run(RemoteLease.Key key, Job job) {
        Set<JobId> admitted = key.admitted() ? Set.of(job.id()) : Set.of();
        Instant started = started(job);
        Claim claim = new Claim(key.token(), job.queue(), started, false, List.of(job), admitted);
        return new HeldLease(claim, 0, 0).runs().get(0);
    }

    /** Returns the job if this token holds it. */
    private Job held(RemoteLease.Key key) {
        Job job = store.find(key.job()).orElseThrow(() -> stale(key, "the job is gone"));
        if (!isHeld(key, job)) {
            throw notHeld(key, job);
        }
        return job;
    }

    private static boolean isHeld(RemoteLease.Key key, Job job) {
        return job.state() == JobState.RUNNING && holder(job).token() == key.token();
    }

    private static StaleLeaseException notHeld(RemoteLease.Key key, Job job) {
        return stale(
                key,
                job.state() == JobState.RUNNING
                        ? "the job runs again, under another lease"
                        : "the job is " + job.state());
    }

    private static JobStatus.Holder holder(Job job) {
        JobStatus.Holder holder = job.status().holder();
        return holder == null ? new JobStatus.Holder("", 0, false) : holder;
    }

    private Duration ran(Job job) {
        Duration ran = Duration.between(started(job), clock.now());
        return ran.isNegative() ? Duration.ZERO : ran;
    }

    private static Instant started(Job job) {
        Instant started = job.times().startedAt();
        return started == null ? job.times().firstDueAt() : started;
    }

    private static StaleLeaseException stale(RemoteLease.Key key, String why) {
        return new StaleLeaseException(noLonger(key) + ", and nothing was changed: " + why);
    }

    private static String noLonger(RemoteLease.Key key) {
        return "Lease " + key.token() + " on job " + key.job() + " no longer counts";
    }

    /** Lists the remote worker among the workers while it asks for jobs. */
    private void report(RemoteLease.LeaseRequest leaseRequest) {
        long now = driver.nanos();
        Long before = reportedNanos.get(leaseRequest.worker());
        if (before != null && now - before < REPORT.toNanos()) {
            return;
        }
        if (reportedNanos.size() >= MAX_REPORTS) {
            reportedNanos.clear();
        }
        reportedNanos.put(leaseRequest.worker(), now);
        List<String> types = leaseRequest.types().isEmpty()
                ? List.of(WorkerReport.ANY)
                : leaseRequest.types().stream().sorted().toList();
        Duration ttl = REPORT.multipliedBy(6);
        boolean some = leaseRequest.queues().isEmpty() && !leaseRequest.prefix().isEmpty();
        List<String> queues = some ? List.of(leaseRequest.prefix() + WorkerReport.ANY) : leaseRequest.queues();
        WorkerReport report = new WorkerReport(leaseRequest.worker(), queues, types, leaseRequest.max(), 0);
        store.checkIn(report.offering(leaseRequest.offers()), ttl);
    }
}
