// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.internal.upkeep.BatchSize;
import io.reprise.job.Job;
import io.reprise.job.JobChange;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.Page;
import io.reprise.store.JobStore;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * One operation on all jobs that a query finds, newest first. The jobs are changed in chunks, each in a short
 * transaction of its own. A job that refuses the operation is reported, and the others go on. If at least one job was
 * changed, the audit log gets one entry for the whole operation, beside the entry of each job.
 *
 * <p>Obtained from {@link Operations#all}. Immutable: the options return a copy, and the last call of an option wins.
 *
 * @since 0.1.0
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
     * The result of a bulk operation, or its progress so far. Immutable.
     *
     * @param matched number of jobs that the query found, up to the limit
     * @param done number of jobs that were changed; 0 in a dry run
     * @param refused the reason for each of the first 100 jobs that refused, in the order in which they refused
     */
    public record Result(long matched, long done, Map<JobId, String> refused) {
        /** Copies the map. */
        public Result {
            refused = Collections.unmodifiableMap(new LinkedHashMap<>(refused));
        }
    }

    /**
     * Changes at most this many jobs. Without this call there is no limit.
     *
     * @param jobs at least 1
     * @throws IllegalArgumentException if {@code jobs} is less than 1
     */
    public Bulk limit(int jobs) {
        if (jobs < 1) {
            throw new IllegalArgumentException("limit must be at least 1, not " + jobs);
        }
        return new Bulk(operations, store, query, jobs, dryRun, goesOn);
    }

    /**
     * Only counts the jobs that the query finds, and changes nothing. The check whether a job would refuse is not made.
     */
    public Bulk dryRun() {
        return new Bulk(operations, store, query, limit, true, goesOn);
    }

    /**
     * Sets a watcher that is called after each chunk with the result so far. If it returns false, the operation ends
     * there. The watcher is not called after the last chunk.
     */
    public Bulk watchedBy(Predicate<Result> watcher) {
        return new Bulk(operations, store, query, limit, dryRun, watcher);
    }

    /**
     * Retries the jobs, each as {@link Operations#retry} does. Jobs that it would refuse are reported in
     * {@link Result#refused}.
     */
    public Result retry(ManualRetry how) {
        return each("retry", operations.retries(how));
    }

    /**
     * Changes the jobs, each as {@link Operations#change} does. Jobs that it would refuse are reported in
     * {@link Result#refused}.
     *
     * @throws IllegalArgumentException if the change is empty, or a job cannot have the payload
     */
    public Result change(JobChange how) {
        return each("change", operations.changes(how));
    }

    /**
     * Replays the jobs, each as {@link Operations#replay} does. Jobs that are not FAILED are reported in
     * {@link Result#refused}.
     */
    public Result replay(Replay how) {
        return each("replay", operations.replays(how));
    }

    /**
     * Deletes the jobs with their history, each as {@link Operations#discard} does. Jobs that have not ended are
     * reported in {@link Result#refused}.
     */
    public Result discard() {
        return each("discard", operations.discards());
    }

    /**
     * Cancels the jobs, each as {@link Operations#cancel} does. Jobs that have ended are reported in
     * {@link Result#refused}.
     */
    public Result cancel() {
        return each("cancel", operations.cancellations());
    }

    private Result each(String action, Operations.Many operation) {
        Result result = new Result(0, 0, Map.of());
        BatchSize size = new BatchSize(dryRun ? JobQuery.MAX_LIMIT : 200, JobQuery.MAX_LIMIT);
        JobQuery next = dryRun ? query.brief() : query;
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
