// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.replay;

import io.reprise.Replay;
import io.reprise.insight.DeadGroup;
import io.reprise.job.AuditNote;
import io.reprise.job.Job;
import io.reprise.job.JobQuery;
import io.reprise.job.JobState;
import io.reprise.job.Page;
import io.reprise.job.PayloadException;
import io.reprise.server.api.Api;
import io.reprise.server.api.DeadLetterEndpoints;
import io.reprise.server.api.JobRequests;
import io.reprise.server.api.Schemas;
import io.reprise.server.api.Views;
import io.reprise.server.auth.Quotas;
import io.reprise.server.auth.Tenancy;
import io.reprise.server.delivery.HttpCall;
import io.reprise.server.delivery.HttpDelivery;
import io.reprise.server.http.Answer;
import io.reprise.server.http.Endpoints;
import io.reprise.server.http.Fields;
import io.reprise.server.http.Json;
import io.reprise.server.http.Operation;
import io.reprise.server.http.Problem;
import io.reprise.server.http.ProblemType;
import io.reprise.server.http.Request;
import io.reprise.server.http.Response;
import io.reprise.server.http.Schema;
import io.reprise.server.http.Scope;
import io.reprise.server.replay.PacedReplay.State;
import io.reprise.store.Document;
import io.reprise.store.DocumentStore;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Endpoints of paced replays: a canary first, then at a rate, and stopped when jobs fail again. */
public final class ReplayEndpoints implements Endpoints {

    private static final String SECTION = "Replays";
    private static final int NO_LIMIT = Integer.MAX_VALUE;
    private static final int TRIES = 5;
    private static final int MAX_GROUPS = 1_000;

    /** Dead letters on which a patch is tried before a replay, unless they are very long. */
    private static final int TRIED = 50;

    private static final int TRIED_AT_ONCE = 10;
    private static final int MAX_CHARS = 4 << 20;

    /** Replays of one tenant that are under way, and those that are kept. The replayer reads all of them. */
    private static final int MOST_ACTIVE = 10;

    private static final int MOST_KEPT = 200;

    private static final Schema REQUEST = Schema.object()
            .may("filter", Schemas.FILTER)
            .may("rate", Schema.number(0.01, 500).about("jobs per second; 1 unless given"))
            .may("canary", Schema.integer(1, 100).about("jobs that go first, alone; 1 unless given"))
            .may("stopAt", Schema.number(0.01, 1).about("share of the last 20 that may fail again; 0.2 unless given"))
            .may("limit", Schema.integer(1, NO_LIMIT).about("dead letters to put back at most; all unless given"))
            .may("keepCounters", Schema.bool())
            .may("queue", Schema.name().about("another queue"))
            .may(
                    "patch",
                    DeadLetterEndpoints.PATCH.about("changes to each payload: a JSON merge patch (RFC 7396); the"
                            + " filter must name the type. It is tried on the newest dead letters first"))
            .may("dryRun", Schema.bool().about("only count, and try the patch"))
            .may("why", Schema.text(0, 500))
            .named("ReplayRequest");

    private static final Schema SAMPLE = Schema.object()
            .must("job", Schema.id())
            .must("before", Schema.json())
            .must("after", Schema.json())
            .named("PatchedPayload");

    private static final Schema REPLAY = Schema.object()
            .must("id", Schema.text(1, 100).orNull())
            .must("state", Schema.choice(State.class).orNull())
            .must("note", Schema.text(0, 500).orNull())
            .must("filter", Schemas.FILTER.about("as it was given"))
            .must("rate", Schema.number(0, 500))
            .must("canary", Schema.integer(1, 100))
            .must("stopAt", Schema.number(0, 1))
            .must("limit", Schema.integer(1, NO_LIMIT).orNull())
            .must(
                    "matched",
                    Schema.integer(0, NO_LIMIT)
                            .about(
                                    "dead letters there were when it began, among the newest 10,000 that were looked at"))
            .must("matchedAtLeast", Schema.bool().about("there may have been more; the replay comes to them all"))
            .must("replayed", Schema.integer(0, NO_LIMIT))
            .must("succeeded", Schema.integer(0, NO_LIMIT))
            .must("failed", Schema.integer(0, NO_LIMIT))
            .must("refused", Schema.integer(0, NO_LIMIT))
            .must("inFlight", Schema.integer(0, NO_LIMIT))
            .must(
                    "patched",
                    Schema.array(Schema.text(0, 10_000), 0, 10_000).about("members of the payloads that it changes"))
            .must("sample", SAMPLE.orNull().about("of a dry run with a patch"))
            .must("by", Schema.text(1, 100))
            .must("why", Schema.text(0, 500).orNull())
            .must("createdAt", Schema.time())
            .must("endedAt", Schema.time().orNull())
            .named("PacedReplay");

    private final Api api;
    private final Replayer replayer;

    public ReplayEndpoints(Api api, Replayer replayer) {
        this.api = api;
        this.replayer = replayer;
    }

    @Override
    public List<Operation> operations() {
        return List.of(
                Operation.post("/v1/replays", "startReplay")
                        .section(SECTION)
                        .summary("Put dead letters back slowly, canary first; it stops itself when they fail again")
                        .scope(Scope.OPERATE)
                        .header("Idempotency-Key", Schema.text(1, 200), "the same key starts only one replay")
                        .body(REQUEST)
                        .answers(202, "the replay as it is now", REPLAY)
                        .answers(200, "what it would touch, of a dry run", REPLAY)
                        .does(this::start),
                Operation.get("/v1/replays", "listReplays")
                        .section(SECTION)
                        .summary("Every replay, under way or over")
                        .scope(Scope.READ)
                        .query("limit", Schemas.LIMIT, "replays per page; 100 unless given")
                        .query("cursor", Schema.name(), "what the page before called next")
                        .answers(200, "a page of replays", Schemas.page(REPLAY, "PacedReplays"))
                        .does(this::list),
                Operation.get("/v1/replays/{replay}", "getReplay")
                        .section(SECTION)
                        .summary("How far a replay has come")
                        .scope(Scope.READ)
                        .path("replay", Schema.name(), "id of the replay")
                        .answers(200, "the replay", REPLAY)
                        .does(request ->
                                Response.ok(PacedReplay.read(document(request)).view())),
                Operation.post("/v1/replays/{replay}/cancel", "cancelReplay")
                        .section(SECTION)
                        .summary("Put no more jobs back; those that are back stay")
                        .scope(Scope.OPERATE)
                        .path("replay", Schema.name(), "id of the replay")
                        .optionalBody(Schemas.WHY)
                        .answers(200, "the replay as it is now", REPLAY)
                        .does(this::cancel));
    }

    private Answer start(Request request) {
        Tenancy tenancy = Tenancy.of(request.caller());
        Fields fields = request.fields();
        PacedReplay.Order order = new PacedReplay.Order(
                request.caller().tenant(),
                fields.has("filter") ? fields.node("filter") : Json.object(),
                how(fields),
                fields.number("rate", 1),
                fields.integer("canary", 1),
                fields.number("stopAt", 0.2),
                fields.has("limit") ? fields.integer("limit", 1) : null,
                request.caller().name(),
                fields.text("why"),
                api.store().now());
        Replay how = order.replay(api.codec());
        if (how.queue() != null) {
            api.quotas().queue(request.caller(), how.queue());
        }
        PacedReplay replay = new PacedReplay(tenancy.stored("replay", id(request)), order);
        Page<DeadGroup> groups = api.reprise().deadGroups(order.query().brief(), MAX_GROUPS);
        replay.matched = groups.items().stream().mapToLong(DeadGroup::count).sum();
        replay.matchedAtLeast = groups.next() != null;
        Map<String, @Nullable Object> sample = how.patch() == null ? null : tried(order, how);
        if (fields.flag("dryRun")) {
            Map<String, @Nullable Object> view = replay.view();
            view.put("id", null);
            view.put("state", null);
            view.put("sample", sample);
            return Response.ok(view);
        }
        Document document = new Document(PacedReplay.KIND, replay.id, 0, replay.json());
        OptionalLong stored = api.quotas().oneByOne(request.caller().tenant(), () -> {
            makeRoom(documents(tenancy), replay.id);
            // A patch makes each payload longer by its own length at most.
            api.quotas().keep(request.caller(), how.patch(), replay.matched);
            return api.store().putDocument(document, "start-replay", note(request));
        });
        replayer.wake();
        Document now = stored.isPresent()
                ? document
                : api.store().document(PacedReplay.KIND, replay.id).orElse(document);
        PacedReplay known = PacedReplay.read(now);
        if (stored.isEmpty() && !known.order.asksFor(order, api.codec())) {
            throw Problem.of(
                    ProblemType.KEY_REUSED,
                    "The key belongs to replay " + tenancy.shown(replay.id) + ", which another request started");
        }
        return Response.json(202, known.view()).header("Location", "/v1/replays/" + tenancy.shown(replay.id));
    }

    /**
     * Tries the patch on some dead letters. A payload belongs to a type, so the filter must name it. Returns the first
     * payload before and after; null if no dead letter matches.
     *
     * @throws Problem if the patch does not fit one of them
     */
    private @Nullable Map<String, @Nullable Object> tried(PacedReplay.Order order, Replay how) {
        JobQuery query = order.query().state(JobState.FAILED).limit(TRIED_AT_ONCE);
        String type = query.type();
        if (type == null) {
            throw Problem.invalid("/filter/type", "must name the type of the jobs whose payloads are changed");
        }
        if (JobRequests.isReserved(type)) {
            throw Problem.invalid("/patch", "changes what is the server's own for jobs of this type");
        }
        Map<String, @Nullable Object> sample = null;
        int tried = 0;
        long chars = 0;
        String next = null;
        do {
            Page<Job> page = api.store().find(query.after(next));
            for (Job job : page.items()) {
                String before = job.spec().payload();
                String after = patched(job, how);
                sample = sample == null ? sample(job, after) : sample;
                chars += before.length();
            }
            tried += TRIED_AT_ONCE;
            next = page.next();
        } while (next != null && tried < TRIED && chars < MAX_CHARS);
        return sample;
    }

    private String patched(Job job, Replay how) {
        try {
            String after = how.payloadOf(api.codec().open(job.spec().payload()));
            List<HttpCall.Flaw> flaws =
                    job.type().equals(HttpDelivery.TYPE.name()) ? api.calls().flaws(after) : List.of();
            if (!flaws.isEmpty()) {
                throw Problem.invalid(
                        "/patch",
                        "does not fit job " + job.id() + ": " + flaws.get(0).member() + " "
                                + flaws.get(0).message());
            }
            return after;
        } catch (IllegalArgumentException | PayloadException e) {
            throw Problem.invalid("/patch", "does not fit job " + job.id() + ": " + e.getMessage());
        }
    }

    private Map<String, @Nullable Object> sample(Job job, String after) {
        Map<String, @Nullable Object> sample = new LinkedHashMap<>();
        sample.put("job", job.id().toString());
        sample.put("before", Views.json(api.codec().open(job.spec().payload())));
        sample.put("after", Views.json(after));
        return sample;
    }

    /** Refuses one more of too many that are under way, and removes the oldest of too many that have ended. */
    private void makeRoom(List<Document> stored, String id) {
        if (stored.stream().anyMatch(document -> document.id().equals(id))) {
            return;
        }
        List<Document> ended = stored.stream()
                .filter(document -> !PacedReplay.read(document).state.isActive())
                .sorted(Comparator.comparing((Document document) ->
                                PacedReplay.read(document).order.createdAt())
                        .reversed())
                .toList();
        Quotas.requireRoom(
                stored.size() - ended.size(),
                MOST_ACTIVE,
                "replays under way",
                "wait for the end of one, or cancel one");
        ended.stream().skip(MOST_KEPT - 1L).forEach(api.store()::removeDocument);
    }

    /** Returns the replays of a tenant, or those of callers without one, which stand among all others. */
    private List<Document> documents(Tenancy tenancy) {
        List<Document> own = new ArrayList<>();
        String prefix = tenancy.prefix();
        String after = prefix;
        do {
            Page<Document> page = api.store().documents(PacedReplay.KIND, DocumentStore.MAX_DOCUMENTS, after);
            page.items().stream()
                    .filter(document ->
                            prefix == null ? Tenancy.tenant(document.id()) == null : tenancy.owns(document.id()))
                    .forEach(own::add);
            after = prefix == null ? page.next() : null;
        } while (after != null);
        return own;
    }

    private ObjectNode how(Fields fields) {
        ObjectNode how = Json.object();
        how.put("keepCounters", fields.flag("keepCounters"));
        if (fields.has("queue")) {
            how.put("queue", fields.text("queue"));
        }
        String patch = DeadLetterEndpoints.edited(fields, Replay.FRESH).patch();
        if (patch != null) {
            // The patch is a part of payloads, so it is encrypted if they are.
            how.put("patch", api.codec().seal(patch));
            ArrayNode names = how.putArray("patched");
            Json.parse(patch).propertyNames().forEach(name -> names.add(name));
        }
        return how;
    }

    /** Returns the id of the replay; equal keys give equal ids. */
    private static String id(Request request) {
        String key = request.parameter("Idempotency-Key");
        UUID id = key == null
                ? UUID.randomUUID()
                : UUID.nameUUIDFromBytes((request.caller().tenant() + "\n" + key).getBytes(StandardCharsets.UTF_8));
        return id.toString();
    }

    private Answer list(Request request) {
        Tenancy tenancy = Tenancy.of(request.caller());
        String cursor = request.parameter("cursor");
        String after = cursor != null ? tenancy.stored("cursor", cursor) : tenancy.prefix();
        Page<Document> page = api.store().documents(PacedReplay.KIND, request.integer("limit", 100), after);
        List<Map<String, @Nullable Object>> own = page.items().stream()
                .filter(document -> tenancy.owns(document.id()))
                .map(document -> PacedReplay.read(document).view())
                .toList();
        boolean more = own.size() == page.items().size();
        return Response.ok(Views.page(own, more ? tenancy.shownOrNull(page.next()) : null));
    }

    private Answer cancel(Request request) {
        for (int tries = 0; tries < TRIES; tries++) {
            Document document = document(request);
            PacedReplay replay = PacedReplay.read(document);
            if (!replay.state.isActive()) {
                throw Problem.of(ProblemType.INVALID_STATE, "The replay is " + replay.state + " already");
            }
            replay.end(
                    State.CANCELLED,
                    "cancelled by " + request.caller().name(),
                    api.store().now());
            if (api.store()
                    .putDocument(document.with(replay.json()), "cancel-replay", note(request))
                    .isPresent()) {
                return Response.ok(replay.view());
            }
        }
        throw Problem.of(ProblemType.CONFLICT, "The replay was changed time after time; try again");
    }

    private Document document(Request request) {
        String id = Tenancy.of(request.caller()).stored("replay", request.path("replay"));
        return api.store()
                .document(PacedReplay.KIND, id)
                .orElseThrow(() -> Problem.notFound("Replay '" + request.path("replay") + "'"));
    }

    private static AuditNote note(Request request) {
        return new AuditNote(request.caller().name(), request.fields().text("why"));
    }
}
