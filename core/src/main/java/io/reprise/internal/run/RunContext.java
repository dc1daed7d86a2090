// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.run;

import io.reprise.JobContext;
import io.reprise.JobRequest;
import io.reprise.PayloadCodec;
import io.reprise.batch.Membership;
import io.reprise.insight.CostEntry;
import io.reprise.insight.JobChain;
import io.reprise.insight.TraceParent;
import io.reprise.internal.engine.Driver;
import io.reprise.internal.engine.EngineParts;
import io.reprise.internal.engine.StoreClock;
import io.reprise.internal.settle.Events;
import io.reprise.internal.settle.FollowUps;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSignal;
import io.reprise.job.JobSpec;
import io.reprise.job.PayloadException;
import io.reprise.job.Progress;
import io.reprise.job.Transaction;
import io.reprise.remote.StaleLeaseException;
import io.reprise.step.Step;
import io.reprise.step.StepWork;
import io.reprise.store.CountedAs;
import io.reprise.store.JobStore;
import io.reprise.store.Settlement;
import io.reprise.store.StoreException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The handler's view of its run: id, attempt, token, progress, result, cost. The {@link Runner} creates it, and the
 * handler's threads call it. It writes progress and completion straight to the store.
 */
public final class RunContext implements JobContext {

    private static final Logger log = LoggerFactory.getLogger("io.reprise");

    private final Run run;
    private final JobStore store;
    private final PayloadCodec codec;
    private final FollowUps followUps;
    private final HandlerEnqueuer enqueuer;
    private final Driver driver;
    private final Events events;
    private final StoreClock clock;
    private final StepBook steps;
    private final Interceptors interceptors;
    private volatile @Nullable String result;

    RunContext(Run run, EngineParts parts, StepBook.Alarm alarm) {
        this.run = run;
        this.steps = new StepBook(run, parts, alarm);
        this.interceptors = parts.interceptors();
        this.store = parts.store();
        this.codec = parts.codec();
        this.followUps = parts.followUps();
        this.enqueuer = parts.enqueuer();
        this.driver = parts.driver();
        this.events = parts.events();
        this.clock = parts.clock();
    }

    @Nullable
    String resultJson() {
        return result;
    }

    @Override
    public JobId id() {
        return run.id();
    }

    @Override
    public Job job() {
        return run.job;
    }

    @Override
    public int attempt() {
        return run.attempt();
    }

    @Override
    public long token() {
        return run.token();
    }

    @Override
    public Optional<JobId> predecessor() {
        return Optional.ofNullable(JobChain.of(run.job.spec()).after());
    }

    @Override
    public void progress(int percent, @Nullable String message) {
        Progress progress = new Progress(percent, message);
        try {
            if (store.progress(run.id(), run.token(), progress)) {
                events.progress(run.job, progress, clock.now());
            }
        } catch (StoreException e) {
            log.debug("Progress of job {} could not be stored: {}", run.id(), e.getMessage());
        }
    }

    @Override
    public void log(String line) {
        run.log.add(run.token(), clock.now(), Objects.requireNonNull(line, "line"));
    }

    @Override
    public void result(Object value) {
        String json = codec.seal(codec.encode(value));
        int bytes = json.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > JobSpec.MAX_PAYLOAD_BYTES) {
            throw new PayloadException("Result of job " + run.id() + " has " + bytes + " bytes; at most "
                    + JobSpec.MAX_PAYLOAD_BYTES + " are stored");
        }
        result = json;
    }

    @Override
    public void cost(double amount, String unit) {
        CostEntry.requireCost(unit, amount);
        if (!run.spend(unit, amount)) {
            throw new IllegalArgumentException(
                    "A run may report its cost in " + CostEntry.MAX_UNITS + " units at most");
        }
    }

    @Override
    public void tracedAs(Supplier<TraceParent> span) {
        run.tracedAs(span);
    }

    @Override
    public boolean isCancelled() {
        return run.stopReason() != null;
    }

    @Override
    public void checkpoint() {
        Run.Stop reason = run.stopReason();
        if (reason != null) {
            // The kind of signal does not matter: the {@code Decider} looks at the stop reason first.
            throw JobSignal.retryAfter(Duration.ZERO, "Run of job " + run.id() + " was told to stop: " + reason);
        }
    }

    @Override
    public JobId enqueue(JobRequest<?> job) {
        return enqueuer.enqueue(job);
    }

    @Override
    public JobId enqueue(Transaction transaction, JobRequest<?> job) {
        return enqueuer.enqueue(transaction, job);
    }

    @Override
    public List<JobId> addToBatch(List<? extends JobRequest<?>> jobs) {
        Membership batch = Membership.in(run.job.spec());
        String refusal = HandlerEnqueuer.whyAlone(run.id(), batch);
        if (batch == null || refusal != null) {
            throw new IllegalStateException(refusal);
        }
        return enqueuer.addToBatch(batch, jobs);
    }

    @Override
    public void complete(Transaction transaction) {
        steps.requireNotEnded();
        Duration ran = Duration.ofNanos(driver.nanos() - run.startedNanos());
        Settlement settlement = new Settlement(
                run.id(), run.token(), CountedAs.ATTEMPT, ran, new Settlement.Succeed(result), null, null);
        // Set before the call: if the answer is lost, the committer asks the store for the outcome.
        run.settledByCaller();
        boolean stale = !store.within(transaction)
                .settle(List.of(followUps.with(run.job, settlement)), List.of())
                .stale()
                .isEmpty();
        if (stale) {
            throw new StaleLeaseException(run.id(), run.token());
        }
    }

    @Override
    public void step(String name, StepWork work) {
        steps.step(Step.of(name), null, around(name, callable(work)));
    }

    @Override
    public void step(String name, Transaction transaction, StepWork work) {
        steps.step(Step.of(name), transaction, around(name, callable(work)));
    }

    private <T extends @Nullable Object> Callable<T> around(String step, Callable<T> work) {
        return () -> interceptors.onStep(this, step, work);
    }

    private static Callable<@Nullable Void> callable(StepWork work) {
        return () -> {
            work.run();
            return null;
        };
    }

    @Override
    public <T> T step(Step<T> step, Callable<T> work) {
        return orNull(steps.step(step, null, around(step.name(), work)));
    }

    @Override
    public <T> T step(Step<T> step, Transaction transaction, Callable<T> work) {
        return orNull(steps.step(step, transaction, around(step.name(), work)));
    }

    /** A step whose work returned null returns null again, as its work did. An event that is read as Void is null. */
    @SuppressWarnings({"NullAway", "TypeParameterUnusedInFormals"})
    private static <T> T orNull(@Nullable T result) {
        return result;
    }

    @Override
    public String stepKey() {
        return steps.key();
    }

    @Override
    public void sleep(String name, Duration duration) {
        steps.sleep(name, duration);
    }

    @Override
    public <T> T await(String event, Class<T> type, Duration timeout) {
        return orNull(steps.await(event, type, timeout));
    }

    @Override
    public <T> List<T> join(String name, List<? extends JobRequest<?>> jobs, Class<T> type) {
        return steps.join(name, () -> enqueuer.bind(jobs), type);
    }
}
