// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import io.reprise.Job;
import io.reprise.JobRequest;
import io.reprise.JobSpec;
import io.reprise.server.auth.Tenancy;
import io.reprise.server.http.Fields;
import io.reprise.server.http.Json;
import io.reprise.server.http.Problem;
import io.reprise.server.http.ProblemType;
import io.reprise.server.http.Request;
import io.reprise.store.Inserted;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A request to enqueue under an {@code Idempotency-Key}. Its jobs get the key, and a tag made of the whole body, by which a
 * later request under the same key can be told from a repetition of this one for as long as the jobs are kept.
 */
final class KeyedRequest {

    private static final String TAG = "request:";
    private static final int TAG_BYTES = 16;

    private final Request request;
    private final Tenancy tenancy;
    private final String key;
    private final String tag;

    private KeyedRequest(Request request, Tenancy tenancy, String key) {
        this.request = request;
        this.tenancy = tenancy;
        this.key = key;
        this.tag = TAG + hash(canonical(request.body()).toString());
    }

    /** Null if the request has no such key. */
    static @Nullable KeyedRequest of(Request request, Tenancy tenancy) {
        String key = request.parameter("Idempotency-Key");
        return key == null ? null : new KeyedRequest(request, tenancy, key);
    }

    /** What all of its jobs are tagged with, and no others. */
    String tag() {
        return tag;
    }

    /** The jobs with the key; those of an array with their number behind it. */
    List<JobRequest<JsonNode>> keyed(List<JobRequest<JsonNode>> jobs) {
        JsonNode body = request.body();
        List<JobRequest<JsonNode>> keyed = new ArrayList<>();
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
            String own = body.isArray() ? key + "#" + i : key;
            String stored = tenancy.storedKey("Idempotency-Key", own);
            try {
                keyed.add(jobs.get(i).tags(tags.toArray(String[]::new)).idempotencyKey(stored == null ? own : stored));
            } catch (IllegalArgumentException e) {
                throw invalid(String.valueOf(e.getMessage()));
            }
        }
        return keyed;
    }

    /** A key that was used for something else is a mistake that must not pass for a success. */
    void requireSame(List<Inserted> inserted, Api api) {
        for (Inserted one : inserted) {
            Job job = one.created() ? null : api.reprise().find(one.id()).orElse(null);
            if (job != null && !job.spec().tags().contains(tag)) {
                undo(inserted, api);
                throw Problem.of(
                        ProblemType.KEY_REUSED,
                        "The key belongs to job " + job.id() + ", which another request enqueued");
            }
        }
    }

    /** An array that is longer than the one before leads to jobs of which the end is new. */
    private void undo(List<Inserted> inserted, Api api) {
        inserted.stream()
                .filter(Inserted::created)
                .forEach(one -> api.reprise()
                        .as(request.caller().name(), "its idempotency key was used for another request")
                        .cancel(one.id()));
    }

    private static Problem invalid(String message) {
        return Problem.invalid("Idempotency-Key", message);
    }

    /** The same for the same content, whatever the order of members. */
    private static JsonNode canonical(JsonNode node) {
        if (node.isObject()) {
            ObjectNode sorted = Json.object();
            new TreeSet<>(node.propertyNames()).forEach(name -> sorted.set(name, canonical(node.get(name))));
            return sorted;
        }
        if (node.isArray()) {
            ArrayNode all = Json.array();
            node.forEach(each -> all.add(canonical(each)));
            return all;
        }
        return node;
    }

    private static String hash(String text) {
        try {
            byte[] sum = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(sum, 0, TAG_BYTES);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("This Java has no SHA-256", e);
        }
    }
}
