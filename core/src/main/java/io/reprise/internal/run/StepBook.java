// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.run;

import io.reprise.PayloadCodec;
import io.reprise.batch.BatchMember;
import io.reprise.batch.BatchState;
import io.reprise.batch.Membership;
import io.reprise.failure.FailureClass;
import io.reprise.internal.control.LocalControl;
import io.reprise.internal.engine.Driver;
import io.reprise.internal.engine.EngineParts;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSignal;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.JobStatus;
import io.reprise.job.PayloadException;
import io.reprise.job.Transaction;
import io.reprise.job.WaitReason;
import io.reprise.remote.StaleLeaseException;
import io.reprise.retry.FailReason;
import io.reprise.step.Checkpoint;
import io.reprise.step.Step;
import io.reprise.step.StepFailedException;
import io.reprise.step.StepList;
import io.reprise.step.StepWrite;
import io.reprise.step.StoredStep;
import io.reprise.step.StoredStep.Kind;
import io.reprise.step.StoredStep.State;
import io.reprise.store.JobStore;
import io.reprise.store.JobWriter;
import io.reprise.store.StoreException;
import io.reprise.text.Truncation;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The steps of one run. It reads the stored steps once, at the first step, and writes each new one before it returns its
 * result. The handler's threads call it through {@link RunContext}. Thread-safe; steps run one after another.
 */
final class StepBook {

    /** A job that is woken this often at one place without an end there would go on for ever. */
    static final int MAX_SUSPENSIONS = 100;

    /** A write whose answer was lost is written again: the store takes the same row twice. */
    private static final int MAX_WRITES = 3;

    /** How many results of joined jobs are read at once. */
    static final int PAGE = 500;

    static final Duration MAX_WAIT = JobSpec.MAX_DELAY;

    /** Limits a step in time. */
    interface Alarm {
        void set(Duration timeout, long serial);
    }

    private final Run run;
    private final JobStore store;
    private final PayloadCodec codec;
    private final Driver driver;
    private final LocalControl control;
    private final Alarm alarm;
    private final Map<String, StackWalker.StackFrame> used = new HashMap<>();
    private final Map<String, StoredStep> stored = new HashMap<>();
    private long bytes;
    private @Nullable Instant readAt;
    private @Nullable String inside;

    StepBook(Run run, EngineParts parts, Alarm alarm) {
        this.run = run;
        this.store = parts.store();
        this.codec = parts.codec();
        this.driver = parts.driver();
        this.control = parts.control();
        this.alarm = alarm;
    }

    synchronized String key() {
        if (inside == null) {
            throw new IllegalStateException("stepKey() is the key of a step: call it inside a step of job " + run.id());
        }
        return run.id() + "/" + inside;
    }

    <T> @Nullable T step(Step<T> step, @Nullable Transaction transaction, Callable<? extends @Nullable T> work) {
        StoredStep there = enter(step.name(), Kind.STEP);
        try {
            if (there != null && there.isEnded()) {
                return ended(there, step.type());
            }
            if (there != null && there.state() == State.STARTED) {
                throw suspend(new Suspension.Unknown(step.name()));
            }
            requireFree(step);
            boolean replaces = there != null;
            if (step.isAtMostOnce()) {
                write(store, rowOf(StepWrite.started(step.name()), replaces));
                replaces = true;
            }
            T result = call(step, work, replaces);
            JobWriter writer = transaction == null ? store : store.within(transaction);
            write(writer, rowOf(done(step, result, replaces), replaces).granting(granted()));
            return result;
        } finally {
            leave();
        }
    }

    private static StepWrite rowOf(StepWrite row, boolean replaces) {
        return replaces ? row.replacing() : row;
    }

    private <T> @Nullable T call(Step<T> step, Callable<? extends @Nullable T> work, boolean replaces) {
        long start = driver.nanos();
        long serial = run.enterStep();
        if (step.timeout() != null) {
            alarm.set(step.timeout(), serial);
        }
        try {
            T result = work.call();
            if (step.resource() != null) {
                control.stepSucceeded(step.resource(), run, (driver.nanos() - start) / 1e9);
            }
            return result;
        } catch (Suspension.Interrupt e) {
            throw e;
        } catch (Throwable e) {
            // Any Throwable of the work is a failure of the step, as any Throwable of a handler is one of the job.
            throw suspend(new Suspension.Failed(step, RunResult.Thrown.of(e), replaces));
        } finally {
            run.leaveStep();
        }
    }

    private <T> StepWrite done(Step<T> step, @Nullable T result, boolean replaces) {
        if (result == null) {
            return StepWrite.done(step.name(), null, null);
        }
        try {
            String value = codec.seal(codec.encode(result));
            requireRoom("result of step " + step.name(), value);
            return StepWrite.done(step.name(), result.getClass().getName(), value);
        } catch (PayloadException e) {
            // The work is done, but nobody can know its result. Another run would do it again, so nothing is retried.
            JobSignal refusal = JobSignal.fail(e);
            throw suspend(new Suspension.Failed(step, RunResult.Thrown.of(refusal), replaces));
        }
    }

    private void requireRoom(String what, String value) {
        int size = value.getBytes(StandardCharsets.UTF_8).length;
        if (size > StoredStep.MAX_VALUE_BYTES) {
            throw new PayloadException("The " + what + " of job " + run.id() + " has " + size + " bytes; at most "
                    + StoredStep.MAX_VALUE_BYTES + " are stored. Keep it elsewhere and return where it is");
        }
        if (bytes + size > StoredStep.MAX_JOB_BYTES) {
            throw new PayloadException(
                    "The steps of job " + run.id() + " would have more than " + StoredStep.MAX_JOB_BYTES
                            + " bytes with the " + what + ". Give parts of the work to jobs of their own");
        }
        bytes += size;
    }

    void sleep(String name, Duration duration) {
        pause(name, Kind.SLEEP, WaitReason.SLEEP, duration);
        leave();
    }

    <T> @Nullable T await(String name, Class<T> type, Duration timeout) {
        StoredStep there = pause(name, Kind.EVENT, WaitReason.EVENT, timeout);
        try {
            if (there != null && there.isEnded()) {
                return ended(there, type);
            }
            StepWrite late = late(run.id(), name);
            if (!write(store, late.granting(granted()))) {
                // The event came while the run decided that it came too late: the first one wins.
                StoredStep told = read().steps().stream()
                        .filter(step -> step.name().equals(name))
                        .findFirst()
                        .orElseThrow(() -> new StaleLeaseException(run.id(), run.token()));
                return ended(told, type);
            }
            throw new StepFailedException(name, Objects.requireNonNull(late.failure()));
        } finally {
            leave();
        }
    }

    /** Stores other jobs once, and waits until all have ended. */
    <T> List<T> join(String name, Supplier<List<JobSpec>> jobs, Class<T> type) {
        StoredStep there = enter(name, Kind.JOIN);
        try {
            if (there == null) {
                begin(name, jobs.get());
                return List.of();
            }
            String batch = Objects.requireNonNull(ended(there, String.class));
            if (batch.isEmpty()) {
                return List.of();
            }
            long open = state(batch, name).open();
            if (open > 0) {
                throw again(there, open);
            }
            List<T> results = results(name, batch, type);
            if (!there.isEnded()) {
                StepWrite done = StepWrite.join(name, State.DONE, Objects.requireNonNull(there.value()));
                write(store, done.replacing().suspended(there.suspensions()).granting(granted()));
            }
            return results;
        } finally {
            leave();
        }
    }

    /** Suspends the run with the children of a join; without children the join has ended. */
    private void begin(String name, List<JobSpec> jobs) {
        if (jobs.isEmpty()) {
            write(store, StepWrite.join(name, State.DONE, stored("")).granting(granted()));
            return;
        }
        List<JobSpec> children = Membership.children(run.id(), name, run.token(), jobs);
        String value = stored(Membership.join(run.id(), name, run.token()));
        StepWrite row = StepWrite.join(name, State.OPEN, value).suspended(1).granting(granted());
        throw suspend(new Suspension.Pause(WaitReason.BATCH, MAX_WAIT, row, children));
    }

    private String stored(String batch) {
        return codec.seal(codec.encode(batch));
    }

    private Suspension.Interrupt again(StoredStep there, long open) {
        int times = there.suspensions() + 1;
        if (times > MAX_SUSPENSIONS) {
            throw JobSignal.fail("Job " + run.id() + " was woken " + MAX_SUSPENSIONS + " times in join " + there.name()
                    + " while " + open + " of its jobs were open: something wakes it again and again");
        }
        StepWrite row = StepWrite.join(there.name(), State.OPEN, Objects.requireNonNull(there.value()));
        return suspend(
                new Suspension.Pause(WaitReason.BATCH, MAX_WAIT, row.replacing().suspended(times)));
    }

    private BatchState state(String batch, String name) {
        return store.batch(batch)
                .orElseThrow(() -> JobSignal.fail("The jobs of join " + name + " of job " + run.id()
                        + " are not counted any more. Forget the step to store them again"));
    }

    /** Returns the results of the children, page by page. */
    private <T> List<T> results(String name, String batch, Class<T> type) {
        List<T> results = new ArrayList<>();
        List<BatchMember> page;
        do {
            page = store.members(batch, results.size() - 1, PAGE);
            for (BatchMember child : page) {
                if (child.state() != JobState.SUCCEEDED) {
                    throw new StepFailedException(name, failure(store, name, child));
                }
                results.add(result(name, child, type));
            }
        } while (page.size() == PAGE);
        return results;
    }

    static StoredStep.StepFailure failure(JobStore store, String name, BatchMember child) {
        JobStatus.LastError error =
                store.find(child.job()).map(job -> job.status().lastError()).orElse(null);
        String how = child.state() == JobState.CANCELLED ? "was cancelled" : "is a dead letter";
        String why = error == null ? "" : ": " + error.type() + (error.message() == null ? "" : ": " + error.message());
        return new StoredStep.StepFailure(
                FailReason.PERMANENT,
                FailureClass.PERMANENT,
                "JoinedJobFailed",
                Truncation.cut(
                        "Job " + child.job() + ", number " + child.place() + " of join " + name + ", " + how + why,
                        Truncation.MESSAGE));
    }

    // A job without a result has none, as its handler set none.
    @SuppressWarnings("NullAway")
    private <T> T result(String name, BatchMember child, Class<T> type) {
        String stored = child.result();
        if (stored == null || type == Void.class) {
            return null;
        }
        try {
            return codec.decode(codec.open(stored), type);
        } catch (PayloadException e) {
            PayloadException why = new PayloadException(
                    "The result of job " + child.job() + ", number " + child.place() + " of join " + name + " of job "
                            + run.id() + ", cannot be read as " + type.getName() + ". Deploy code that reads it",
                    e);
            throw suspend(new Suspension.Unreadable(RunResult.Thrown.of(why)));
        }
    }

    /** Returns the end of an event that nobody told in time. */
    static StepWrite late(JobId job, String event) {
        String why = "Nobody told job " + job + " the event " + event + " in time";
        StoredStep.StepFailure failure =
                new StoredStep.StepFailure(FailReason.DEADLINE, FailureClass.TIMEOUT, "EventTimeout", why);
        return StepWrite.failed(event, Kind.EVENT, failure).replacing();
    }

    /** Suspends the run, or returns the row if the wait is over. */
    private @Nullable StoredStep pause(String name, Kind kind, WaitReason reason, Duration duration) {
        if (duration.isNegative() || duration.compareTo(MAX_WAIT) > 0) {
            throw new IllegalArgumentException(
                    "The wait of step " + name + " must be 0 to " + MAX_WAIT + ", not " + duration);
        }
        StoredStep there = enter(name, kind);
        if (there != null && there.isEnded()) {
            return there;
        }
        if (there == null || there.dueAt() == null) {
            StepWrite row = StepWrite.open(name, kind, duration).granting(granted());
            throw suspend(new Suspension.Pause(reason, duration, rowOf(row, there != null)));
        }
        Duration left = Duration.between(Objects.requireNonNull(readAt), there.dueAt());
        if (left.isNegative() || left.isZero()) {
            return there;
        }
        int times = there.suspensions() + 1;
        if (times > MAX_SUSPENSIONS) {
            leave();
            throw JobSignal.fail("Job " + run.id() + " was woken " + MAX_SUSPENSIONS + " times in step " + name
                    + " before its time: something wakes it again and again");
        }
        throw suspend(new Suspension.Pause(reason, left, StepWrite.again(name, kind, times)));
    }

    private <T> @Nullable T ended(StoredStep step, Class<T> type) {
        StoredStep.StepFailure failure = step.failure();
        if (failure != null) {
            throw new StepFailedException(step.name(), failure);
        }
        String value = step.value();
        if (value == null || type == Void.class) {
            return null;
        }
        try {
            String json = codec.open(value);
            // What others tell may have more members, or fewer.
            return step.kind() == Kind.STEP ? codec.decodeResult(json, type) : codec.decode(json, type);
        } catch (PayloadException e) {
            PayloadException why = new PayloadException(
                    "The stored value of step " + step.name() + " of job " + run.id() + " was written as " + step.type()
                            + " and cannot be read as " + type.getName()
                            + ". Give the step a new name, forget it, or deploy code that reads it. " + e.getMessage(),
                    e);
            throw suspend(new Suspension.Unreadable(RunResult.Thrown.of(why)));
        }
    }

    /** A handler that swallowed the end of its run neither does further steps nor completes its job. */
    void requireNotEnded() {
        if (run.suspension() != null) {
            throw new Suspension.Interrupt(
                    "The run of job " + run.id() + " has ended in a step; let this pass through");
        }
    }

    /** Begins a step: the name must be new in this run, and no step may be under way. Returns the stored row. */
    private synchronized @Nullable StoredStep enter(String name, Kind kind) {
        JobSpec.requireName("step", name);
        requireNotEnded();
        Run.Stop stop = run.stopReason();
        if (stop != null) {
            throw JobSignal.retryAfter(Duration.ZERO, "Run of job " + run.id() + " was told to stop: " + stop);
        }
        StackWalker.StackFrame place = place();
        if (inside != null) {
            throw JobSignal.fail("Step " + name + " at " + text(place) + " begins inside step " + inside + " at "
                    + text(Objects.requireNonNull(used.get(inside)))
                    + ". Steps of a run come one after another: give parallel parts to jobs of their own");
        }
        StackWalker.StackFrame first = used.putIfAbsent(name, place);
        if (first != null) {
            throw JobSignal.fail("Step " + name + " at " + text(place) + " was used in this run before, at "
                    + text(first) + ". A step is known by its name: in a loop, put the number into the name");
        }
        if (readAt == null) {
            StepList list = read();
            readAt = list.at();
            list.steps().forEach(step -> {
                stored.put(step.name(), step);
                bytes += step.value() == null ? 0 : step.value().getBytes(StandardCharsets.UTF_8).length;
            });
        }
        StoredStep there = stored.get(name);
        if (there != null && there.kind() != kind) {
            throw JobSignal.fail("Step " + name + " at " + text(place) + " is asked for as " + kind + ", but job "
                    + run.id() + " has stored it as " + there.kind() + " under token " + there.token()
                    + ". Give it another name");
        }
        if (there == null && stored.size() + used.size() > StoredStep.MAX_STEPS && countNew() > StoredStep.MAX_STEPS) {
            throw JobSignal.fail("Job " + run.id() + " has " + StoredStep.MAX_STEPS + " steps, and step " + name
                    + " would be one more. Give parts of the work to jobs of their own");
        }
        inside = name;
        return there;
    }

    /** Returns how many steps the job would have with those of this run. */
    private long countNew() {
        return stored.size()
                + used.keySet().stream()
                        .filter(name -> !stored.containsKey(name))
                        .count();
    }

    private synchronized void leave() {
        inside = null;
    }

    /** Returns where the handler called. The line is looked up only for a message. */
    private static StackWalker.StackFrame place() {
        return StackWalker.getInstance()
                .walk(frames -> frames.filter(frame -> !frame.getClassName().startsWith("io.reprise.internal.")
                                && !frame.getClassName().startsWith("io.reprise.JobContext"))
                        .findFirst()
                        .orElseThrow());
    }

    private static String text(StackWalker.StackFrame place) {
        return place.getFileName() + ":" + place.getLineNumber();
    }

    private StepList read() {
        for (int tries = 1; ; tries++) {
            try {
                return store.steps(run.id());
            } catch (StoreException e) {
                if (tries == MAX_WRITES || !e.isTransient()) {
                    throw e;
                }
            }
        }
    }

    private void requireFree(Step<?> step) {
        if (step.resource() != null && control.holdsStep(step.resource(), run)) {
            throw suspend(new Suspension.Held(step.resource()));
        }
    }

    /** Returns the granted attempts that give the next step all attempts of the policy; null if it has them. */
    private @Nullable Integer granted() {
        Job job = run.job;
        int spent = job.counts().spent(job.policy());
        return spent > job.counts().granted() ? spent : null;
    }

    /** Writes a step. Returns false if another row of this name is there. */
    private boolean write(JobWriter writer, StepWrite row) {
        Checkpoint checkpoint = new Checkpoint(run.id(), run.token(), row);
        Checkpoint.Answer answer = null;
        for (int tries = 1; answer == null; tries++) {
            try {
                answer = writer.checkpoint(List.of(checkpoint)).get(0);
            } catch (StoreException e) {
                if (tries == MAX_WRITES || !e.isTransient() || writer != store) {
                    throw e;
                }
            }
        }
        if (answer == Checkpoint.Answer.STALE) {
            run.suspend(new Suspension.Lost());
            run.stop(Run.Stop.LOST);
            if (writer != store) {
                throw new StaleLeaseException(run.id(), run.token());
            }
            throw new Suspension.Interrupt(
                    "Job " + run.id() + " is no longer held under token " + run.token() + ": the run ends");
        }
        boolean written = answer == Checkpoint.Answer.WRITTEN;
        if (written && row.granted() != null) {
            run.granted(row.granted());
        }
        if (!written && row.kind() == Kind.STEP) {
            throw JobSignal.fail("Step " + row.name() + " of job " + run.id()
                    + " was written by somebody else while it ran: the first row stays");
        }
        return written;
    }

    private Suspension.Interrupt suspend(Suspension why) {
        run.suspend(why);
        leave();
        return new Suspension.Interrupt("The run of job " + run.id() + " ends in a step; let this pass through");
    }
}
