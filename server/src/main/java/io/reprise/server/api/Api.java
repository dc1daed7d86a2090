// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import io.reprise.Job;
import io.reprise.JobId;
import io.reprise.Operations;
import io.reprise.PayloadCodec;
import io.reprise.Reprise;
import io.reprise.server.auth.Quotas;
import io.reprise.server.auth.Tenancy;
import io.reprise.server.delivery.HttpJobCheck;
import io.reprise.server.http.Problem;
import io.reprise.server.http.Request;
import io.reprise.store.JobStore;
import java.util.function.Supplier;

/**
 * What all parts of the API work with.
 *
 * @param calls looks at jobs that are calls
 * @param codec how payloads are stored
 * @param quotas what tenants may have
 */
public record Api(Reprise reprise, JobStore store, HttpJobCheck calls, PayloadCodec codec, Quotas quotas) {

    /** The job of the path, if the caller may know of it. @throws Problem if not, as if there were none */
    Job job(Request request) {
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

    /** Operations in the caller's name, for the reason the body or the query gives. */
    Operations as(Request request) {
        String why = request.fields().text("why");
        return reprise.as(request.caller().name(), why);
    }
}
