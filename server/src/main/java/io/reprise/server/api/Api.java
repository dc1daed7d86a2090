// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import io.reprise.Operations;
import io.reprise.PayloadCodec;
import io.reprise.Reprise;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.QueueState;
import io.reprise.server.auth.Quotas;
import io.reprise.server.auth.Tenancy;
import io.reprise.server.delivery.HttpJobCheck;
import io.reprise.server.http.Problem;
import io.reprise.server.http.Request;
import io.reprise.store.JobStore;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * The objects that all parts of the API share.
 *
 * @param calls checks jobs that are HTTP calls
 * @param codec encodes and encrypts payloads
 * @param quotas limits of tenants
 * @param queues the queues with their counts. Where counting takes long, it is done once for many who ask
 */
public record Api(
        Reprise reprise,
        JobStore store,
        HttpJobCheck calls,
        PayloadCodec codec,
        Quotas quotas,
        Recent<List<QueueState>> queues) {

    public Api(Reprise reprise, JobStore store, HttpJobCheck calls, PayloadCodec codec, Quotas quotas) {
        this(reprise, store, calls, codec, quotas, Recent.behind(reprise::queues, System::nanoTime, Api::count));
    }

    /**
     * Returns a queue that has settings or jobs. Counts that are kept may be older than the queue. If it has a job, they are
     * read again; a name without jobs costs no count.
     */
    public Optional<QueueState> queue(String name) {
        Optional<QueueState> known = counted(name);
        if (known.isPresent() || !hasJobs(name)) {
            return known;
        }
        queues.forget();
        return counted(name);
    }

    private Optional<QueueState> counted(String queue) {
        return queues.get().stream().filter(state -> state.name().equals(queue)).findFirst();
    }

    /** Whether a job waits, runs or is dead, or one ended lately. */
    private boolean hasJobs(String queue) {
        return store.depth(queue, 1) > 0
                || Stream.of(JobQuery.deadLetters(), JobQuery.all())
                        .anyMatch(jobs -> !store.find(jobs.queue(queue).limit(1).brief())
                                .items()
                                .isEmpty());
    }

    /** Runs a count beside its callers. */
    static void count(Runnable task) {
        Thread thread = new Thread(task, "reprise-count");
        thread.setDaemon(true);
        thread.start();
    }

    /**
     * Returns the job of the path.
     *
     * @throws Problem "not found" if there is none, or if it is another tenant's
     */
    public Job job(Request request) {
        return job(request, request.path("id"));
    }

    Job job(Request request, String id) {
        Tenancy tenancy = Tenancy.of(request.caller());
        return parse(id, () -> reprise.find(JobId.parse(id)).filter(job -> tenancy.owns(job.queue())))
                .orElseThrow(() -> Problem.notFound("Job " + id));
    }

    private static <T> T parse(String id, Supplier<T> find) {
        try {
            return find.get();
        } catch (IllegalArgumentException e) {
            throw Problem.notFound("Job " + id);
        }
    }

    /** Returns operations in the caller's name, with the reason from the body or the query. */
    public Operations as(Request request) {
        String why = request.fields().text("why");
        return reprise.as(request.caller().name(), why);
    }
}
