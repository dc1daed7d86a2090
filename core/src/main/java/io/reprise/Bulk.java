// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.store.Cancellation;
import io.reprise.store.JobQuery;
import io.reprise.store.JobStore;
import io.reprise.store.Page;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;

/**
 * One operation on many jobs, job by job: those that refuse it are reported and the others go on. Immutable: options
 * return a copy.
 */
public final class Bulk {

    private static final int MAX_REPORTED = 100;

    private final Operations operations;
    private final JobStore store;
    private final JobQuery query;
    private final int limit;
    private final boolean dryRun;

    Bulk(Operations operations, JobStore store, JobQuery query) {
        this(operations, store, query, Integer.MAX_VALUE, false);
    }

    private Bulk(Operations operations, JobStore store, JobQuery query, int limit, boolean dryRun) {
        this.operations = operations;
        this.store = store;
        this.query = query;
        this.limit = limit;
        this.dryRun = dryRun;
    }

    /**
     * What was done.
     *
     * @param matched jobs the query found, up to the limit
     * @param done jobs the operation was applied to; 0 in a dry run
     * @param refused why, for the first 100 that refused
     */
    public record Result(long matched, long done, Map<JobId, String> refused) {
        public Result {
            refused = Map.copyOf(refused);
        }
    }

    /** At most so many jobs. */
    public Bulk limit(int jobs) {
        if (jobs < 1) {
            throw new IllegalArgumentException("limit must be at least 1, not " + jobs);
        }
        return new Bulk(operations, store, query, jobs, dryRun);
    }

    /** Only count what would be touched. */
    public Bulk dryRun() {
        return new Bulk(operations, store, query, limit, true);
    }

    public Result retry(ManualRetry how) {
        return each(id -> operations.retry(id, how));
    }

    public Result replay(Replay how) {
        return each(id -> operations.replay(id, how));
    }

    public Result discard() {
        return each(operations::discard);
    }

    public Result cancel() {
        return each(id -> {
            Cancellation answer = operations.cancel(id);
            if (answer != Cancellation.DONE && answer != Cancellation.REQUESTED) {
                throw new RefusedException(RefusedException.Code.INVALID_STATE, "Job " + id + " has ended already");
            }
        });
    }

    private Result each(Consumer<JobId> operation) {
        long matched = 0;
        long done = 0;
        Map<JobId, String> refused = new LinkedHashMap<>();
        JobQuery next = query.limit(JobQuery.MAX_LIMIT);
        boolean more = true;
        while (more) {
            Page<Job> page = store.find(next);
            for (Job job : page.items()) {
                if (matched == limit) {
                    return new Result(matched, done, refused);
                }
                matched++;
                done += dryRun ? 0 : apply(operation, job.id(), refused);
            }
            next = next.after(page.next());
            more = page.next() != null;
        }
        return new Result(matched, done, refused);
    }

    private static int apply(Consumer<JobId> operation, JobId id, Map<JobId, String> refused) {
        try {
            operation.accept(id);
            return 1;
        } catch (RefusedException e) {
            if (refused.size() < MAX_REPORTED) {
                refused.put(id, String.valueOf(e.getMessage()));
            }
            return 0;
        }
    }
}
