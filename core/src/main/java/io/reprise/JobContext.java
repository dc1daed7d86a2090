// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.insight.LogLine;
import io.reprise.insight.TraceParent;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSignal;
import io.reprise.job.JobSpec;
import io.reprise.job.PayloadException;
import io.reprise.job.RefusedException;
import io.reprise.job.Transaction;
import io.reprise.remote.StaleLeaseException;
import io.reprise.step.Step;
import io.reprise.step.StepFailedException;
import io.reprise.step.StepWork;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The view that a handler has of its run. Valid only during that run. Thread-safe.
 *
 * @since 0.1.0
 */
public interface JobContext {

    /** Returns the id of the job. */
    JobId id();

    /** Returns the job as it was when the worker claimed it. */
    Job job();

    /** Returns the number of this attempt, from 1. A run that did not count has the same number as the next run. */
    int attempt();

    /**
     * Returns the fencing token of this run. It is greater than the token of any earlier run of this job. Pass it to
     * systems that you write to, so that they can refuse a run that was overtaken.
     */
    long token();

    /**
     * Returns the job that this one follows in a chain; empty if it follows none. {@link Reprise#find(JobId)} reads its
     * result or its error, as long as it is kept.
     */
    Optional<JobId> predecessor();

    /**
     * Stores the progress of this run, for people to see. The last call wins. A database error is logged and not
     * thrown.
     *
     * @param percent 0 to 100
     * @param message any text, cut at 500 characters; null for none
     * @throws IllegalArgumentException if {@code percent} is outside its bounds
     */
    void progress(int percent, @Nullable String message);

    /**
     * Adds a line to the log of this run, for people to see beside the job: see {@link Reprise#log}. Lines are written
     * with the heartbeats of the worker and at the end of the run, so those of the last seconds are lost with a worker
     * that dies. A run keeps {@value LogLine#MAX_LINES} lines and {@value LogLine#MAX_CHARS} characters; more are
     * dropped. Lines are not encrypted.
     *
     * @param line any text; made one line, and cut at {@value LogLine#MAX_LENGTH} characters
     */
    void log(String line);

    /**
     * Sets the result, which is stored if this run succeeds. The last call wins.
     *
     * @param value encoded by the {@link PayloadCodec}
     * @throws PayloadException if the value cannot be encoded, or its stored form has more than
     *     {@value JobSpec#MAX_PAYLOAD_BYTES} bytes
     */
    void result(Object value);

    /**
     * Adds to the cost of this run, for {@link Reprise#costs}. The amounts of several calls are added up. The cost
     * counts also if the run fails. The time of a run is measured in any case.
     *
     * @param amount 0 to 1e12
     * @param unit a name such as {@code usd}, with the form of {@link JobSpec#requireName} but not {@code seconds}; at
     *     most 8 different units in a run
     * @throws IllegalArgumentException if the amount is outside its bounds, the unit is not allowed, or it is the ninth
     *     unit of the run
     */
    void cost(double amount, String unit);

    /**
     * Returns whether this run should end soon: a person cancelled the job, the timeout or the deadline has passed, the
     * lease is lost, or the worker shuts down.
     */
    boolean isCancelled();

    /**
     * Ends the run if it should end, and does nothing otherwise. Call it often in long loops.
     *
     * @throws JobSignal if {@link #isCancelled} is true; let it pass through
     */
    void checkpoint();

    /**
     * Stores another job, as {@link Reprise#enqueue(JobRequest)} does. It stays even if this run fails and is retried:
     * give it an idempotency key, or enqueue it in a transaction together with {@link #complete}.
     *
     * @return the id of the new job, or of the job that its unique or idempotency key led to
     */
    JobId enqueue(JobRequest<?> job);

    /**
     * Stores another job inside the caller's own transaction, as {@link Reprise#enqueue(Transaction, JobRequest)} does.
     *
     * @param transaction the open transaction, from the module of the store
     * @return the id of the new job, or of the job that its unique or idempotency key led to
     */
    JobId enqueue(Transaction transaction, JobRequest<?> job);

    /**
     * Stores more members of the batch that this job is in, all or none. The batch may be closed: while this job runs it
     * cannot end. They stay even if this run fails and is retried: give them idempotency keys.
     *
     * @return the ids, in the order of the jobs
     * @throws IllegalStateException if this job is in no batch
     * @throws RefusedException if the batch has ended, because this run has lost its lease (INVALID_STATE)
     */
    List<JobId> addToBatch(List<? extends JobRequest<?>> jobs);

    /**
     * Names the trace of this run, for code that traces runs. If the run does not succeed, its trace is stored with its
     * outcome, and {@link TraceParent#ofRun} finds it when the job runs again, in whichever process. The last call wins.
     *
     * @param span called at most once, and not after a success
     */
    void tracedAs(Supplier<TraceParent> span);

    /**
     * Completes the job inside the caller's own transaction. The success becomes visible when that transaction commits,
     * and only then. If the transaction rolls back, the job is not completed: return or throw as usual. Call
     * {@link #result} before.
     *
     * @param transaction the open transaction, from the module of the store
     * @throws StaleLeaseException if this run has lost its lease; roll back
     * @throws IllegalArgumentException if the transaction belongs to another kind of store
     */
    void complete(Transaction transaction);

    /**
     * Runs a step without a result, once for the job. A step that is stored is not run again, in whatever run. Its name
     * is its identity: the order of steps may change between versions of the code.
     *
     * <p>If the work fails, this run ends and the policy decides when the next one begins. If no further run of the step
     * is worthwhile, the next run throws {@link StepFailedException} here, so that the handler can undo earlier steps.
     *
     * @param name name with the form of {@link JobSpec#requireName}, once in a run
     * @param work the work. Its effect outside the store may happen again if the worker dies before the step is stored
     * @throws StepFailedException if the step has failed for good
     */
    void step(String name, StepWork work);

    /**
     * Runs a step without a result whose effect is in the caller's own transaction. The step is stored in that transaction
     * after the work, so both commit together: the effect happens exactly once. Commit after this call.
     *
     * @param transaction the open transaction, from the module of the store
     * @throws StepFailedException if the step has failed for good
     * @throws StaleLeaseException if this run has lost its lease; roll back
     */
    void step(String name, Transaction transaction, StepWork work);

    /**
     * Runs a step with a result, once for the job; see {@link #step(String, StepWork)}. The stored result is returned
     * instead of running the work again.
     *
     * @return the result; null if the work returned null
     * @throws StepFailedException if the step has failed for good
     */
    <T> T step(Step<T> step, Callable<T> work);

    /**
     * Runs a step with a result whose effect is in the caller's own transaction; see
     * {@link #step(String, Transaction, StepWork)}.
     *
     * @return the result; null if the work returned null
     * @throws StepFailedException if the step has failed for good
     * @throws StaleLeaseException if this run has lost its lease; roll back
     */
    <T> T step(Step<T> step, Transaction transaction, Callable<T> work);

    /**
     * Returns a key of the step that runs now, for other systems' idempotency keys: the id of the job and the name of the
     * step. It is the same in every run.
     *
     * @throws IllegalStateException if no step runs
     */
    String stepKey();

    /**
     * Waits. The run ends here without an attempt, and the job is due after the duration; the next run goes on behind the
     * sleep. A sleeping job holds no thread and no lease.
     *
     * @param name name with the form of {@link JobSpec#requireName}, once in a run
     * @param duration 0 to 36,500 days, from the first time that a run comes here
     * @throws IllegalArgumentException if {@code duration} is outside these bounds
     */
    void sleep(String name, Duration duration);

    /**
     * Waits for an event that somebody tells the job by {@link Reprise#tell}. The event may have come before. The run ends
     * here without an attempt, and the next run goes on when the event is there. A waiting job holds no thread and no
     * lease.
     *
     * @param event name with the form of {@link JobSpec#requireName}, once in a run
     * @param type class of the event; {@code Void} if only its coming counts, and then the value is not read
     * @param timeout 0 to 36,500 days, from the first time that a run comes here
     * @return the event; null for {@code Void}
     * @throws StepFailedException if nobody told the event in time; from then on the event is refused
     * @throws IllegalArgumentException if {@code timeout} is outside these bounds
     */
    <T> T await(String event, Class<T> type, Duration timeout);

    /**
     * Stores other jobs, once for this job, and waits for all of them. The run ends here without an attempt, and the next
     * run goes on when the last one has ended. Meanwhile the job holds no thread and no lease. Its deadline goes on.
     *
     * @param name name with the form of {@link JobSpec#requireName}, once in a run
     * @param jobs at most {@value io.reprise.batch.Membership#MAX_CHILDREN} jobs without unique or idempotency keys, whose
     *     payloads have together at most {@value io.reprise.batch.Membership#MAX_CHILDREN_BYTES} bytes. They count in the
     *     first run that comes here; later runs do not store them again
     * @param type class of the results, set by {@link #result}; {@code Void} if they do not matter
     * @return the results in the order of the jobs; null for a job without a result
     * @throws StepFailedException if one of the jobs became a dead letter or was cancelled; the message names it. If a person
     *     retries that job and then this one, the join goes on
     * @throws IllegalArgumentException if there are too many jobs, or one has a key
     */
    <T> List<T> join(String name, List<? extends JobRequest<?>> jobs, Class<T> type);
}
