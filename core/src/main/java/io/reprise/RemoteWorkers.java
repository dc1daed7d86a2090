// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.internal.RemoteRuns;
import io.reprise.retry.Failure;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Where workers outside this process get their jobs and say how they went; obtained from {@link Reprise#remoteWorkers}.
 * Outcomes are decided by the same policies, breakers and budgets as those of handlers in this process. Every method that
 * takes a key throws {@link StaleLeaseException}, and changes nothing, if the lease is gone. Any process on the same store
 * can hear about a lease, whichever gave it. Thread-safe.
 */
public final class RemoteWorkers {

    private final RemoteRuns runs;

    RemoteWorkers(RemoteRuns runs) {
        this.runs = runs;
    }

    /** Leases jobs that may run now; empty if there are none. */
    public List<RemoteLease> lease(RemoteLease.Wish wish) {
        return runs.lease(wish);
    }

    /**
     * Keeps a lease for {@code term} from now, and keeps what was reported.
     *
     * @return whether the run shall stop, because somebody cancelled the job
     */
    public boolean heartbeat(RemoteLease.Key key, Duration term, @Nullable Progress progress) {
        return runs.renew(key, RemoteLease.requireTerm(term), progress);
    }

    /**
     * Takes reports of many runs, each for itself, in a few calls of the store. An outcome that was reported before under the
     * same lease is accepted again and counts once.
     *
     * @param check shown the job of each report before anything is changed; what it throws is the answer to that report
     * @return in the order of the reports
     */
    public List<RemoteReport.Answer> report(List<RemoteReport> reports, Consumer<Job> check) {
        return runs.report(reports, check);
    }

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
     * The job succeeded.
     *
     * @param result JSON, or null
     */
    public void complete(RemoteLease.Key key, @Nullable String result) {
        one(RemoteReport.completed(key, result));
    }

    /** The run failed: the policy decides what becomes of the job. */
    public void fail(RemoteLease.Key key, Failure failure) {
        one(RemoteReport.failed(key, failure));
    }

    /** Not a failure: the job comes again after the delay and has spent no attempt. */
    public void snooze(RemoteLease.Key key, Duration delay) {
        one(RemoteReport.snoozed(key, delay));
    }

    /** The job ends as CANCELLED. */
    public void cancel(RemoteLease.Key key, String why) {
        one(RemoteReport.cancelled(key, why));
    }

    /** Gives the job back unstarted, as it was before. */
    public void release(RemoteLease.Key key) {
        one(RemoteReport.released(key));
    }
}
