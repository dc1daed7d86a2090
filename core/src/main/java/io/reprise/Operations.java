// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.RefusedException.Code;
import io.reprise.internal.ControlDesk;
import io.reprise.internal.Engine;
import io.reprise.internal.Events;
import io.reprise.internal.Outbox;
import io.reprise.internal.StoreClock;
import io.reprise.retry.FailReason;
import io.reprise.store.Cancellation;
import io.reprise.store.Inserted;
import io.reprise.store.JobQuery;
import io.reprise.store.JobStore;
import io.reprise.store.Note;
import io.reprise.store.Revival;
import io.reprise.store.Revived;
import io.reprise.store.StoreException;
import io.reprise.store.StoredSchedule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a person does to jobs and queues, in that person's name: who and why is recorded with each change. Obtained from
 * {@link Reprise#as}. Thread-safe.
 */
public final class Operations {

    private static final Logger log = LoggerFactory.getLogger("io.reprise");
    private static final Set<FailReason> BARRED = EnumSet.of(FailReason.PERMANENT, FailReason.UNREADABLE);
    private static final int PRUNE_BATCH = 5_000;

    private final JobStore store;
    private final @Nullable Engine engine;
    private final Events events;
    private final StoreClock clock;
    private final RandomGenerator random;
    private final ControlDesk desk;
    private final Outbox outbox;
    private final PayloadCodec codec;
    private final Note note;

    /** Whose name it is done in, what with, and the chance that a retry with backoff draws its delay from. */
    record Hand(RandomGenerator random, ControlDesk desk, Outbox outbox, PayloadCodec codec, Note note) {}

    Operations(JobStore store, @Nullable Engine engine, Events events, StoreClock clock, Hand hand) {
        this.store = store;
        this.engine = engine;
        this.events = events;
        this.clock = clock;
        this.random = hand.random;
        this.desk = hand.desk;
        this.outbox = hand.outbox;
        this.codec = hand.codec;
        this.note = hand.note;
    }

    /**
     * Retries a dead letter, or brings a waiting job forward.
     *
     * @throws RefusedException if there is no such job, if it is running or ended otherwise, if its failure is permanent,
     *     or if its attempts are spent; the last two give way to {@link ManualRetry#force}
     */
    public void retry(JobId id, ManualRetry how) {
        revive(id, revival(require(id), how));
    }

    /** @throws RefusedException as {@link #retry} */
    private Revival revival(Job job, ManualRetry how) {
        JobId id = job.id();
        boolean exhausted = isExhausted(job) && !how.reset() && how.grant() == 0;
        if (job.state() == JobState.FAILED && !how.force()) {
            if (BARRED.contains(job.failReason())) {
                throw refused(
                        Code.NOT_RETRYABLE, id, "failed as " + job.failReason() + ": force it if you know better");
            }
            if (exhausted) {
                throw refused(
                        Code.MAX_RETRIES_EXCEEDED,
                        id,
                        "has spent all of its " + job.attempts() + " attempt(s): grant more, reset them, or force one");
            }
        }
        int grant = exhausted ? 1 : how.grant();
        Duration delay = how.backoff() ? nextDelay(job) : Duration.ZERO;
        return new Revival("retry", delay, window(job), how.reset(), grant, Revival.Edit.NONE);
    }

    /**
     * Puts a dead letter back as told.
     *
     * @return its id, or the new one
     * @throws RefusedException if there is no such job or it is not FAILED
     */
    public JobId replay(JobId id, Replay how) {
        return revive(id, revival(require(id), how));
    }

    /** @throws RefusedException as {@link #replay} */
    private Revival revival(Job job, Replay how) {
        if (job.state() != JobState.FAILED) {
            throw refused(Code.INVALID_STATE, job.id(), "is " + job.state() + ", and only a FAILED job is replayed");
        }
        int grant = how.keepCounters() && isExhausted(job) ? 1 : 0;
        String payload = how.payload() == null ? null : codec.seal(how.payload());
        Revival.Edit edit = new Revival.Edit(how.newId(), how.queue(), payload);
        return new Revival("replay", Duration.ZERO, window(job), !how.keepCounters(), grant, edit);
    }

    /** Deletes a job that has ended, with its history. @throws RefusedException if there is none or it has not ended */
    public void discard(JobId id) {
        Job job = require(id);
        if (!job.state().isTerminal() || !store.discard(id, note)) {
            throw refused(Code.INVALID_STATE, id, "is " + job.state() + ": cancel it before discarding it");
        }
        events.happened(JobEvent.Kind.DISCARDED, job, clock.now());
    }

    /** Ends a pending job at once, and tells the worker of a running one to stop it. */
    public Cancellation cancel(JobId id) {
        Cancellation answer = store.cancel(id, note, afterCancelling(id));
        if (answer == Cancellation.REQUESTED && engine != null) {
            engine.cancel(id);
        }
        if (answer == Cancellation.DONE) {
            tell(JobEvent.Kind.CANCELLED, id);
        }
        return answer;
    }

    private List<JobSpec> afterCancelling(JobId id) {
        return outbox.isEmpty()
                ? List.of()
                : store.find(id)
                        .map(job -> outbox.after(JobEvent.Kind.CANCELLED, job, 0))
                        .orElse(List.of());
    }

    /** No job of this queue is claimed until it is resumed, by any worker. Running ones go on. */
    public void pause(String queue) {
        store.pause(JobSpec.requireName("queue", queue), note);
    }

    public void resume(String queue) {
        store.resume(JobSpec.requireName("queue", queue), note);
        wake();
    }

    /** At most so many jobs of this queue run at once in the whole fleet; null for no limit. */
    public void limit(String queue, @Nullable Integer maxRunning) {
        if (maxRunning != null && maxRunning < 1) {
            throw new IllegalArgumentException(
                    "maxRunning must be at least 1, not " + maxRunning + "; pause the queue instead");
        }
        store.limit(JobSpec.requireName("queue", queue), maxRunning, note);
        wake();
    }

    /**
     * Opens the breaker of a resource and keeps it open, without probes, until {@link #forceClose} or {@link #automatic}:
     * its jobs are parked and spend no attempt.
     */
    public void forceOpen(String resource) {
        desk.force(JobSpec.requireName("resource", resource), true, note);
        hurry();
    }

    /** Closes the breaker of a resource and keeps it closed, whatever fails. What is parked comes back at once. */
    public void forceClose(String resource) {
        desk.force(JobSpec.requireName("resource", resource), false, note);
        hurry();
    }

    /** Leaves a breaker that was forced to itself again; one that is open begins with probes. */
    public void automatic(String resource) {
        desk.automatic(JobSpec.requireName("resource", resource), note);
        hurry();
    }

    /** A paused schedule does not fire. @throws RefusedException if there is no such schedule */
    public void pauseSchedule(String name) {
        setPaused(name, true);
    }

    /** What it missed meanwhile is treated by its own rule. @throws RefusedException if there is no such schedule */
    public void resumeSchedule(String name) {
        setPaused(name, false);
        if (engine != null) {
            engine.reschedule();
        }
    }

    /**
     * Enqueues the job of a schedule now, whatever its rule and its last job; its next firing stays as it is.
     *
     * @return the job, or the one its unique key led to
     * @throws RefusedException if there is no such schedule
     */
    public JobId trigger(String name) {
        StoredSchedule schedule = store.schedule(name)
                .orElseThrow(() -> new RefusedException(Code.NOT_FOUND, "Schedule '" + name + "' does not exist"));
        JobSpec spec = schedule.job().toBuilder().schedule(name).build();
        Inserted inserted = store.insert(List.of(spec)).get(0);
        store.note("trigger-schedule", name, note, "as job " + inserted.id());
        if (inserted.created()) {
            events.enqueued(inserted.id(), spec, clock.now(), inserted.dueAt());
        }
        wake();
        return inserted.id();
    }

    /** What a bulk operation does to one page of jobs; {@code refused} gets those that it was not done to, and why. */
    interface Many {
        void apply(List<Job> jobs, Map<JobId, String> refused);
    }

    Many retries(ManualRetry how) {
        return (jobs, refused) -> reviveAll(jobs, job -> revival(job, how), refused);
    }

    Many replays(Replay how) {
        return (jobs, refused) -> reviveAll(jobs, job -> revival(job, how), refused);
    }

    private void reviveAll(List<Job> jobs, Function<Job, Revival> how, Map<JobId, String> refused) {
        Map<JobId, Revival> revivals = new LinkedHashMap<>();
        for (Job job : jobs) {
            try {
                revivals.put(job.id(), how.apply(job));
            } catch (RefusedException e) {
                refused.put(job.id(), String.valueOf(e.getMessage()));
            }
        }
        if (revivals.isEmpty()) {
            return;
        }
        List<JobId> now = new ArrayList<>();
        store.reviveAll(revivals, note).forEach((id, revived) -> {
            if (revived.id() == null) {
                refused.put(id, String.valueOf(refused(id, revived.result()).getMessage()));
            } else {
                now.add(revived.id());
            }
        });
        tellAll(JobEvent.Kind.REVIVED, now);
        wake();
    }

    Many discards() {
        return (jobs, refused) -> {
            Map<JobId, Job> ended = new LinkedHashMap<>();
            jobs.stream().filter(job -> job.state().isTerminal()).forEach(job -> ended.put(job.id(), job));
            Set<JobId> gone = ended.isEmpty() ? Set.of() : store.discardAll(ended.keySet(), note);
            for (Job job : jobs) {
                if (gone.contains(job.id())) {
                    events.happened(JobEvent.Kind.DISCARDED, job, clock.now());
                } else {
                    refused.put(
                            job.id(), "Job " + job.id() + " is " + job.state() + ": cancel it before discarding it");
                }
            }
        };
    }

    Many cancellations() {
        return (jobs, refused) -> {
            List<JobId> done = new ArrayList<>();
            List<JobId> ids = jobs.stream().map(Job::id).toList();
            store.cancelAll(ids, note, job -> outbox.after(JobEvent.Kind.CANCELLED, job, 0))
                    .forEach((id, answer) -> {
                        if (answer == Cancellation.DONE) {
                            done.add(id);
                        } else if (answer == Cancellation.REQUESTED && engine != null) {
                            engine.cancel(id);
                        } else if (answer != Cancellation.REQUESTED) {
                            refused.put(id, "Job " + id + " has ended already");
                        }
                    });
            tellAll(JobEvent.Kind.CANCELLED, done);
        };
    }

    /** What was done to many, in one entry; each job has its own beside it. */
    void noteBulk(String action, JobQuery query, Bulk.Result result) {
        store.note("bulk-" + action, query.toString(), note, result.done() + " of " + result.matched() + " jobs");
    }

    private void tellAll(JobEvent.Kind kind, List<JobId> ids) {
        if (ids.isEmpty() || !events.isHeard()) {
            return;
        }
        try {
            store.findAll(ids).forEach(job -> events.happened(kind, job, clock.now()));
        } catch (StoreException e) {
            log.warn("{} of {} jobs is done but was not told: {}", kind, ids.size(), e.getMessage());
        }
    }

    /** The same operation on every job that a query finds, newest first. */
    public Bulk all(JobQuery query) {
        return new Bulk(this, store, query);
    }

    /** Deletes jobs that ended in one of these states longer ago than {@code age}; returns how many. */
    public long prune(Set<JobState> states, Duration age) {
        long pruned = 0;
        int last;
        do {
            last = store.prune(states, age, PRUNE_BATCH);
            pruned += last;
        } while (last > 0);
        return pruned;
    }

    private JobId revive(JobId id, Revival revival) {
        Revived revived = store.revive(id, revival, note);
        JobId now = revived.id();
        if (now == null) {
            throw refused(id, revived.result());
        }
        tell(JobEvent.Kind.REVIVED, now);
        wake();
        return now;
    }

    private static RefusedException refused(JobId id, Revived.Result result) {
        return switch (result) {
            case MISSING -> refused(Code.NOT_FOUND, id, "does not exist");
            case KEY_TAKEN ->
                refused(Code.KEY_TAKEN, id, "cannot come back while another live job holds its unique key");
            default -> refused(Code.INVALID_STATE, id, "is neither FAILED nor waiting");
        };
    }

    private static RefusedException refused(Code code, JobId id, String why) {
        return new RefusedException(code, "Job " + id + " " + why);
    }

    private Job require(JobId id) {
        return store.find(id).orElseThrow(() -> refused(Code.NOT_FOUND, id, "does not exist"));
    }

    private static boolean isExhausted(Job job) {
        OptionalInt limit = job.maxAttempts();
        boolean spent = limit.isPresent() && job.attempts() >= limit.getAsInt();
        return spent || job.failReason() == FailReason.EXHAUSTED;
    }

    private Duration nextDelay(Job job) {
        return job.policy()
                .complete()
                .delay(Math.max(1, job.attempts()), job.times().lastDelay(), random);
    }

    private static @Nullable Duration window(Job job) {
        return job.policy().complete().deadline().toOptional().orElse(null);
    }

    /** What was done is done, whether or not the job can be read again for those who listen. */
    private void tell(JobEvent.Kind kind, JobId id) {
        try {
            store.find(id).ifPresent(job -> events.happened(kind, job, clock.now()));
        } catch (StoreException e) {
            log.warn("{} of job {} is done but was not told: {}", kind, id, e.getMessage());
        }
    }

    private void setPaused(String name, boolean paused) {
        if (!store.pauseSchedule(name, paused, note)) {
            throw new RefusedException(Code.NOT_FOUND, "Schedule '" + name + "' does not exist");
        }
    }

    private void hurry() {
        if (engine != null) {
            engine.hurry();
        }
    }

    private void wake() {
        if (engine != null) {
            engine.wake();
        }
    }
}
