// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.batch.BatchState;
import io.reprise.failure.FailureClass;
import io.reprise.insight.JobEvent;
import io.reprise.internal.control.ControlOperations;
import io.reprise.internal.control.EnqueueCeilings;
import io.reprise.internal.engine.Engine;
import io.reprise.internal.engine.StoreClock;
import io.reprise.internal.settle.Events;
import io.reprise.internal.settle.FollowUps;
import io.reprise.job.AuditNote;
import io.reprise.job.Cancellation;
import io.reprise.job.DuplicateKeyException;
import io.reprise.job.Enqueued;
import io.reprise.job.Job;
import io.reprise.job.JobChange;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.PayloadException;
import io.reprise.job.RefusedException;
import io.reprise.job.RefusedException.Code;
import io.reprise.job.RepriseException;
import io.reprise.job.StoredSchedule;
import io.reprise.job.WaitReason;
import io.reprise.retry.FailReason;
import io.reprise.retry.RetryPolicy;
import io.reprise.settings.CeilingException;
import io.reprise.step.StepEdit;
import io.reprise.step.StepWrite;
import io.reprise.step.StoredStep;
import io.reprise.store.JobStore;
import io.reprise.store.Requeue;
import io.reprise.store.RequeueResult;
import io.reprise.store.StoreException;
import io.reprise.text.JsonSyntax;
import io.reprise.text.Truncation;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Operations of a person on jobs, queues, breakers and schedules. The audit log records the person and the reason with
 * each change, except {@link #prune}. Obtained from {@link Reprise#as}. Thread-safe.
 *
 * <p>All methods throw {@link StoreException} if the store fails.
 *
 * @since 0.1.0
 */
public final class Operations {

    private static final Logger log = LoggerFactory.getLogger("io.reprise");
    private static final Set<FailReason> BARRED =
            EnumSet.of(FailReason.PERMANENT, FailReason.UNREADABLE, FailReason.UNKNOWN_OUTCOME);
    private static final int PRUNE_BATCH = 5_000;

    private static final String FOLLOWS_BATCH =
            "waits for the end or the success of a batch and is due then: close or finish the batch, or cancel this job";

    private static final String NO_START = " with a start and without an end, nor one whose end a person told";

    private final JobStore store;
    private final @Nullable Engine engine;
    private final Events events;
    private final StoreClock clock;
    private final RandomGenerator random;
    private final ControlOperations controlOperations;
    private final FollowUps followUps;
    private final PayloadCodec codec;
    private final Function<Job, RetryPolicy> policies;
    private final Function<JobSpec, RetryPolicy> bound;
    private final EnqueueCeilings ceilings;
    private final AuditNote note;

    /**
     * The person in whose name operations are done, and the tools they need. {@code random} draws the delay of a retry
     * with backoff; {@code policies} returns the policy that decides about a job here, with granted attempts;
     * {@code bound} returns the policy that a job would be stored with.
     */
    record Context(
            RandomGenerator random,
            ControlOperations controlOperations,
            FollowUps followUps,
            PayloadCodec codec,
            Function<Job, RetryPolicy> policies,
            Function<JobSpec, RetryPolicy> bound,
            EnqueueCeilings ceilings,
            AuditNote note) {}

    Operations(JobStore store, @Nullable Engine engine, Events events, StoreClock clock, Context context) {
        this.store = store;
        this.engine = engine;
        this.events = events;
        this.clock = clock;
        this.random = context.random;
        this.controlOperations = context.controlOperations;
        this.followUps = context.followUps;
        this.codec = context.codec;
        this.policies = context.policies;
        this.bound = context.bound;
        this.ceilings = context.ceilings;
        this.note = context.note;
    }

    /**
     * Retries a dead letter, or brings a waiting job forward, at once or at the time of {@link ManualRetry#at}. The job
     * is PENDING with reason MANUAL, and the time until its deadline starts again. A second call on the job that now waits has the same effect again.
     *
     * @throws RefusedException if the job does not exist (NOT_FOUND), is running, succeeded or cancelled
     *     (INVALID_STATE), failed as PERMANENT, UNREADABLE or UNKNOWN_OUTCOME (NOT_RETRYABLE), has spent its attempts
     *     (MAX_RETRIES_EXCEEDED), waits for the end or the success of a batch (INVALID_STATE), another live job holds its
     *     unique key (KEY_TAKEN), or the asked time is past (OUT_OF_BOUNDS). {@link ManualRetry#forced} overrides NOT_RETRYABLE and MAX_RETRIES_EXCEEDED
     * @throws CeilingException if the job is a dead letter and its queue is full
     */
    public void retry(JobId id, ManualRetry how) {
        requeue(id, requeue(require(id), how));
    }

    /**
     * Refuses as {@link #retry} says.
     *
     * @throws RefusedException see {@link #retry}
     */
    private Requeue requeue(Job job, ManualRetry how) {
        JobId id = job.id();
        boolean exhausted = isExhausted(job) && !how.reset() && how.grant() == 0;
        if (job.state() == JobState.FAILED && !how.force()) {
            if (BARRED.contains(job.failReason())) {
                String say = job.failReason() == FailReason.UNKNOWN_OUTCOME
                        ? ": say how its step ended, or force it if you know better"
                        : ": force it if you know better";
                throw refused(Code.NOT_RETRYABLE, id, "failed as " + job.failReason() + say);
            }
            if (exhausted) {
                throw refused(
                        Code.MAX_RETRIES_EXCEEDED,
                        id,
                        "has spent all of its " + job.counts().spent(policies.apply(job))
                                + " attempt(s): grant more, reset them, or force one");
            }
        }
        int grant = exhausted ? 1 : how.grant();
        Instant at = how.at();
        if (at != null && at.isBefore(clock.now())) {
            throw new RefusedException(Code.OUT_OF_BOUNDS, bounds("at", at, clock.now(), null));
        }
        if (job.state() == JobState.FAILED) {
            ceilings.requireRoom(job.queue(), 1);
        }
        Duration delay = how.backoff() ? nextDelay(job) : Duration.ZERO;
        return new Requeue("retry", delay, at, window(job), how.reset(), grant, Requeue.Edit.NONE);
    }

    private static String bounds(String field, Instant value, Instant from, @Nullable Instant before) {
        String most = before == null ? "to " + JobSpec.MAX_DUE : "and before its deadline " + before;
        return field + " is " + value + " but must be " + from + " or later " + most;
    }

    /**
     * Makes a waiting job due at another time. Its deadline stays; {@link #retry} with {@link ManualRetry#at} begins a
     * new one. See {@link #change}.
     *
     * @param at not in the past by the store's clock, and before the deadline of the job
     * @throws RefusedException see {@link #change}
     */
    public void reschedule(JobId id, Instant at) {
        change(id, JobChange.NONE.at(at));
    }

    /**
     * Changes due time, priority, queue, policy or payload of a waiting job. Counters, history and keys stay. A new
     * policy is joined with the layers below it, as if the job were enqueued with it now.
     *
     * @throws RefusedException if the job does not exist (NOT_FOUND), runs or has ended (INVALID_STATE), gets a due time
     *     while it waits for the holder of its key or for a batch (INVALID_STATE), or would be due in the past or not
     *     before its deadline (OUT_OF_BOUNDS)
     * @throws IllegalArgumentException if the change is empty, or a job cannot have the payload
     * @throws CeilingException if the other queue is full, or the payload is larger than its ceiling
     */
    public void change(JobId id, JobChange change) {
        Job job = require(id);
        JobChange sealed = sealed(change);
        requireCeilings(job, sealed);
        JobChange.Answer answer = events.relay().around(List.of(id), () -> answer(job, sealed), given -> {
            if (given == JobChange.Answer.DONE) {
                tellChanged(List.of(id));
            }
        });
        if (answer != JobChange.Answer.DONE) {
            throw refused(job, change, answer);
        }
        wake();
    }

    private JobChange.Answer answer(Job job, JobChange sealed) {
        return changes(List.of(job), sealed).getOrDefault(job.id(), JobChange.Answer.MISSING);
    }

    Many changes(JobChange change) {
        return (jobs, refused) -> {
            JobChange sealed = sealed(change);
            List<Job> admitted = jobs.stream()
                    .filter(job -> isAdmitted(job, () -> requireCeilings(job, sealed), refused))
                    .toList();
            Map<JobId, JobChange.Answer> answers = events.relay()
                    .around(ids(admitted), () -> changes(admitted, sealed), given -> {
                        if (events.isHeard(JobEvent.Kind.REQUEUED)) {
                            tellChanged(done(given));
                        }
                    });
            for (Job job : admitted) {
                JobChange.Answer answer = answers.getOrDefault(job.id(), JobChange.Answer.MISSING);
                if (answer != JobChange.Answer.DONE) {
                    refused.put(
                            job.id(),
                            String.valueOf(refused(job, change, answer).getMessage()));
                }
            }
            wake();
        };
    }

    private static List<JobId> ids(List<Job> jobs) {
        return jobs.stream().map(Job::id).toList();
    }

    private static List<JobId> done(Map<JobId, JobChange.Answer> answers) {
        return answers.entrySet().stream()
                .filter(answer -> answer.getValue() == JobChange.Answer.DONE)
                .map(Map.Entry::getKey)
                .toList();
    }

    private JobChange sealed(JobChange change) {
        if (change.isEmpty()) {
            throw new IllegalArgumentException(
                    "The change is empty: set dueAt, priority, queue, policy or payload of the job");
        }
        return change.payload() == null
                ? change
                : change.withPayload(codec.seal(JsonSyntax.require("payload", change.payload())));
    }

    private void requireCeilings(Job job, JobChange sealed) {
        String queue = sealed.queue() == null ? job.queue() : sealed.queue();
        if (sealed.payload() != null) {
            ceilings.requirePayload(queue, sealed.payload());
        }
        if (!queue.equals(job.queue())) {
            ceilings.requireRoom(queue, 1);
        }
    }

    /** Whether the ceilings let a job of a bulk pass. */
    private static boolean isAdmitted(Job job, Runnable check, Map<JobId, String> refused) {
        try {
            check.run();
            return true;
        } catch (CeilingException e) {
            refused.put(
                    job.id(),
                    e.kind() == CeilingException.Kind.DEPTH
                            ? "Job " + job.id() + " stays: the queue is full with " + e.ceiling() + " jobs"
                            : "Job " + job.id() + " stays: the payload is " + e.value() + " bytes but must be at most "
                                    + e.ceiling());
            return false;
        }
    }

    private Map<JobId, JobChange.Answer> changes(List<Job> jobs, JobChange sealed) {
        Map<JobId, JobChange> all = new LinkedHashMap<>();
        jobs.forEach(job -> all.put(job.id(), joined(job, sealed)));
        return all.isEmpty() ? Map.of() : store.changeAll(all, note);
    }

    private JobChange joined(Job job, JobChange change) {
        if (change.policy() == null) {
            return change;
        }
        String queue = change.queue() == null ? job.queue() : change.queue();
        return change.withPolicy(bound.apply(
                job.spec().toBuilder().queue(queue).policy(change.policy()).build()));
    }

    private RefusedException refused(Job job, JobChange change, JobChange.Answer answer) {
        return switch (answer) {
            case RUNNING -> refused(Code.INVALID_STATE, job.id(), "runs now: change it when it waits, or cancel it");
            case ENDED ->
                refused(Code.INVALID_STATE, job.id(), "has ended: only a waiting job is changed; retry or replay it");
            case FOLLOWS ->
                refused(
                        Code.INVALID_STATE,
                        job.id(),
                        job.status().waitReason() == WaitReason.BATCH
                                ? FOLLOWS_BATCH
                                : "waits for the end of the job that holds its key: its due time is set then");
            case PAST, BEYOND_DEADLINE -> beyond(job, joined(job, change));
            default -> refused(Code.NOT_FOUND, job.id(), "does not exist");
        };
    }

    private RefusedException beyond(Job job, JobChange change) {
        Instant deadline =
                change.policy() == null ? job.times().deadline() : JobChange.deadlineOf(job, change.policy());
        Instant due = change.dueAt() == null ? job.times().dueAt() : change.dueAt();
        if (change.dueAt() == null && change.policy() != null) {
            return refused(
                    Code.OUT_OF_BOUNDS,
                    job.id(),
                    "would have the deadline " + deadline + " under the policy, but must be due before it, at " + due
                            + ", and it must not be past: retry the job to begin a new deadline");
        }
        return refused(
                Code.OUT_OF_BOUNDS,
                job.id(),
                "stays as it is: " + bounds("dueAt", due == null ? clock.now() : due, clock.now(), deadline));
    }

    /**
     * Puts a dead letter back into a queue. The job is PENDING with reason MANUAL, is due at once, and the time until
     * its deadline starts again.
     *
     * @return the id of the job that is pending now: the given id, or a new one after {@link Replay#asNewJob}
     * @throws RefusedException if the job does not exist (NOT_FOUND), is not FAILED (INVALID_STATE), another live job
     *     holds its unique key (KEY_TAKEN), or its payload cannot take the patch (OUT_OF_BOUNDS)
     * @throws CeilingException if the queue is full, or the payload is larger than its ceiling
     */
    public JobId replay(JobId id, Replay how) {
        return requeue(id, requeue(require(id), how));
    }

    /**
     * Refuses as {@link #replay} says.
     *
     * @throws RefusedException see {@link #replay}
     */
    private Requeue requeue(Job job, Replay how) {
        if (job.state() != JobState.FAILED) {
            throw refused(Code.INVALID_STATE, job.id(), "is " + job.state() + ", and only a FAILED job is replayed");
        }
        int grant = how.keepCounters() && isExhausted(job) ? 1 : 0;
        String payload = how.patch() != null
                ? patched(job, how)
                : how.payload() == null ? null : codec.seal(JsonSyntax.require("payload", how.payload()));
        Requeue.Edit edit = new Requeue.Edit(how.newId(), how.queue(), payload);
        String queue = how.queue() == null ? job.queue() : how.queue();
        if (payload != null) {
            ceilings.requirePayload(queue, payload);
        }
        ceilings.requireRoom(queue, 1);
        return new Requeue("replay", Duration.ZERO, window(job), !how.keepCounters(), grant, edit);
    }

    /** Returns the payload with the changes of the patch, sealed as a new one would be. */
    private String patched(Job job, Replay how) {
        try {
            String payload = codec.seal(how.payloadOf(codec.open(job.spec().payload())));
            // A payload may be too long now. One job of many must not stop the others.
            return job.spec().toBuilder().payload(payload).build().payload();
        } catch (IllegalArgumentException | PayloadException e) {
            throw refused(Code.OUT_OF_BOUNDS, job.id(), "cannot take the patch: " + e.getMessage());
        }
    }

    /**
     * Says that a step with an unknown outcome was done, and retries its job. The next run gets this result.
     *
     * @param json the result as JSON; null if the step has none
     * @throws RefusedException if the job does not exist (NOT_FOUND), if it runs, or if the step has no start without an
     *     end (INVALID_STATE)
     * @throws IllegalArgumentException if {@code json} is not JSON
     * @throws PayloadException if it has more than {@value StoredStep#MAX_VALUE_BYTES} bytes
     */
    public void finishStep(JobId id, String step, @Nullable String json) {
        String type = json == null ? null : "a value that " + note.by() + " gave";
        String sealed = json == null ? null : codec.seal(JsonSyntax.require("result", json));
        int bytes = sealed == null ? 0 : sealed.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > StoredStep.MAX_VALUE_BYTES) {
            throw new PayloadException(
                    "The result of step " + step + " of job " + id + " has " + bytes + " bytes; at most "
                            + StoredStep.MAX_VALUE_BYTES + " are stored. Keep it elsewhere and give where it is");
        }
        resolve(id, StepWrite.done(step, type, sealed));
    }

    /**
     * Says that a step with an unknown outcome failed, and retries its job. The next run gets a
     * {@link io.reprise.step.StepFailedException}. A later retry keeps this failure; {@link #forgetStep} removes it.
     *
     * @param why the reason, for the handler and for people
     * @throws RefusedException see {@link #finishStep}
     */
    public void failStep(JobId id, String step, String why) {
        StoredStep.StepFailure failure = new StoredStep.StepFailure(
                FailReason.PERMANENT, FailureClass.PERMANENT, "FailedByHand", Truncation.cut(why, Truncation.MESSAGE));
        resolve(id, StepWrite.failed(step, StoredStep.Kind.STEP, failure));
    }

    /**
     * Lets a step with an unknown outcome run again, and retries its job. The effect of the step may happen twice.
     *
     * @throws RefusedException see {@link #finishStep}
     */
    public void repeatStep(JobId id, String step) {
        resolve(id, step, new StepEdit.Repeat(step));
    }

    private void resolve(JobId id, StepWrite row) {
        resolve(id, row.name(), new StepEdit.Resolve(row.replacing()));
    }

    /** Changes the step and puts the job back in one atomic step: a person's word is never half done. */
    private void resolve(JobId id, String step, StepEdit edit) {
        Requeue retry = requeue(require(id), ManualRetry.NOW.forced());
        RequeueResult answer = putBack(id, retry.with(new Requeue.Edit(edit)));
        if (answer.result() == RequeueResult.Result.NO_STEP) {
            throw refused(Code.INVALID_STATE, id, "has no step " + step + NO_START);
        }
        if (answer.result() == RequeueResult.Result.NOT_WAITING) {
            throw refused(
                    Code.INVALID_STATE, id, "runs or has ended, so nobody has to say how step " + step + " ended");
        }
        requeued(id, answer);
    }

    /**
     * Forgets a step, so that the next run does it again. Does not retry the job, except that a job which waits for the
     * forgotten event is due now: its next run begins a new wait.
     *
     * @throws RefusedException if the job does not exist (NOT_FOUND), if it runs, or if it has no such step
     *     (INVALID_STATE)
     */
    public void forgetStep(JobId id, String step) {
        edit(id, new StepEdit.Forget(step), step);
    }

    /**
     * Forgets a step and all that were stored at the same time or later. The next run begins there. Does not retry the
     * job.
     *
     * @throws RefusedException see {@link #forgetStep}
     */
    public void forgetStepsFrom(JobId id, String step) {
        edit(id, new StepEdit.ForgetFrom(step), step);
    }

    /**
     * Forgets all steps, so that the next run begins at the start. Does not retry the job.
     *
     * @throws RefusedException if the job does not exist (NOT_FOUND) or runs (INVALID_STATE)
     */
    public void forgetSteps(JobId id) {
        edit(id, new StepEdit.ForgetAll(), "");
    }

    private void edit(JobId id, StepEdit edit, String step) {
        switch (store.editSteps(id, edit, note)) {
            case MISSING -> throw refused(Code.NOT_FOUND, id, "does not exist");
            case RUNNING -> throw refused(Code.INVALID_STATE, id, "runs, and its run knows its steps");
            case NO_STEP -> throw refused(Code.INVALID_STATE, id, "has no step " + step);
            case DONE -> wake();
        }
    }

    /**
     * Releases the job for the success of a batch although members are dead letters, because a person knows that they do
     * not matter. The batch has succeeded from now on. A member that is retried later is counted, and nothing else follows from it.
     *
     * @return the batch as it is now
     * @throws RefusedException if there is no such batch (NOT_FOUND), or if it has not ended, has succeeded, has a cancelled
     *     member, or has no job that waits for its success (INVALID_STATE)
     */
    public BatchState finishBatch(String name) {
        BatchState seen = store.batch(name).orElseThrow(() -> RefusedException.noBatch(name));
        JobId follower = seen.onSuccess();
        boolean waits = follower != null
                && store.find(follower).filter(Job::isHeldByBatch).isPresent();
        BatchState before =
                waits ? store.finishBatch(name, note).orElseThrow(() -> RefusedException.noBatch(name)) : seen;
        if (!waits || !before.isFinishable()) {
            throw new RefusedException(Code.INVALID_STATE, "Batch '" + name + "' " + unfinishable(before));
        }
        wake();
        return store.batch(name).orElseThrow(() -> RefusedException.noBatch(name));
    }

    private static String unfinishable(BatchState batch) {
        if (batch.succeededAt() != null) {
            return "has succeeded at " + batch.succeededAt() + ": there is nothing to finish";
        }
        if (batch.onSuccess() == null) {
            return "has no job for its success: there is nothing to finish";
        }
        if (batch.closedAt() == null) {
            return "takes members: close it first";
        }
        if (batch.open() > 0) {
            return "has " + batch.open() + " members that wait or run: finish it when they have ended";
        }
        return "has no job that waits for its success: job " + batch.onSuccess()
                + " was cancelled or deleted. Enqueue such a job yourself";
    }

    /**
     * Deletes a job that has ended, with its history and its idempotency key.
     *
     * @throws RefusedException if the job does not exist (NOT_FOUND) or has not ended (INVALID_STATE)
     */
    public void discard(JobId id) {
        Job job = require(id);
        if (!job.state().isTerminal() || !store.discard(id, note)) {
            throw refused(Code.INVALID_STATE, id, "is " + job.state() + ": cancel it before discarding it");
        }
        events.published(JobEvent.Kind.DISCARDED, job, clock.now());
    }

    /**
     * Cancels a job. A pending job ends as CANCELLED at once. The handler of a running job is interrupted: at once in
     * this process, within about 2 s in another. If it succeeds first, the job is SUCCEEDED.
     *
     * @return DONE, REQUESTED for a running job, TOO_LATE if the job has ended, MISSING if it does not exist
     */
    public Cancellation cancel(JobId id) {
        Cancellation answer = events.relay()
                .around(List.of(id), () -> store.cancel(id, note, afterCancelling(id)), given -> {
                    if (given == Cancellation.DONE) {
                        tell(JobEvent.Kind.CANCELLED, id);
                    }
                });
        if (answer == Cancellation.REQUESTED && engine != null) {
            engine.cancel(id);
        }
        return answer;
    }

    private List<JobSpec> afterCancelling(JobId id) {
        return followUps.isEmpty()
                ? List.of()
                : store.find(id)
                        .map(job -> followUps.after(JobEvent.Kind.CANCELLED, job, 0))
                        .orElse(List.of());
    }

    /**
     * Pauses a queue: no worker claims its jobs until {@link #resume}. Running jobs go on. The queue need not exist.
     * Pausing twice keeps the first pause.
     *
     * @throws IllegalArgumentException if {@code queue} does not have the form of {@link JobSpec#requireName}
     */
    public void pause(String queue) {
        store.pause(JobSpec.requireName("queue", queue), note);
    }

    /**
     * Ends the pause of a queue. Does nothing if the queue is not paused.
     *
     * @throws IllegalArgumentException if {@code queue} does not have the form of {@link JobSpec#requireName}
     */
    public void resume(String queue) {
        store.resume(JobSpec.requireName("queue", queue), note);
        wake();
    }

    /**
     * Limits how many jobs of a queue run at once in the whole fleet; jobs with needs count too. The last call wins.
     * Running jobs above the limit go on.
     *
     * @param maxRunning at least 1; null, the default, for no limit
     * @throws IllegalArgumentException if {@code maxRunning} is less than 1, or {@code queue} does not have the form of
     *     {@link JobSpec#requireName}
     */
    public void limit(String queue, @Nullable Integer maxRunning) {
        if (maxRunning != null && maxRunning < 1) {
            throw new IllegalArgumentException(
                    "maxRunning must be at least 1, not " + maxRunning + "; pause the queue instead");
        }
        store.limit(JobSpec.requireName("queue", queue), maxRunning, note);
        wake();
    }

    /**
     * Opens the breaker of a resource and keeps it open, without probes, until {@link #forceClose} or
     * {@link #automatic}. Jobs of the resource are parked and spend no attempt. The force outlasts restarts.
     *
     * @throws IllegalArgumentException if {@code resource} does not have the form of {@link JobSpec#requireName}
     * @throws RepriseException if other workers changed the breaker too often at the same time; try again
     */
    public void forceOpen(String resource) {
        controlOperations.force(JobSpec.requireName("resource", resource), true, note);
        syncNow();
    }

    /**
     * Closes the breaker of a resource and keeps it closed, even if all calls fail, until {@link #forceOpen} or
     * {@link #automatic}. All parked jobs of the resource are unparked at once.
     *
     * @throws IllegalArgumentException if {@code resource} does not have the form of {@link JobSpec#requireName}
     * @throws RepriseException if other workers changed the breaker too often at the same time; try again
     */
    public void forceClose(String resource) {
        controlOperations.force(JobSpec.requireName("resource", resource), false, note);
        syncNow();
    }

    /**
     * Ends {@link #forceOpen} or {@link #forceClose}: the breaker moves by itself again. A breaker that was kept open
     * makes a probe at once. Does nothing if the breaker is not forced.
     *
     * @throws IllegalArgumentException if {@code resource} does not have the form of {@link JobSpec#requireName}
     * @throws RepriseException if other workers changed the breaker too often at the same time; try again
     */
    public void automatic(String resource) {
        controlOperations.automatic(JobSpec.requireName("resource", resource), note);
        syncNow();
    }

    /**
     * Pauses a schedule: it does not fire until {@link #resumeSchedule}. Jobs that it created go on.
     *
     * @throws RefusedException if there is no such schedule (NOT_FOUND)
     */
    public void pauseSchedule(String name) {
        setPaused(name, true);
    }

    /**
     * Ends the pause of a schedule. Its {@link Schedule.MissedFire} rule decides about firings that were missed during
     * the pause.
     *
     * @throws RefusedException if there is no such schedule (NOT_FOUND)
     */
    public void resumeSchedule(String name) {
        setPaused(name, false);
        if (engine != null) {
            engine.reschedule();
        }
    }

    /**
     * Enqueues the job of a schedule now, also if the schedule is paused or its last job is still running. The next
     * firing stays as it is.
     *
     * @return the new job, or the job that its unique key led to
     * @throws RefusedException if there is no such schedule (NOT_FOUND)
     * @throws DuplicateKeyException if the key rule of the job forbids another job
     * @throws CeilingException if an operator's ceiling refuses the job
     */
    public JobId trigger(String name) {
        StoredSchedule schedule = store.schedule(name)
                .orElseThrow(() -> new RefusedException(Code.NOT_FOUND, "Schedule '" + name + "' does not exist"));
        JobSpec spec = schedule.job().toBuilder().schedule(name).build();
        ceilings.require(List.of(spec));
        Enqueued inserted = events.relay().around(1, () -> store.trigger(name, spec, note), stored -> {
            if (stored.created()) {
                events.enqueued(stored.id(), spec, clock.now(), stored.dueAt());
            }
        });
        wake();
        return inserted.id();
    }

    /**
     * A bulk operation on one page of jobs. {@code refused} receives each job that was not changed, with the reason.
     */
    interface Many {
        void apply(List<Job> jobs, Map<JobId, String> refused);
    }

    Many retries(ManualRetry how) {
        return (jobs, refused) -> requeueAll(jobs, job -> requeue(job, how), refused);
    }

    Many replays(Replay how) {
        return (jobs, refused) -> requeueAll(jobs, job -> requeue(job, how), refused);
    }

    private void requeueAll(List<Job> jobs, Function<Job, Requeue> how, Map<JobId, String> refused) {
        Map<JobId, Requeue> requeues = new LinkedHashMap<>();
        for (Job job : jobs) {
            try {
                boolean unused = isAdmitted(job, () -> requeues.put(job.id(), how.apply(job)), refused);
            } catch (RefusedException e) {
                refused.put(job.id(), String.valueOf(e.getMessage()));
            }
        }
        if (requeues.isEmpty()) {
            return;
        }
        List<JobId> now = new ArrayList<>();
        Map<JobId, RequeueResult> unused = events.relay()
                .around(requeues.keySet(), () -> store.requeueAll(requeues, note), given -> {
                    given.forEach((id, requeued) -> {
                        if (requeued.id() == null) {
                            refused.put(
                                    id,
                                    String.valueOf(
                                            refused(id, requeued.result()).getMessage()));
                        } else {
                            now.add(requeued.id());
                        }
                    });
                    tellAll(JobEvent.Kind.REQUEUED, now);
                });
        wake();
    }

    Many discards() {
        return (jobs, refused) -> {
            Map<JobId, Job> ended = new LinkedHashMap<>();
            jobs.stream().filter(job -> job.state().isTerminal()).forEach(job -> ended.put(job.id(), job));
            Set<JobId> gone = ended.isEmpty() ? Set.of() : store.discardAll(ended.keySet(), note);
            for (Job job : jobs) {
                if (gone.contains(job.id())) {
                    events.published(JobEvent.Kind.DISCARDED, job, clock.now());
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
            Map<JobId, Cancellation> unused = events.relay()
                    .around(
                            ids(jobs),
                            () -> store.cancelAll(
                                    ids(jobs), note, job -> followUps.after(JobEvent.Kind.CANCELLED, job, 0)),
                            given -> {
                                given.forEach((id, answer) -> {
                                    if (answer == Cancellation.DONE) {
                                        done.add(id);
                                    } else if (answer == Cancellation.REQUESTED && engine != null) {
                                        engine.cancel(id);
                                    } else if (answer != Cancellation.REQUESTED) {
                                        refused.put(id, "Job " + id + " has ended already");
                                    }
                                });
                                tellAll(JobEvent.Kind.CANCELLED, done);
                            });
        };
    }

    /** Writes one audit entry for a bulk operation. Each job has an entry of its own beside it. */
    void noteBulk(String action, JobQuery query, Bulk.Result result) {
        store.note("bulk-" + action, query.toString(), note, result.done() + " of " + result.matched() + " jobs");
        log.info("Bulk {} by hand: {} of {} jobs that match {}", action, result.done(), result.matched(), query);
    }

    /** Tells that waiting jobs were changed. That is a requeue, too, but no retry. */
    private void tellChanged(List<JobId> ids) {
        try {
            store.findAll(ids).forEach(job -> events.changed(job, clock.now()));
        } catch (StoreException e) {
            log.warn("{} jobs were changed but that was not told: {}", ids.size(), e.getMessage());
        }
    }

    private void tellAll(JobEvent.Kind kind, List<JobId> ids) {
        if (ids.isEmpty() || !events.isHeard(kind)) {
            return;
        }
        try {
            store.findAll(ids).forEach(job -> events.published(kind, job, clock.now()));
        } catch (StoreException e) {
            log.warn("{} of {} jobs is done but was not told: {}", kind, ids.size(), e.getMessage());
        }
    }

    /**
     * Prepares one operation on every job that a query finds, newest first. Nothing is changed until a method such as
     * {@link Bulk#retry} is called.
     */
    public Bulk all(JobQuery query) {
        return new Bulk(this, store, query);
    }

    /**
     * Deletes jobs that ended in one of these states, with their history and keys. Deletes in batches until nothing is
     * left to delete.
     *
     * @param age jobs are deleted that ended longer ago than this
     * @return number of deleted jobs
     */
    public long prune(Set<JobState> states, Duration age) {
        long pruned = 0;
        int last;
        do {
            last = store.prune(states, age, PRUNE_BATCH);
            pruned += last;
        } while (last > 0);
        return pruned;
    }

    private JobId requeue(JobId id, Requeue requeue) {
        return requeued(id, putBack(id, requeue));
    }

    private RequeueResult putBack(JobId id, Requeue requeue) {
        return events.relay().around(List.of(id), () -> store.requeue(id, requeue, note), given -> {
            if (given.id() != null) {
                tell(JobEvent.Kind.REQUEUED, given.id());
            }
        });
    }

    private JobId requeued(JobId id, RequeueResult requeued) {
        JobId now = requeued.id();
        if (now == null) {
            throw refused(id, requeued.result());
        }
        wake();
        return now;
    }

    private static RefusedException refused(JobId id, RequeueResult.Result result) {
        return switch (result) {
            case MISSING -> refused(Code.NOT_FOUND, id, "does not exist");
            case KEY_TAKEN ->
                refused(Code.KEY_TAKEN, id, "cannot come back while another live job holds its unique key");
            case FOLLOWS -> refused(Code.INVALID_STATE, id, FOLLOWS_BATCH);
            default -> refused(Code.INVALID_STATE, id, "is neither FAILED nor waiting");
        };
    }

    private static RefusedException refused(Code code, JobId id, String why) {
        return new RefusedException(code, "Job " + id + " " + why);
    }

    private Job require(JobId id) {
        return store.find(id).orElseThrow(() -> refused(Code.NOT_FOUND, id, "does not exist"));
    }

    private boolean isExhausted(Job job) {
        RetryPolicy policy = policies.apply(job);
        boolean spent = policy.maxAttempts()
                .toOptional()
                .filter(limit -> job.counts().spent(policy) >= limit)
                .isPresent();
        return spent || job.failReason() == FailReason.EXHAUSTED;
    }

    private Duration nextDelay(Job job) {
        RetryPolicy policy = policies.apply(job);
        return policy.delay(Math.max(1, job.counts().spent(policy)), job.times().lastDelay(), random);
    }

    private static @Nullable Duration window(Job job) {
        return job.policy().complete().deadline().toOptional().orElse(null);
    }

    /**
     * Tells listeners about a change that is stored. If the job cannot be read again, the change stays and a warning is
     * logged.
     */
    private void tell(JobEvent.Kind kind, JobId id) {
        try {
            store.find(id).ifPresent(job -> events.published(kind, job, clock.now()));
        } catch (StoreException e) {
            log.warn("{} of job {} is done but was not told: {}", kind, id, e.getMessage());
        }
    }

    private void setPaused(String name, boolean paused) {
        if (!store.pauseSchedule(name, paused, note)) {
            throw new RefusedException(Code.NOT_FOUND, "Schedule '" + name + "' does not exist");
        }
    }

    private void syncNow() {
        if (engine != null) {
            engine.syncNow();
        }
    }

    private void wake() {
        if (engine != null) {
            engine.wake();
        }
    }
}
