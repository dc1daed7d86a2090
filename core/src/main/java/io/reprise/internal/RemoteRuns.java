// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import io.reprise.Job;
import io.reprise.JobId;
import io.reprise.JobSignal;
import io.reprise.JobSpec;
import io.reprise.JobState;
import io.reprise.JobStatus;
import io.reprise.PayloadCodec;
import io.reprise.PayloadException;
import io.reprise.Progress;
import io.reprise.RemoteLease;
import io.reprise.StaleLeaseException;
import io.reprise.retry.Failure;
import io.reprise.retry.FailureClass;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import io.reprise.store.ClaimRequest.Demand;
import io.reprise.store.JobStore;
import io.reprise.store.Renewal;
import io.reprise.store.WorkerReport;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs that happen outside this process. Nothing about them is kept here that matters: the lease is in the store, under the
 * remote worker's name, so that any engine on that store can hear how a run ended, also after a restart. The outcome is
 * decided as for a run of our own. A worker that falls silent loses its lease to the sweeper like any other.
 */
public final class RemoteRuns {

    private static final Duration REPORT = Duration.ofSeconds(10);
    private static final int MAX_REPORTS = 10_000;

    private final JobStore store;
    private final WorkerSettings settings;
    private final Driver driver;
    private final StoreClock clock;
    private final Events events;
    private final Control control;
    private final PayloadCodec codec;
    private final RemoteOutcomes outcomes;
    private final Map<String, Long> reportedNanos = new ConcurrentHashMap<>();

    RemoteRuns(EngineParts parts, Decider decider, Consumer<Duration> onDue) {
        this.store = parts.store();
        this.settings = parts.settings();
        this.driver = parts.driver();
        this.clock = parts.clock();
        this.events = parts.events();
        this.control = parts.control();
        this.codec = parts.codec();
        this.outcomes = new RemoteOutcomes(parts, decider, onDue);
    }

    /** Leases jobs that may run now. */
    public List<RemoteLease> lease(RemoteLease.Wish wish) {
        report(wish);
        Collection<String> queues = wish.queues().isEmpty() ? store.liveQueues() : wish.queues();
        List<Demand> demands =
                queues.stream().map(queue -> new Demand(queue, wish.max())).toList();
        ClaimRequest request = new ClaimRequest(
                wish.worker(), wish.lease(), wish.max(), demands, settings.retryShare(), true, wish.types());
        List<RemoteLease> leased = new ArrayList<>();
        long sent = driver.nanos();
        for (Claim claim : store.claim(request)) {
            clock.heard(claim.claimedAt(), sent);
            outcomes.claimed(claim);
            for (Run run : new Lease(claim, 0, 0).runs()) {
                String payload = mayStart(run) ? payload(run) : null;
                if (payload != null) {
                    events.started(run.job, clock.now());
                    leased.add(lease(run, payload, claim, wish.lease()));
                }
            }
        }
        return leased;
    }

    private static RemoteLease lease(Run run, String payload, Claim claim, Duration term) {
        RemoteLease.Key key = new RemoteLease.Key(claim.token(), run.id(), run.admitted);
        Job job = run.job;
        JobSpec spec = job.spec().toBuilder().payload(payload).build();
        Job readable = new Job(job.id(), spec, job.status(), job.counts(), job.times());
        return new RemoteLease(key, readable, run.attempt(), claim.claimedAt().plus(term));
    }

    /** As it was before it was stored; null, and settled, if nobody here can read it. */
    private @Nullable String payload(Run run) {
        try {
            return codec.open(run.job.spec().payload());
        } catch (PayloadException e) {
            outcomes.settle(new Ended(run, Ended.Kind.UNREADABLE, Duration.ZERO, Ended.Thrown.of(e), null));
            return null;
        }
    }

    /** A run that must not start is settled here and now, as it would be by a worker of our own. */
    private boolean mayStart(Run run) {
        if (run.damage != null) {
            Ended.Thrown damaged = Ended.Thrown.of(new Runner.DamagedJobException(run.damage));
            outcomes.settle(new Ended(run, Ended.Kind.UNREADABLE, Duration.ZERO, damaged, null));
            return false;
        }
        Instant deadline = run.job.times().deadline();
        if (deadline != null && !clock.now().isBefore(deadline)) {
            // As for a run of our own: the store expires it.
            outcomes.settle(Ended.notStarted(run));
            return false;
        }
        if (control.holds(run)) {
            outcomes.settle(new Ended(run, Ended.Kind.HELD, Duration.ZERO, null, null));
            return false;
        }
        return true;
    }

    /**
     * Keeps a lease for another term.
     *
     * @return whether the run shall stop because somebody cancelled the job
     * @throws StaleLeaseException if it is gone, or the job's timeout has passed: then the run has failed
     */
    public boolean renew(RemoteLease.Key key, Duration term, @Nullable Progress progress) {
        Job job = held(key);
        Duration limit = job.spec().timeout();
        if (limit != null && ran(job).compareTo(limit) > 0) {
            Failure late = Failure.reported("Timeout", null, null, "The run took longer than " + limit, null)
                    .withGiven(FailureClass.TIMEOUT);
            outcomes.settle(ended(key, job, new Ended.Thrown(late, null), null));
            throw stale(key, "the job's timeout of " + limit + " has passed");
        }
        Renewal renewal = store.renew(holder(job).worker(), List.of(key.token()), term);
        if (renewal.lost().contains(key.token())) {
            throw stale(key, "another worker has the job, or will");
        }
        if (progress != null) {
            store.progress(key.job(), key.token(), progress);
        }
        return renewal.cancelled().contains(key.job()) || holder(job).cancelRequested();
    }

    public void complete(RemoteLease.Key key, @Nullable String result) {
        accept(key, null, result == null ? null : codec.seal(result));
    }

    public void fail(RemoteLease.Key key, Failure failure) {
        accept(key, new Ended.Thrown(failure, null), null);
    }

    /** Ends a run as a handler would by throwing this. */
    public void signal(RemoteLease.Key key, JobSignal signal) {
        accept(key, Ended.Thrown.of(signal), null);
    }

    /** Gives a job back as it was before the claim. */
    public void release(RemoteLease.Key key) {
        Job job = held(key);
        Ended end = Ended.notStarted(run(key, job));
        if (!outcomes.settle(end)) {
            throw stale(key, "another worker has the job, or will");
        }
    }

    private void accept(RemoteLease.Key key, Ended.@Nullable Thrown error, @Nullable String result) {
        if (!outcomes.settle(ended(key, held(key), error, result))) {
            throw stale(key, "another worker has the job, or will");
        }
    }

    private Ended ended(RemoteLease.Key key, Job job, Ended.@Nullable Thrown error, @Nullable String result) {
        return new Ended(run(key, job), Ended.Kind.HANDLED, ran(job), error, result);
    }

    private static Run run(RemoteLease.Key key, Job job) {
        Set<JobId> admitted = key.admitted() ? Set.of(job.id()) : Set.of();
        Instant started = started(job);
        Claim claim = new Claim(key.token(), job.queue(), started, false, List.of(job), admitted);
        return new Lease(claim, 0, 0).runs().get(0);
    }

    /** The job, if it is held under this token. */
    private Job held(RemoteLease.Key key) {
        Job job = store.find(key.job()).orElseThrow(() -> stale(key, "the job is gone"));
        if (job.state() != JobState.RUNNING) {
            throw stale(key, "the job is " + job.state());
        }
        if (holder(job).token() != key.token()) {
            throw stale(key, "the job runs again, under another lease");
        }
        return job;
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
        return new StaleLeaseException(
                "Lease " + key.token() + " on job " + key.job() + " no longer counts, and nothing was changed: " + why);
    }

    /** A remote worker is seen among the workers while it asks for work. */
    private void report(RemoteLease.Wish wish) {
        long now = driver.nanos();
        Long before = reportedNanos.get(wish.worker());
        if (before != null && now - before < REPORT.toNanos()) {
            return;
        }
        if (reportedNanos.size() >= MAX_REPORTS) {
            reportedNanos.clear();
        }
        reportedNanos.put(wish.worker(), now);
        List<String> types = wish.types().isEmpty()
                ? List.of(WorkerReport.ANY)
                : wish.types().stream().sorted().toList();
        Duration ttl = REPORT.multipliedBy(6);
        store.checkIn(new WorkerReport(wish.worker(), wish.queues(), types, wish.max(), 0), ttl);
    }
}
