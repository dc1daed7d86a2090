// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.batch.Membership;
import io.reprise.failure.Failure;
import io.reprise.internal.run.RemoteRuns;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.PayloadException;
import io.reprise.job.Progress;
import io.reprise.job.RefusedException;
import io.reprise.remote.RemoteJoin;
import io.reprise.remote.RemoteLease;
import io.reprise.remote.RemoteLog;
import io.reprise.remote.RemoteReport;
import io.reprise.remote.StaleLeaseException;
import io.reprise.step.StoredStep;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Gives jobs to workers outside this process and takes their reports. Obtained from {@link Reprise#remoteWorkers}.
 * Policies, breakers and budgets apply as for handlers in this process. Any process on the same store accepts reports
 * on a lease, not only the process that gave it. Thread-safe.
 *
 * <p>A method that takes a key throws {@link StaleLeaseException} if the lease is lost. Then another run decides about
 * the job.
 *
 * @since 0.1.0
 */
public final class RemoteWorkers {

    private final RemoteRuns runs;

    RemoteWorkers(RemoteRuns runs) {
        this.runs = runs;
    }

    /**
     * Leases jobs that may run now. Returns at once, with an empty list if there are none. A job that a breaker holds
     * back is parked and not returned.
     */
    public List<RemoteLease> lease(RemoteLease.LeaseRequest leaseRequest) {
        return runs.lease(leaseRequest);
    }

    /**
     * Renews a lease, and stores the progress of the run.
     *
     * @param term how long the lease lasts from now, 1 s to 12 h
     * @param progress the latest progress; null leaves the stored progress as it is
     * @return true if a person has cancelled the job; then stop the run and report it as cancelled
     * @throws StaleLeaseException if the lease is lost, or if the run has taken longer than the timeout of the job. In
     *     the second case the attempt is settled as failed with class TIMEOUT
     * @throws IllegalArgumentException if {@code term} is outside its bounds
     */
    public boolean heartbeat(RemoteLease.Key key, Duration term, @Nullable Progress progress) {
        return heartbeat(key, term, progress, null);
    }

    /**
     * Renews a lease as {@link #heartbeat(RemoteLease.Key, Duration, Progress)} does, and stores new log lines.
     *
     * @param log new lines; null for none
     */
    public boolean heartbeat(RemoteLease.Key key, Duration term, @Nullable Progress progress, @Nullable RemoteLog log) {
        return runs.renew(key, RemoteLease.requireTerm(term), progress, log);
    }

    /**
     * Returns the steps that a job has stored, in their order, with values as they were before they were stored. A worker
     * asks before its first step, and skips those that are DONE.
     *
     * @throws StaleLeaseException if the lease is lost
     */
    public List<StoredStep> steps(RemoteLease.Key key) {
        return runs.steps(key);
    }

    /**
     * Stores a step that is done. A second call under the same lease with the same result is accepted and changes
     * nothing.
     *
     * @param step name with the form of {@link JobSpec#requireName}
     * @param result JSON text; null for none
     * @throws StaleLeaseException if the lease is lost; nothing is changed
     * @throws RefusedException if the step is stored already (INVALID_STATE)
     * @throws PayloadException if the result is too long, or the job has too many steps
     */
    public void checkpoint(RemoteLease.Key key, String step, @Nullable String result) {
        runs.checkpoint(key, JobSpec.requireName("step", step), result, false);
    }

    /**
     * Stores that a step has started which must not run twice. A run that finds it STARTED must not run it, and reports
     * that it failed in this step: see {@link RemoteReport#in}.
     *
     * @param step name with the form of {@link JobSpec#requireName}
     * @throws StaleLeaseException if the lease is lost; nothing is changed
     * @throws RefusedException if the step is stored already (INVALID_STATE)
     */
    public void start(RemoteLease.Key key, String step) {
        runs.checkpoint(key, JobSpec.requireName("step", step), null, true);
    }

    /**
     * Ends the run until a time. The next run asks again and goes on.
     *
     * @param step name with the form of {@link JobSpec#requireName}
     * @param duration 0 to 36,500 days, from the first call for this step
     * @return true if the run has ended; false if the sleep is over and the run goes on
     * @throws StaleLeaseException if the lease is lost, and nothing is changed; or if the sleep would end after the
     *     deadline of the job, and the job has failed
     * @throws RefusedException if the name is one of a step or an event (INVALID_STATE)
     * @throws PayloadException if the job has too many steps
     */
    public boolean sleep(RemoteLease.Key key, String step, Duration duration) {
        return runs.pause(key, JobSpec.requireName("step", step), StoredStep.Kind.SLEEP, requireWait(duration));
    }

    /**
     * Ends the run until somebody tells the job an event, or the wait has lasted too long. The next run asks again: it
     * finds the event among {@link #steps}, or it is too late.
     *
     * @param event name with the form of {@link JobSpec#requireName}
     * @param timeout 0 to 36,500 days, from the first call for this event
     * @return true if the run has ended; false if the event is there or too late, and the run goes on
     * @throws StaleLeaseException if the lease is lost, and nothing is changed; or if the wait would end after the
     *     deadline of the job, and the job has failed
     * @throws RefusedException if the name is one of a step or a sleep (INVALID_STATE)
     * @throws PayloadException if the job has too many steps
     */
    public boolean await(RemoteLease.Key key, String event, Duration timeout) {
        return runs.pause(key, JobSpec.requireName("event", event), StoredStep.Kind.EVENT, requireWait(timeout));
    }

    /**
     * Stores other jobs once, and ends the run until all of them have ended. The next run asks again, and gets their
     * results. The jobs of a later call for the same step are not looked at.
     *
     * @param step name with the form of {@link JobSpec#requireName}
     * @param jobs at most {@value Membership#MAX_CHILDREN} jobs without unique and idempotency keys
     * @throws StaleLeaseException if the lease is lost; nothing is changed
     * @throws RefusedException if the name is one of another kind of step, or the join cannot go on (INVALID_STATE)
     * @throws IllegalArgumentException if there are too many jobs, or one has a key
     * @throws PayloadException if the job has too many steps
     */
    public RemoteJoin join(RemoteLease.Key key, String step, List<? extends JobRequest<?>> jobs) {
        return runs.join(key, JobSpec.requireName("step", step), jobs);
    }

    /**
     * Stores more members of the batch that the job is in, all or none. The batch may be closed: while the job runs it
     * cannot end. They stay even if the run fails and is retried: give them idempotency keys.
     *
     * @return the ids, in the order of the jobs
     * @throws StaleLeaseException if the lease is lost; nothing is changed
     * @throws RefusedException if the job is in no batch, or is one of a join (INVALID_STATE)
     * @throws IllegalArgumentException if a job has a unique key under another rule than KEEP
     */
    public List<JobId> addToBatch(RemoteLease.Key key, List<? extends JobRequest<?>> jobs) {
        return runs.addToBatch(key, jobs);
    }

    private static Duration requireWait(Duration wait) {
        if (wait.isNegative() || wait.compareTo(JobSpec.MAX_DELAY) > 0) {
            throw new IllegalArgumentException("A wait must be 0 to " + JobSpec.MAX_DELAY + ", not " + wait);
        }
        return wait;
    }

    /**
     * Takes reports on many runs in a few calls of the store. Each report is accepted or refused by itself. A report
     * that is repeated under the same lease is accepted again and counts once; only a repeated release is refused.
     *
     * @param check called with the job of each report before anything is changed. If it throws, the exception is the
     *     answer to that report
     * @return one answer for each report, in their order
     */
    public List<RemoteReport.Answer> report(List<RemoteReport> reports, Consumer<Job> check) {
        return runs.report(reports, check);
    }

    /** Takes reports on many runs without a check, otherwise as {@link #report(List, Consumer)} does. */
    public List<RemoteReport.Answer> report(List<RemoteReport> reports) {
        return report(reports, job -> {});
    }

    private void one(RemoteReport report) {
        RuntimeException refusal = report(List.of(report)).get(0).refusal();
        if (refusal != null) {
            throw refusal;
        }
    }

    /**
     * Reports that the run succeeded. A second call under the same lease is accepted and changes nothing.
     *
     * @param result JSON text, stored as the result of the job; null for none
     * @throws StaleLeaseException if the lease is lost; nothing is changed
     */
    public void complete(RemoteLease.Key key, @Nullable String result) {
        one(RemoteReport.completed(key, result));
    }

    /**
     * Reports that the run failed. The retry policy decides whether the job is retried. A second call under the same
     * lease is accepted and changes nothing.
     *
     * @throws StaleLeaseException if the lease is lost; nothing is changed
     */
    public void fail(RemoteLease.Key key, Failure failure) {
        one(RemoteReport.failed(key, failure));
    }

    /**
     * Asks for the job again after the delay. Nothing failed, and no attempt is spent. A second call under the same
     * lease is accepted and changes nothing.
     *
     * @param delay 0 to 36,500 days
     * @throws IllegalArgumentException if {@code delay} is outside these bounds
     * @throws StaleLeaseException if the lease is lost; nothing is changed
     */
    public void snooze(RemoteLease.Key key, Duration delay) {
        one(RemoteReport.snoozed(key, delay));
    }

    /**
     * Ends the job as CANCELLED. A second call under the same lease is accepted and changes nothing.
     *
     * @param why the reason, kept with the attempt
     * @throws StaleLeaseException if the lease is lost; nothing is changed
     */
    public void cancel(RemoteLease.Key key, String why) {
        one(RemoteReport.cancelled(key, why));
    }

    /**
     * Gives the job back unchanged, before it was started. No attempt is spent.
     *
     * @throws StaleLeaseException if the lease is lost, also at a second call; nothing is changed
     */
    public void release(RemoteLease.Key key) {
        one(RemoteReport.released(key));
    }
}
