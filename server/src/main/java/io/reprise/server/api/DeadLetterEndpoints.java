// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import io.reprise.Bulk;
import io.reprise.Replay;
import io.reprise.insight.DeadGroup;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.server.auth.Tenancy;
import io.reprise.server.http.Answer;
import io.reprise.server.http.Endpoints;
import io.reprise.server.http.Fields;
import io.reprise.server.http.Operation;
import io.reprise.server.http.Problem;
import io.reprise.server.http.Request;
import io.reprise.server.http.Response;
import io.reprise.server.http.Schema;
import io.reprise.server.http.Scope;
import io.reprise.server.search.JobSearch;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Endpoints of dead letters: list, replay and discard. */
public final class DeadLetterEndpoints implements Endpoints {

    private static final String SECTION = "Dead letters";
    private static final int MAX_BULK = 10_000;
    private static final int MAX_PATCH = 10_000;

    private static final Schema GROUP = Schema.object()
            .must("fingerprint", Schema.text(1, 100).orNull())
            .must(
                    "count",
                    Schema.integer(1, Integer.MAX_VALUE)
                            .about("dead letters of the group among those that this page looked at"))
            .must("firstAt", Schema.time())
            .must("lastAt", Schema.time())
            .must("error", Schemas.ERROR)
            .must("latest", Schemas.JOB_SUMMARY)
            .named("DeadGroup");

    /** The schema of a patch. */
    public static final Schema PATCH = Schema.json()
            .about("changes to the payload: a JSON merge patch (RFC 7396), an object whose members are set, or removed"
                    + " by null");

    private static final Schema REPLAY = Schema.object()
            .may("newId", Schema.bool().about("as a new job, discarding this one"))
            .may("keepCounters", Schema.bool().about("go on counting, instead of starting at zero"))
            .may("queue", Schema.name().about("another queue"))
            .may("payload", Schema.json().about("another payload"))
            .may("patch", PATCH)
            .may("why", Schema.text(0, 500))
            .named("Replay");

    private static final Schema BULK = Schema.object()
            .must("action", Schema.choice(List.of("replay", "discard")))
            .may("filter", Schemas.FILTER)
            .may("q", Filters.SEARCH.about("a search, beside the filter: only what a filter has words for"))
            .may("limit", Schema.integer(1, MAX_BULK).about("jobs at most; 10000 unless given"))
            .may("dryRun", Schema.bool().about("only count"))
            .may("newId", Schema.bool())
            .may("keepCounters", Schema.bool())
            .may("queue", Schema.name())
            .may("why", Schema.text(0, 500))
            .named("BulkRequest");

    private static final Schema BULK_RESULT = Schema.object()
            .must("matched", Schema.integer(0, MAX_BULK))
            .must("done", Schema.integer(0, MAX_BULK))
            .must("dryRun", Schema.bool())
            .must("refused", Schema.map(Schema.text(0, 2_000)).about("why, by id, for the first 100"))
            .named("BulkResult");

    private final Api api;

    public DeadLetterEndpoints(Api api) {
        this.api = api;
    }

    @Override
    public List<Operation> operations() {
        return List.of(
                Filters.withPayloads(Filters.paged(
                                Filters.parameters(Filters.searched(Operation.get("/v1/dead-letters", "listDeadLetters")
                                        .section(SECTION)
                                        .summary("Dead letters that match, newest first")
                                        .scope(Scope.READ)))))
                        .answers(200, "a page of jobs", Schemas.JOB_PAGE)
                        .does(this::list),
                Filters.parameters(Operation.get("/v1/dead-letters/groups", "groupDeadLetters")
                                .section(SECTION)
                                .summary(
                                        "Dead letters by what they failed of, the largest group first. A page groups the newest 10,000; the"
                                                + " next one goes on with older ones, and may have the same groups again")
                                .scope(Scope.READ))
                        .query("limit", Schema.integer(1, 1_000), "groups at most; 100 unless given")
                        .query("cursor", Schemas.CURSOR, "what the page before called next")
                        .answers(200, "the groups", Schemas.page(GROUP, "DeadGroups"))
                        .does(this::groups),
                Operation.post("/v1/dead-letters/{id}/replay", "replayDeadLetter")
                        .section(SECTION)
                        .summary("Put one dead letter back, if need be with another payload or queue")
                        .scope(Scope.OPERATE)
                        .path("id", Schema.id(), "id of the job")
                        .optionalBody(REPLAY)
                        .answers(200, "the job as it is now", Schemas.JOB_WITH_PAYLOAD)
                        .does(this::replay),
                Operation.post("/v1/dead-letters/{id}/discard", "discardDeadLetter")
                        .section(SECTION)
                        .summary("Delete one dead letter with its history")
                        .scope(Scope.OPERATE)
                        .path("id", Schema.id(), "id of the job")
                        .optionalBody(Schemas.WHY)
                        .answers(204, "it is gone")
                        .does(this::discard),
                Operation.post("/v1/dead-letters/bulk", "bulkDeadLetters")
                        .section(SECTION)
                        .summary(
                                "Replay or discard every dead letter that matches; see /v1/replays for doing it slowly")
                        .scope(Scope.OPERATE)
                        .body(BULK)
                        .answers(200, "what was done", BULK_RESULT)
                        .does(this::bulk));
    }

    private Answer list(Request request) {
        Tenancy tenancy = Tenancy.of(request.caller());
        JobQuery query = Filters.page(Filters.query(request, tenancy), request).state(JobState.FAILED);
        return Pages.searched(
                api.reprise(), Filters.search(request, query, api.store().now()), request);
    }

    private Answer groups(Request request) {
        Tenancy tenancy = Tenancy.of(request.caller());
        JobQuery query = Filters.query(request, tenancy).brief().after(request.parameter("cursor"));
        try {
            return Response.ok(Views.page(
                    api.reprise().deadGroups(query, request.integer("limit", 100)), group -> view(group, tenancy)));
        } catch (IllegalArgumentException e) {
            throw Problem.invalid("cursor", "is not one that a page called next");
        }
    }

    private static Map<String, @Nullable Object> view(DeadGroup group, Tenancy tenancy) {
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("fingerprint", group.fingerprint());
        view.put("count", group.count());
        view.put("firstAt", group.firstAt());
        view.put("lastAt", group.lastAt());
        view.put("error", Views.error(group.latest().status().lastError()));
        view.put("latest", Views.brief(group.latest(), tenancy));
        return view;
    }

    private Answer replay(Request request) {
        Tenancy tenancy = Tenancy.of(request.caller());
        Job job = api.job(request);
        for (String edit : List.of("payload", "patch")) {
            if (request.fields().mentions(edit) && JobRequests.isReserved(job.type())) {
                throw Problem.invalid(
                        "/" + edit, "changes what is the server's own for jobs of this type; replay it as it is");
            }
        }
        Replay how = edited(request.fields(), replay(request.fields(), tenancy));
        JobId id = api.as(request).replay(job.id(), admitted(request, how));
        return Response.ok(Views.job(api.job(request, id.toString()), tenancy));
    }

    /** Checks a replay against the quotas: another queue may be one too many, and another payload too long. */
    private Replay admitted(Request request, Replay replay) {
        if (replay.queue() != null) {
            api.quotas().queue(request.caller(), replay.queue());
        }
        api.quotas().keep(request.caller(), replay.payload());
        api.quotas().keep(request.caller(), replay.patch());
        return replay;
    }

    public static Replay replay(Fields fields, Tenancy tenancy) {
        String payload = fields.mentions("payload") ? fields.json("payload") : null;
        if (payload != null && payload.length() > JobSpec.MAX_PAYLOAD_BYTES / 3) {
            throw Problem.invalid("/payload", "is too long to be edited; enqueue a new job");
        }
        return new Replay(
                fields.flag("newId"),
                fields.flag("keepCounters"),
                tenancy.storedOrNull("queue", fields.text("queue")),
                payload,
                null);
    }

    /**
     * Returns the replay with the patch of these fields, if they have one.
     *
     * @throws Problem if it is no patch
     */
    public static Replay edited(Fields fields, Replay replay) {
        if (!fields.mentions("patch")) {
            return replay;
        }
        if (replay.payload() != null) {
            throw Problem.invalid("/patch", "cannot stand beside a payload");
        }
        String patch = fields.json("patch");
        if (patch.length() > MAX_PATCH) {
            throw Problem.invalid("/patch", "has " + patch.length() + " characters; at most " + MAX_PATCH + " are");
        }
        try {
            return replay.withPatch(patch);
        } catch (IllegalArgumentException e) {
            throw Problem.invalid("/patch", "cannot be: " + e.getMessage());
        }
    }

    private Answer discard(Request request) {
        Job job = api.job(request);
        api.as(request).discard(job.id());
        return Response.noContent();
    }

    private Answer bulk(Request request) {
        Tenancy tenancy = Tenancy.of(request.caller());
        Fields fields = request.fields();
        JobSearch search = JobSearch.parse(
                fields.text("q", ""),
                Filters.query(fields.in("filter"), tenancy).state(JobState.FAILED),
                tenancy,
                api.store().now());
        if (!search.isQuery()) {
            throw Problem.invalid(
                    "/q",
                    "of a bulk may hold only state, type, queue, resource, tag, error (a fingerprint), schedule,"
                            + " batch, since and before, each with one value");
        }
        JobQuery query = search.query();
        Bulk bulk = api.as(request).all(query).limit(fields.integer("limit", MAX_BULK));
        boolean dryRun = fields.flag("dryRun");
        bulk = dryRun ? bulk.dryRun() : bulk;
        Bulk.Result result = fields.text("action", "").equals("discard")
                ? bulk.discard()
                : bulk.replay(admitted(request, replay(fields, tenancy)));
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("matched", result.matched());
        view.put("done", result.done());
        view.put("dryRun", dryRun);
        Map<String, String> refused = new TreeMap<>();
        result.refused().forEach((id, why) -> refused.put(id.toString(), why));
        view.put("refused", refused);
        return Response.ok(view);
    }
}
