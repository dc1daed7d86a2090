// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.internal.RemoteRuns;
import io.reprise.retry.Failure;
import java.time.Duration;
import java.util.List;
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
     * The job succeeded.
     *
     * @param result JSON, or null
     */
    public void complete(RemoteLease.Key key, @Nullable String result) {
        runs.complete(key, result);
    }

    /** The run failed: the policy decides what becomes of the job. */
    public void fail(RemoteLease.Key key, Failure failure) {
        runs.fail(key, failure);
    }

    /** Not a failure: the job comes again after the delay and has spent no attempt. */
    public void snooze(RemoteLease.Key key, Duration delay) {
        runs.signal(key, JobSignal.snooze(delay));
    }

    /** The job ends as CANCELLED. */
    public void cancel(RemoteLease.Key key, String why) {
        runs.signal(key, JobSignal.cancel(why));
    }

    /** Gives the job back unstarted, as it was before. */
    public void release(RemoteLease.Key key) {
        runs.release(key);
    }
}
