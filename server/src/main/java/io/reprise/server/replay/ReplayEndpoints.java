// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.replay;

import io.reprise.job.AuditNote;
import io.reprise.job.DeadGroup;
import io.reprise.job.Page;
import io.reprise.server.api.Api;
import io.reprise.server.api.Schemas;
import io.reprise.server.api.Views;
import io.reprise.server.auth.Tenancy;
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
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Endpoints of paced replays: a canary first, then at a rate, and stopped when jobs fail again. */
public final class ReplayEndpoints implements Endpoints {

    private static final String SECTION = "Replays";
    private static final int NO_LIMIT = Integer.MAX_VALUE;
    private static final int TRIES = 5;
    private static final int MAX_GROUPS = 1_000;

    private static final Schema REQUEST = Schema.object()
            .may("filter", Schemas.FILTER)
            .may("rate", Schema.number(0.01, 500).about("jobs per second; 1 unless given"))
            .may("canary", Schema.integer(1, 100).about("jobs that go first, alone; 1 unless given"))
            .may("stopAt", Schema.number(0.01, 1).about("share of the last 20 that may fail again; 0.2 unless given"))
            .may("keepCounters", Schema.bool())
            .may("queue", Schema.name().about("another queue"))
            .may("dryRun", Schema.bool().about("only count"))
            .may("why", Schema.text(0, 500))
            .named("ReplayRequest");

    private static final Schema REPLAY = Schema.object()
            .must("id", Schema.text(1, 100).orNull())
            .must("state", Schema.choice(State.class).orNull())
            .must("note", Schema.text(0, 500).orNull())
            .must("filter", Schemas.FILTER.about("as it was given"))
            .must("rate", Schema.number(0, 500))
            .must("canary", Schema.integer(1, 100))
            .must("stopAt", Schema.number(0, 1))
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
                request.caller().name(),
                fields.text("why"),
                api.store().now());
        order.replay();
        PacedReplay replay = new PacedReplay(tenancy.stored("replay", id(request)), order);
        Page<DeadGroup> groups = api.reprise().deadGroups(order.query().brief(), MAX_GROUPS);
        replay.matched = groups.items().stream().mapToLong(DeadGroup::count).sum();
        replay.matchedAtLeast = groups.next() != null;
        if (fields.flag("dryRun")) {
            Map<String, @Nullable Object> view = replay.view();
            view.put("id", null);
            view.put("state", null);
            return Response.ok(view);
        }
        Document document = new Document(PacedReplay.KIND, replay.id, 0, replay.json());
        OptionalLong stored = api.store().putDocument(document, "start-replay", note(request));
        replayer.wake();
        Document now = stored.isPresent()
                ? document
                : api.store().document(PacedReplay.KIND, replay.id).orElse(document);
        PacedReplay known = PacedReplay.read(now);
        if (stored.isEmpty() && !known.order.asksFor(order)) {
            throw Problem.of(
                    ProblemType.KEY_REUSED,
                    "The key belongs to replay " + tenancy.shown(replay.id) + ", which another request started");
        }
        return Response.json(202, known.view()).header("Location", "/v1/replays/" + tenancy.shown(replay.id));
    }

    private static ObjectNode how(Fields fields) {
        ObjectNode how = Json.object();
        how.put("keepCounters", fields.flag("keepCounters"));
        if (fields.has("queue")) {
            how.put("queue", fields.text("queue"));
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
