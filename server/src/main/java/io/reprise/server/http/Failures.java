// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import io.reprise.job.DuplicateKeyException;
import io.reprise.job.KeyReusedException;
import io.reprise.job.RefusedException;
import io.reprise.remote.StaleLeaseException;
import io.reprise.settings.CeilingException;
import io.reprise.store.StoreException;
import org.jspecify.annotations.Nullable;

/**
 * Turns a failure into a problem for the caller: with the reason if the caller may know it, otherwise without details.
 */
final class Failures {

    private Failures() {}

    /**
     * Turns a failure into a problem.
     *
     * @param caller who is told; names of queues are as this caller knows them. Null if nobody was let in
     */
    static Problem problem(Throwable failure, @Nullable Caller caller) {
        if (failure instanceof Problem problem) {
            return problem;
        }
        if (failure instanceof RefusedException refused) {
            return Problem.of(type(refused.code()), String.valueOf(refused.getMessage()));
        }
        if (failure instanceof DuplicateKeyException duplicate) {
            // The key itself is as it is stored, with the tenant's name.
            return Problem.of(
                    ProblemType.KEY_TAKEN,
                    "The unique key is held by live job " + duplicate.holder()
                            + ": wait for it to end, cancel it, or send keyRule KEEP, REPLACE or FOLLOW");
        }
        if (failure instanceof KeyReusedException reused) {
            return Problem.of(
                    ProblemType.KEY_REUSED,
                    "The key belongs to job " + reused.job() + ", which another request enqueued");
        }
        if (failure instanceof CeilingException ceiling) {
            return refused(ceiling, caller == null ? null : caller.tenant());
        }
        if (failure instanceof StaleLeaseException stale) {
            return Problem.of(ProblemType.STALE_LEASE, String.valueOf(stale.getMessage()));
        }
        if (failure instanceof StoreException store && store.isTransient()) {
            return Problem.of(ProblemType.UNAVAILABLE, "The store does not answer; try again")
                    .header("Retry-After", "1");
        }
        return Problem.of(ProblemType.INTERNAL, "The server failed; its log says why");
    }

    /** The message of the exception has the name of the queue as it is stored, with the tenant's name. */
    private static Problem refused(CeilingException ceiling, @Nullable String tenant) {
        String stored = ceiling.queue();
        String queue =
                tenant != null && stored.startsWith(tenant + '/') ? stored.substring(tenant.length() + 1) : stored;
        return switch (ceiling.kind()) {
            case DEPTH ->
                Problem.of(
                                ProblemType.QUEUE_FULL,
                                "Queue '" + queue + "' would hold " + ceiling.value() + " jobs but must hold at most "
                                        + ceiling.ceiling() + ": try again when workers have caught up")
                        .header(
                                "Retry-After",
                                Long.toString(ceiling.retryAfter().toSeconds()));
            case PAYLOAD ->
                Problem.invalid(
                        "/payload",
                        "is " + ceiling.value() + " bytes but in queue '" + queue + "' must be at most "
                                + ceiling.ceiling());
        };
    }

    private static ProblemType type(RefusedException.Code code) {
        return switch (code) {
            case NOT_FOUND -> ProblemType.NOT_FOUND;
            case INVALID_STATE -> ProblemType.INVALID_STATE;
            case NOT_RETRYABLE -> ProblemType.NOT_RETRYABLE;
            case MAX_RETRIES_EXCEEDED -> ProblemType.MAX_RETRIES_EXCEEDED;
            case KEY_TAKEN -> ProblemType.KEY_TAKEN;
            case OUT_OF_BOUNDS -> ProblemType.INVALID_REQUEST;
        };
    }
}
