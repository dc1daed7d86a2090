// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.internal.BatchSize;
import io.reprise.store.JobQuery;
import io.reprise.store.JobStore;
import io.reprise.store.Page;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * One operation on many jobs, in chunks, each a short transaction of its own: jobs that refuse it are reported and the others
 * go on. The audit log has an entry for the whole, with the query and how many jobs it was, and one for each job. Immutable:
 * options return a copy.
 */
public final class Bulk {

    private static final int MAX_REPORTED = 100;

    private final Operations operations;
    private final JobStore store;
    private final JobQuery query;
    private final int limit;
    private final boolean dryRun;
    private final Predicate<Result> goesOn;

    Bulk(Operations operations, JobStore store, JobQuery query) {
        this(operations, store, query, Integer.MAX_VALUE, false, result -> true);
    }

    private Bulk(
            Operations operations,
            JobStore store,
            JobQuery query,
            int limit,
            boolean dryRun,
            Predicate<Result> goesOn) {
        this.operations = operations;
        this.store = store;
        this.query = query;
        this.limit = limit;
        this.dryRun = dryRun;
        this.goesOn = goesOn;
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
        return new Bulk(operations, store, query, jobs, dryRun, goesOn);
    }

    /** Only count what would be touched. */
    public Bulk dryRun() {
        return new Bulk(operations, store, query, limit, true, goesOn);
    }

    /** Told after each chunk what was done so far; false ends it there. */
    public Bulk watchedBy(Predicate<Result> watcher) {
        return new Bulk(operations, store, query, limit, dryRun, watcher);
    }

    public Result retry(ManualRetry how) {
        return each("retry", operations.retries(how));
    }

    public Result replay(Replay how) {
        return each("replay", operations.replays(how));
    }

    public Result discard() {
        return each("discard", operations.discards());
    }

    public Result cancel() {
        return each("cancel", operations.cancellations());
    }

    private Result each(String action, Operations.Many operation) {
        Result result = new Result(0, 0, Map.of());
        BatchSize size = new BatchSize(200, JobQuery.MAX_LIMIT);
        JobQuery next = query;
        boolean more = true;
        while (more && result.matched < limit) {
            Page<Job> page = store.find(next.limit((int) Math.min(size.rows(), limit - result.matched)));
            result = chunk(page.items(), operation, result, size);
            next = next.after(page.next());
            more = page.next() != null && goesOn.test(result);
        }
        if (result.done > 0) {
            operations.noteBulk(action, query, result);
        }
        return result;
    }

    private Result chunk(List<Job> jobs, Operations.Many operation, Result before, BatchSize size) {
        if (dryRun || jobs.isEmpty()) {
            return new Result(before.matched + jobs.size(), before.done, before.refused);
        }
        Map<JobId, String> refused = new HashMap<>();
        long began = System.nanoTime();
        operation.apply(jobs, refused);
        size.took(System.nanoTime() - began);
        Map<JobId, String> reported = new LinkedHashMap<>(before.refused);
        for (Job job : jobs) {
            String why = refused.get(job.id());
            if (why != null && reported.size() < MAX_REPORTED) {
                reported.put(job.id(), why);
            }
        }
        return new Result(before.matched + jobs.size(), before.done + jobs.size() - refused.size(), reported);
    }
}
