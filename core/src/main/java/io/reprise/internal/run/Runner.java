// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.run;

import io.reprise.DeferredHandler;
import io.reprise.internal.engine.Driver;
import io.reprise.internal.engine.EngineParts;
import io.reprise.internal.engine.Role;
import io.reprise.internal.engine.StoreClock;
import io.reprise.internal.settle.Committer;
import io.reprise.internal.settle.Events;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/**
 * Runs handlers. The {@code Fetcher} hands it claimed runs, and {@link HandlerExecutor} threads perform them: checks before the
 * start, payload, handler, outcome to the {@link Committer}. As a role it watches timeouts, interrupts late handlers
 * and gives up on stuck ones.
 */
public final class Runner implements Role {

    private static final Logger log = LoggerFactory.getLogger("io.reprise.engine");
    private static final Duration PATROL = Duration.ofSeconds(10);
    private static final Duration NO_LIMIT = Duration.ofDays(36_500);

    /** When to look at a run. A step has its number in the run; the run itself has 0. */
    private record Alarm(long nanos, Run run, boolean last, long step) {

        Alarm(long nanos, Run run, boolean last) {
            this(nanos, run, last, 0);
        }

        boolean isOver() {
            return run.hasEnded() || (step > 0 && !run.isInStep(step));
        }
    }

    private final EngineParts parts;
    private final Handlers handlers;
    private final Interceptors interceptors;
    private final HandlerExecutor executor;
    private final Driver driver;
    private final StoreClock clock;
    private final Events events;
    private final StartCheck check;
    private final UnhandledTypes unhandled;
    private final Committer committer;
    private final Duration cancelGrace;
    private final RunPace pace;
    private final LeaseBook book;
    private final Places places;
    private final AtomicInteger stuck = new AtomicInteger();
    private long nextPatrolNanos;
    private final PriorityQueue<Alarm> alarms = new PriorityQueue<>(Comparator.comparingLong(Alarm::nanos));

    public Runner(EngineParts parts, LeaseBook book, Committer committer) {
        this.parts = parts;
        this.handlers = parts.handlers();
        this.interceptors = parts.interceptors();
        this.executor = parts.executor();
        this.driver = parts.driver();
        this.clock = parts.clock();
        this.events = parts.events();
        this.check = new StartCheck(parts);
        this.unhandled = parts.unhandled();
        this.committer = committer;
        this.book = book;
        this.nextPatrolNanos = parts.driver().nanos();
        this.cancelGrace = parts.settings().timing().cancelGrace();
        this.pace = new RunPace(parts.settings().concurrency());
        this.places = new Places(parts.settings().concurrency(), this::startInPlace);
    }

    @Override
    public String name() {
        return "runner";
    }

    RunPace pace() {
        return pace;
    }

    void accept(List<Run> runs, Instant claimedAt, long sentNanos) {
        clock.heard(claimedAt, sentNanos);
        for (Run run : runs) {
            execute(run, () -> {
                if (places.take(run)) {
                    occupy(run);
                }
            });
        }
    }

    /** Returns whether the bench took the work. If not, the run is given back. */
    private boolean execute(Run run, Runnable work) {
        try {
            executor.execute(work);
            return true;
        } catch (RuntimeException | OutOfMemoryError e) {
            // No thread is available. Another worker can run the job sooner.
            log.error("Job {} could not be started and is given back", run.id(), e);
            giveBack(List.of(run));
            return false;
        }
    }

    /** Starts a run that waited for a place and now holds one. */
    private void startInPlace(Run run) {
        if (!execute(run, () -> occupy(run))) {
            places.release();
        }
    }

    private void occupy(Run run) {
        try {
            perform(run);
        } finally {
            if (run.leavesExecutor()) {
                places.release();
            }
        }
    }

    /** Returns the number of handlers that were given up but still hold a place. */
    int stuck() {
        return stuck.get();
    }

    /** Gives back the runs that still wait for a thread. */
    public void giveBack(Iterable<Run> runs) {
        for (Run run : runs) {
            if (run.abandonIfWaiting()) {
                committer.accept(RunResult.notStarted(run));
            }
        }
    }

    /** Tells a run to stop. Gives up on its handler if it has not ended after the grace, except in a shutdown. */
    public void stop(Run run, Run.Stop reason) {
        giveBack(List.of(run));
        boolean first = run.stop(reason);
        if (first && reason != Run.Stop.SHUTDOWN) {
            alarm(new Alarm(driver.nanos() + cancelGrace.toNanos(), run, true));
        }
    }

    @Override
    public Duration step() {
        patrol(driver.nanos());
        Alarm due = nextDue();
        if (due == null) {
            return untilNext();
        }
        if (due.isOver()) {
            return Duration.ZERO;
        }
        if (due.last) {
            abandon(due.run);
        } else {
            stop(due.run, Run.Stop.TIMEOUT);
        }
        return Duration.ZERO;
    }

    private void perform(Run run) {
        long start = driver.nanos();
        if (book.isExpired(run.lease, start)) {
            // Another worker may have taken the job over. If not, this puts it back.
            giveBack(List.of(run));
            return;
        }
        long mustEnd = mustEnd(run, start);
        if (!run.begin(Thread.currentThread(), start, mustEnd)) {
            return;
        }
        @Nullable RunResult end;
        try {
            MDC.put("job", run.id().toString());
            MDC.put("attempt", Integer.toString(run.attempt()));
            MDC.put("queue", run.job.queue());
            watch(run, start, mustEnd);
            end = call(run, start);
        } catch (Throwable e) {
            // Any Throwable of a handler, a codec or a listener is a failure of the job. It must not cost the worker a
            // thread, nor leave a run that never ends.
            end = thrown(run, RunResult.Kind.HANDLED, start, e);
        } finally {
            MDC.remove("job");
            MDC.remove("attempt");
            MDC.remove("queue");
        }
        if (end != null) {
            finish(run, end);
        }
    }

    private void finish(Run run, RunResult end) {
        if (!run.handlerEnds()) {
            log.debug("Handler of job {} ended its run twice; the first end counts", run.id());
            return;
        }
        committer.advise(end);
        if (run.end()) {
            if (end.wasTried()) {
                pace.ran(end.ran().toNanos());
            }
            committer.accept(end);
        } else {
            stuck.decrementAndGet();
            log.warn("Handler of job {} ended after it had been given up; its outcome is ignored", run.id());
        }
        if (run.freesPlace()) {
            places.release();
        }
    }

    /** Checks the run and calls its handler. Returns null if the run goes on without this thread. */
    private @Nullable RunResult call(Run run, long start) throws Exception {
        RunResult refusal = check.refusal(run, start);
        if (refusal != null) {
            return refusal;
        }
        Handlers.Entry<?> entry = handlers.find(run.job.type());
        if (entry == null || !entry.knows(run.job.spec().version())) {
            unhandled.claimed(run.job);
            return ended(run, RunResult.Kind.UNHANDLED, start, null, null);
        }
        return call(run, start, entry);
    }

    private <P> @Nullable RunResult call(Run run, long start, Handlers.Entry<P> entry) throws Exception {
        P payload;
        try {
            payload = entry.decode(parts.codec(), run.job.spec());
        } catch (RuntimeException | LinkageError | StackOverflowError e) {
            return thrown(run, RunResult.Kind.UNREADABLE, start, e);
        }
        RunContext context = new RunContext(
                run, parts, (timeout, step) -> alarm(new Alarm(driver.nanos() + timeout.toNanos(), run, false, step)));
        events.started(run.job, clock.now());
        if (entry.handler() instanceof DeferredHandler<P> deferred) {
            interceptors.onRun(
                    context,
                    () -> run.leaveThread(deferred.begin(
                            payload, context, error -> finish(run, handled(run, context, start, error)))));
            return null;
        }
        interceptors.onRun(context, () -> entry.handler().handle(payload, context));
        return handled(run, context, start, null);
    }

    private RunResult handled(Run run, RunContext context, long start, @Nullable Throwable error) {
        return error == null
                ? ended(run, RunResult.Kind.HANDLED, start, null, context.resultJson())
                : thrown(run, RunResult.Kind.HANDLED, start, error);
    }

    private RunResult thrown(Run run, RunResult.Kind kind, long start, Throwable e) {
        return ended(run, kind, start, RunResult.Thrown.of(e), null);
    }

    private RunResult ended(
            Run run, RunResult.Kind kind, long start, RunResult.@Nullable Thrown error, @Nullable String result) {
        Duration ran = Duration.ofNanos(Math.max(0, driver.nanos() - start));
        Suspension suspension = run.suspension();
        // What the handler did after its run ended in a step does not count.
        if (suspension instanceof Suspension.Failed failed) {
            return new RunResult(run, RunResult.Kind.HANDLED, ran, failed.thrown(), null);
        }
        if (suspension instanceof Suspension.Unreadable unreadable) {
            return new RunResult(run, RunResult.Kind.UNREADABLE, ran, unreadable.thrown(), null);
        }
        return suspension == null || suspension instanceof Suspension.Lost
                ? new RunResult(run, kind, ran, error, result)
                : new RunResult(run, RunResult.Kind.HANDLED, ran, null, null);
    }

    /**
     * Sets an alarm if the run must end before the next patrol. Most runs end much sooner than they must, so the
     * patrol watches the others.
     */
    private void watch(Run run, long start, long mustEnd) {
        if (mustEnd - start < PATROL.toNanos()) {
            alarm(new Alarm(mustEnd, run, false));
        }
    }

    private long mustEnd(Run run, long start) {
        Duration limit = run.job.spec().timeout();
        Instant deadline = run.job.times().deadline();
        Duration most = limit == null ? NO_LIMIT : limit;
        if (deadline != null) {
            Duration left = Duration.between(clock.now(), deadline);
            most = left.compareTo(most) < 0 ? left : most;
        }
        return start + (most.compareTo(NO_LIMIT) < 0 ? most : NO_LIMIT).toNanos();
    }

    /** Sets alarms for runs that must end before the next patrol. */
    private void patrol(long now) {
        if (now - nextPatrolNanos < 0) {
            return;
        }
        nextPatrolNanos = now + PATROL.toNanos() / 2;
        for (Run run : book.unfinished()) {
            if (run.mustEndBefore(now + PATROL.toNanos())) {
                alarm(new Alarm(run.mustEnd(), run, false));
            }
        }
    }

    private void abandon(Run run) {
        StackTraceElement[] stackTrace = run.stackTrace();
        if (!run.end()) {
            return;
        }
        Exception error = new HandlerStuckException(run.id(), cancelGrace);
        error.setStackTrace(stackTrace);
        stuck.incrementAndGet();
        log.warn("{}", error.getMessage(), error);
        Duration ran = Duration.ofNanos(driver.nanos() - run.startedNanos());
        committer.accept(new RunResult(run, RunResult.Kind.HANDLED, ran, RunResult.Thrown.of(error), null));
    }

    private void alarm(Alarm alarm) {
        boolean first;
        synchronized (alarms) {
            alarms.add(alarm);
            first = alarm.equals(alarms.peek());
        }
        if (first) {
            driver.wake(this);
        }
    }

    private @Nullable Alarm nextDue() {
        synchronized (alarms) {
            Alarm next = alarms.peek();
            return next != null && next.nanos <= driver.nanos() ? alarms.poll() : null;
        }
    }

    private Duration untilNext() {
        synchronized (alarms) {
            alarms.removeIf(Alarm::isOver);
            Alarm next = alarms.peek();
            long left = next == null ? Long.MAX_VALUE : next.nanos - driver.nanos();
            long patrol = Math.max(0, nextPatrolNanos - driver.nanos());
            return Duration.ofNanos(Math.max(0, Math.min(left, patrol)));
        }
    }
}
