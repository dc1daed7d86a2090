// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import io.reprise.job.JobQuery;
import io.reprise.job.JobState;
import io.reprise.server.auth.Tenancy;
import io.reprise.server.http.Fields;
import io.reprise.server.http.Json;
import io.reprise.server.http.Operation;
import io.reprise.server.http.Problem;
import io.reprise.server.http.Request;
import io.reprise.server.http.Schema;
import io.reprise.server.search.JobSearch;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Stream;
import tools.jackson.databind.node.ObjectNode;

/**
 * Filters for jobs, from query parameters or from an object in a body. A tenant's filter finds only jobs of the tenant.
 */
public final class Filters {

    private static final List<String> TEXTS = List.of("queue", "type", "resource", "tag", "fingerprint", "schedule");

    static final Schema SEARCH = Schema.text(0, JobSearch.MAX_LENGTH);

    private Filters() {}

    static Operation.Builder parameters(Operation.Builder operation) {
        return operation
                .query("queue", Schema.name(), "only of this queue")
                .query("type", Schema.name(), "only of this type")
                .query("resource", Schema.name(), "only of this resource")
                .query("tag", Schema.name(), "only with this tag")
                .query("fingerprint", Schema.text(1, 100), "only those that last failed of this error")
                .query("schedule", Schema.name(), "only those this schedule created")
                .query("since", Schema.time(), "created then or later")
                .query("before", Schema.time(), "created before");
    }

    static Operation.Builder searched(Operation.Builder operation) {
        return operation.query("q", SEARCH, "a search in one line, such as state:failed type:bill attempt:>3");
    }

    /** Returns the search of the parameters and of {@code q} together. */
    static JobSearch search(Request request, JobQuery query, Instant now) {
        String text = Objects.requireNonNullElse(request.parameter("q"), "");
        return JobSearch.parse(text, query, Tenancy.of(request.caller()), now);
    }

    static Operation.Builder paged(Operation.Builder operation) {
        return operation
                .query("limit", Schemas.LIMIT, "items per page; 100 unless given")
                .query("cursor", Schemas.CURSOR, "what the page before called next");
    }

    static Operation.Builder withPayloads(Operation.Builder operation) {
        return operation.query(
                "payloads", Schema.bool(), "true for payloads and results too; a page then ends after about 4 MB");
    }

    public static JobQuery query(Request request, Tenancy tenancy) {
        ObjectNode object = Json.object();
        Stream.concat(TEXTS.stream(), Stream.of("since", "before")).forEach(name -> {
            String value = request.parameter(name);
            if (value != null) {
                object.put(name, value);
            }
        });
        return query(new Fields(object), tenancy);
    }

    public static JobQuery query(Fields fields, Tenancy tenancy) {
        JobQuery query = JobQuery.all().queuePrefix(tenancy.prefix());
        for (String name : TEXTS) {
            String value = fields.text(name);
            if (value != null) {
                query = with(query, name, value, tenancy);
            }
        }
        query = fields.time("since") == null ? query : query.createdFrom(fields.time("since"));
        return fields.time("before") == null ? query : query.createdBefore(fields.time("before"));
    }

    private static JobQuery with(JobQuery query, String name, String value, Tenancy tenancy) {
        return switch (name) {
            case "queue" -> query.queue(tenancy.stored(name, value));
            case "type" -> query.type(value);
            case "resource" -> query.resource(tenancy.stored(name, value));
            case "tag" -> query.tag(value);
            case "fingerprint" -> query.fingerprint(value);
            default -> query.schedule(tenancy.stored(name, value));
        };
    }

    static JobQuery page(JobQuery query, Request request) {
        return query.limit(request.integer("limit", 100)).after(request.parameter("cursor"));
    }

    /** Parses states, one or several between commas. */
    static JobQuery states(JobQuery query, Request request) {
        String text = request.parameter("state");
        if (text == null) {
            return query;
        }
        try {
            JobState[] states = Arrays.stream(text.split(",", -1))
                    .map(name -> JobState.valueOf(name.trim().toUpperCase(Locale.ROOT)))
                    .toArray(JobState[]::new);
            return query.state(states[0], states);
        } catch (IllegalArgumentException e) {
            throw Problem.invalid("state", "must be one or more of " + Arrays.toString(JobState.values()));
        }
    }
}
