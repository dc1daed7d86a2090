// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import io.reprise.JobRequest;
import io.reprise.job.JobSpec;
import io.reprise.server.auth.Tenancy;
import io.reprise.server.http.Fields;
import io.reprise.server.http.Problem;
import io.reprise.server.http.Request;
import io.reprise.store.JobStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.util.RawValue;

/**
 * A request to enqueue under an {@code Idempotency-Key}. Its jobs get the key and a hash of the whole body as proof. So
 * the store can tell a different request under the same key from a repetition, as long as the jobs are kept.
 */
final class KeyedRequest {

    private static final String TAG = "request:";
    private static final String PROOF = "request\n";

    private final Request request;
    private final Tenancy tenancy;
    private final String key;
    private final String place;
    private final String tag;

    private KeyedRequest(Request request, Tenancy tenancy, String key, String place) {
        this.request = request;
        this.place = place;
        this.tenancy = tenancy;
        this.key = key;
        this.tag = TAG + ContentHash.of(stored(key), "{}");
    }

    /** Returns null if the request has no such key. */
    static @Nullable KeyedRequest of(Request request, Tenancy tenancy) {
        return of(request, tenancy, "");
    }

    /**
     * Returns null if the request has no such key.
     *
     * @param batch the batch that gets the jobs. The same body for another batch is a different request
     */
    static @Nullable KeyedRequest ofBatch(Request request, Tenancy tenancy, String batch) {
        return of(request, tenancy, batch + "\n");
    }

    private static @Nullable KeyedRequest of(Request request, Tenancy tenancy, String place) {
        String key = request.parameter("Idempotency-Key");
        return key == null ? null : new KeyedRequest(request, tenancy, key, place);
    }

    /** Returns the tag that all jobs of this request have, and no others. */
    String tag() {
        return tag;
    }

    /** Returns the jobs with the key and its proof. In an array, jobs after the first have their number behind both. */
    List<JobRequest<RawValue>> keyed(List<JobRequest<RawValue>> jobs) {
        JsonNode body = request.body();
        String proof = PROOF + ContentHash.of(place + stored(key), body.toString());
        List<JobRequest<RawValue>> keyed = new ArrayList<>();
        for (int i = 0; i < jobs.size(); i++) {
            Fields fields = new Fields(body.isArray() ? body.get(i) : body);
            if (fields.has("idempotencyKey")) {
                throw invalid("must not be given together with a job's idempotencyKey");
            }
            Set<String> tags = new TreeSet<>(fields.texts("tags"));
            tags.add(tag);
            if (tags.size() > JobSpec.MAX_TAGS) {
                throw invalid("is a tag of each job too, and with it there may be " + JobSpec.MAX_TAGS);
            }
            try {
                keyed.add(jobs.get(i)
                        .tags(tags.toArray(String[]::new))
                        .idempotencyKey(stored(i), i == 0 ? proof : proof + "\n" + i));
            } catch (IllegalArgumentException e) {
                throw invalid(String.valueOf(e.getMessage()));
            }
        }
        return keyed;
    }

    /** Returns whether all jobs of this request are stored already. The answer to it then stores nothing. */
    boolean isStored(JobStore store) {
        int jobs = request.body().isArray() ? request.body().size() : 1;
        return IntStream.range(0, jobs)
                .allMatch(index -> store.findByIdempotencyKey(stored(index)).isPresent());
    }

    /** Returns the key of one job. A line break separates the number, because no header contains one. */
    private String stored(int index) {
        return stored(index == 0 ? key : key + "\n" + index);
    }

    private String stored(String own) {
        String stored = tenancy.storedKey("Idempotency-Key", own);
        return stored == null ? own : stored;
    }

    private static Problem invalid(String message) {
        return Problem.invalid("Idempotency-Key", message);
    }
}
