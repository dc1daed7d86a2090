// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.bulk;

import io.reprise.Bulk;
import io.reprise.ManualRetry;
import io.reprise.Replay;
import io.reprise.job.AuditNote;
import io.reprise.job.JobChange;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSpec;
import io.reprise.job.Page;
import io.reprise.server.api.Api;
import io.reprise.server.api.JobRequests;
import io.reprise.server.api.PolicyBook;
import io.reprise.server.api.Schemas;
import io.reprise.server.api.Views;
import io.reprise.server.auth.Tenancy;
import io.reprise.server.bulk.BulkJob.Progress;
import io.reprise.server.bulk.BulkJob.State;
import io.reprise.server.http.Answer;
import io.reprise.server.http.Endpoints;
import io.reprise.server.http.Fields;
import io.reprise.server.http.Operation;
import io.reprise.server.http.Problem;
import io.reprise.server.http.ProblemType;
import io.reprise.server.http.Request;
import io.reprise.server.http.Response;
import io.reprise.server.http.Schema;
import io.reprise.server.http.Scope;
import io.reprise.server.search.JobSearch;
import io.reprise.store.Document;
import io.reprise.store.DocumentStore;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Endpoints of bulks: retry, change, cancel, replay or discard all jobs that a search finds. */
public final class BulkEndpoints implements Endpoints {

    private static final String SECTION = "Bulks";
    private static final int COUNTED = 10_000;

    /** A request counts for so long: few jobs of many may match, and none of the stored ones is left out. */
    private static final Duration COUNTS = Duration.ofSeconds(1);

    private static final int TRIES = 5;
    private static final Duration KEPT = Duration.ofDays(30);

    /** Bulks of one tenant that are kept. */
    private static final int MOST_KEPT = 200;

    private static final long NO_LIMIT = Long.MAX_VALUE;

    private static final String CHANGE = "change";
    private static final List<String> ACTIONS = List.of("cancel", CHANGE, "discard", "replay", "retry");

    private static final Schema REQUEST = Schema.object()
            .must("action", Schema.choice(ACTIONS))
            .must(
                    "q",
                    Schema.text(1, JobSearch.MAX_LENGTH)
                            .about("a search that names a state, in words that a filter has"))
            .may("at", Schema.time().about("when retried jobs are due; not in the past"))
            .may("change", Schemas.JOB_CHANGE.about("what the action change changes"))
            .may("dryRun", Schema.bool().about("only count, up to 10,000 and for a second"))
            .may("why", Schema.text(0, 500))
            .named("BulkOrder");

    private static final Schema BULK = Schema.object()
            .must("id", Schema.text(1, 100).orNull().about("null for a dry run"))
            .must("action", Schema.text(1, 20))
            .must("q", Schema.text(1, JobSearch.MAX_LENGTH))
            .must("state", Schema.choice(State.class).about("LOST if its server ended"))
            .must("note", Schema.text(0, 2_000).orNull())
            .must(
                    "matched",
                    Schema.integer(0, NO_LIMIT)
                            .about("jobs that matched when it began, up to 10,000, counted for a second"))
            .must("matchedAtLeast", Schema.bool().about("whether there may have been more"))
            .must("looked", Schema.integer(0, NO_LIMIT).about("jobs that it has come to"))
            .must("done", Schema.integer(0, NO_LIMIT))
            .must("refused", Schema.integer(0, NO_LIMIT))
            .must("by", Schema.text(1, 200))
            .must("why", Schema.text(0, 500).orNull())
            .must("createdAt", Schema.time())
            .must("seenAt", Schema.time())
            .must("endedAt", Schema.time().orNull())
            .named("Bulk");

    private final Api api;
    private final JobRequests requests;
    private final BulkRunner runner;

    public BulkEndpoints(Api api, PolicyBook policies, BulkRunner runner) {
        this.api = api;
        this.requests = new JobRequests(api, policies);
        this.runner = runner;
    }

    @Override
    public List<Operation> operations() {
        return List.of(
                Operation.post("/v1/bulks", "startBulk")
                        .section(SECTION)
                        .summary("Change all jobs that a search finds, step by step; one at a time for a tenant")
                        .scope(Scope.OPERATE)
                        .body(REQUEST)
                        .answers(202, "the bulk as it is now", BULK)
                        .answers(200, "what it would touch, of a dry run", BULK)
                        .does(this::start),
                Operation.get("/v1/bulks", "listBulks")
                        .section(SECTION)
                        .summary("Bulks of the last 30 days")
                        .scope(Scope.READ)
                        .answers(200, "the bulks", Schemas.page(BULK, "Bulks"))
                        .does(this::list),
                Operation.get("/v1/bulks/{bulk}", "getBulk")
                        .section(SECTION)
                        .summary("How far a bulk has come")
                        .scope(Scope.READ)
                        .path("bulk", Schema.name(), "id of the bulk")
                        .answers(200, "the bulk", BULK)
                        .does(request -> Response.ok(view(BulkJob.read(document(request)), request))),
                Operation.post("/v1/bulks/{bulk}/cancel", "cancelBulk")
                        .section(SECTION)
                        .summary("Change no more jobs; what was done stays")
                        .scope(Scope.OPERATE)
                        .path("bulk", Schema.name(), "id of the bulk")
                        .optionalBody(Schemas.WHY)
                        .answers(200, "the bulk as it is now", BULK)
                        .does(this::cancel));
    }

    private Answer start(Request request) {
        Fields fields = request.fields();
        Tenancy tenancy = Tenancy.of(request.caller());
        Instant now = api.store().now();
        String q = fields.text("q", "");
        JobQuery query = query(q, tenancy, now);
        JobChange change = fields.text("action", "").equals(CHANGE) ? change(request, query, now) : null;
        Function<Bulk, Bulk.Result> action = action(request, change, now);
        Bulk bulk =
                api.reprise().as(request.caller().name(), fields.text("why")).all(query);
        Counted counted = Counted.of(bulk, action, COUNTS);
        BulkJob job = new BulkJob(
                tenancy.stored("bulk", UUID.randomUUID().toString()),
                new BulkJob.Order(fields.text("action", ""), q, request.caller().name(), fields.text("why"), now),
                State.RUNNING,
                counted.jobs,
                counted.mayBeMore,
                new Progress(0, 0, 0),
                now,
                null,
                null);
        if (fields.flag("dryRun")) {
            Map<String, @Nullable Object> view = view(job, request);
            view.put("id", null);
            return Response.ok(view);
        }
        List<Document> before = documents(tenancy);
        requireAlone(before, job, tenancy);
        if (change != null) {
            keep(request, change, counted);
        }
        makeRoom(before, now);
        api.store()
                .putDocument(
                        new Document(BulkJob.KIND, job.id(), 0, job.json()),
                        "start-bulk",
                        new AuditNote(request.caller().name(), fields.text("why")));
        try {
            // Another may have begun at the same time. Both are stored now, so at least one of them sees the other.
            requireAlone(documents(tenancy), job, tenancy);
        } catch (Problem e) {
            remove(job);
            throw e;
        }
        if (!runner.start(job.id(), bulk, action)) {
            remove(job);
            throw Problem.of(ProblemType.UNAVAILABLE, "Too many bulks wait on this server")
                    .header("Retry-After", "30");
        }
        return Response.json(202, view(job, request)).header("Location", "/v1/bulks/" + tenancy.shown(job.id()));
    }

    /** A forgotten state would touch all jobs there are, so a search must name one. */
    private static JobQuery query(String q, Tenancy tenancy, Instant now) {
        JobSearch search = JobSearch.parse(q, JobQuery.all().queuePrefix(tenancy.prefix()), tenancy, now);
        if (!search.isQuery()) {
            throw Problem.invalid(
                    "/q",
                    "of a bulk may hold only state, type, queue, resource, tag, error (a fingerprint), schedule, batch,"
                            + " since and before, each with one value");
        }
        if (search.query().states().isEmpty()) {
            throw Problem.invalid("/q", "must name a state, such as state:failed");
        }
        return search.query();
    }

    /** Counts the payloads that a change stores. How many they are must be known before. */
    private void keep(Request request, JobChange change, Counted counted) {
        if (change.payload() != null && counted.mayBeMore && request.caller().tenant() != null) {
            throw Problem.invalid(
                    "/q",
                    "finds more than " + COUNTED + " jobs, or cannot be counted within " + COUNTS.toSeconds()
                            + " s: another payload is for so many at once at most");
        }
        requests.keep(change, request.caller(), counted.jobs);
    }

    /**
     * The jobs that match, as far as they were counted.
     *
     * @param mayBeMore whether there are more, or the time was over
     */
    record Counted(long jobs, boolean mayBeMore) {

        static Counted of(Bulk bulk, Function<Bulk, Bulk.Result> action, Duration patience) {
            long begin = System.nanoTime();
            boolean[] isOver = {false};
            Bulk.Result result = action.apply(bulk.dryRun().limit(COUNTED + 1).watchedBy(soFar -> {
                isOver[0] = System.nanoTime() - begin >= patience.toNanos();
                return !isOver[0];
            }));
            return new Counted(Math.min(result.matched(), COUNTED), isOver[0] || result.matched() > COUNTED);
        }
    }

    private static Function<Bulk, Bulk.Result> action(Request request, @Nullable JobChange change, Instant now) {
        Fields fields = request.fields();
        String name = fields.text("action", "");
        Instant at = fields.time("at");
        if (fields.has(CHANGE) && !name.equals(CHANGE)) {
            throw Problem.invalid("/change", "is for the action change");
        }
        if (at != null && !name.equals("retry")) {
            throw Problem.invalid("/at", "is for the action retry; a change has dueAt");
        }
        if (at != null && (at.isBefore(now) || at.isAfter(JobSpec.MAX_DUE))) {
            throw Problem.invalid("/at", "is " + at + " but must be " + now + " to " + JobSpec.MAX_DUE);
        }
        return switch (name) {
            case "retry" -> bulk -> bulk.retry(at == null ? ManualRetry.NOW : ManualRetry.NOW.at(at));
            case "cancel" -> Bulk::cancel;
            case "replay" -> bulk -> bulk.replay(Replay.FRESH);
            case "discard" -> Bulk::discard;
            default -> {
                JobChange how = Objects.requireNonNull(change);
                yield bulk -> bulk.change(how);
            }
        };
    }

    /** A payload belongs to a type, so a search must name the type of the jobs that get it. */
    private JobChange change(Request request, JobQuery query, Instant now) {
        Tenancy tenancy = Tenancy.of(request.caller());
        if (!request.fields().has(CHANGE)) {
            throw Problem.invalid("/change", "is needed by the action change");
        }
        Fields fields = new Fields(request.fields().node(CHANGE));
        JobChange change = requests.change("/change", fields, tenancy);
        if (change.dueAt() != null && change.dueAt().isBefore(now)) {
            throw Problem.invalid(
                    "/change/dueAt", "is " + change.dueAt() + " but must be " + now + " to " + JobSpec.MAX_DUE);
        }
        requests.requireQueue(change, request.caller(), tenancy);
        if (change.payload() != null && query.type() == null) {
            throw Problem.invalid("/q", "must name a type, such as type:bill, if the payload is changed");
        }
        if (query.type() != null) {
            requests.requirePayload("/change", query.type(), change);
        }
        return change;
    }

    private void remove(BulkJob job) {
        api.store().document(BulkJob.KIND, job.id()).ifPresent(api.store()::removeDocument);
    }

    /** Refuses a bulk of a tenant while another is under way. */
    private static void requireAlone(List<Document> stored, BulkJob job, Tenancy tenancy) {
        for (Document document : stored) {
            BulkJob other = BulkJob.read(document);
            if (!other.id().equals(job.id()) && other.isActive(job.order().createdAt())) {
                throw Problem.of(
                        ProblemType.CONFLICT,
                        "Bulk " + tenancy.shown(other.id()) + " is under way: wait for its end, or cancel it");
            }
        }
    }

    /** Removes bulks that are long over, and the oldest of too many. */
    private void makeRoom(List<Document> stored, Instant now) {
        List<Document> newestFirst = stored.stream()
                .sorted(Comparator.comparing((Document document) ->
                                BulkJob.read(document).order().createdAt())
                        .reversed())
                .toList();
        for (int i = 0; i < newestFirst.size(); i++) {
            Instant createdAt = BulkJob.read(newestFirst.get(i)).order().createdAt();
            if (i >= MOST_KEPT - 1 || now.isAfter(createdAt.plus(KEPT))) {
                api.store().removeDocument(newestFirst.get(i));
            }
        }
    }

    /** Returns the bulks of a tenant, or those of callers without one, which stand among all others. */
    private List<Document> documents(Tenancy tenancy) {
        List<Document> own = new ArrayList<>();
        String prefix = tenancy.prefix();
        String after = prefix;
        do {
            Page<Document> page = api.store().documents(BulkJob.KIND, DocumentStore.MAX_DOCUMENTS, after);
            page.items().stream()
                    .filter(document ->
                            prefix == null ? Tenancy.tenant(document.id()) == null : tenancy.owns(document.id()))
                    .forEach(own::add);
            after = prefix == null ? page.next() : null;
        } while (after != null);
        return own;
    }

    private Answer list(Request request) {
        List<Map<String, @Nullable Object>> views = documents(Tenancy.of(request.caller())).stream()
                .map(document -> view(BulkJob.read(document), request))
                .toList();
        return Response.ok(Views.page(views, null));
    }

    private Answer cancel(Request request) {
        for (int tries = 0; tries < TRIES; tries++) {
            Document document = document(request);
            BulkJob job = BulkJob.read(document);
            Instant now = api.store().now();
            if (!job.isActive(now)) {
                throw Problem.of(ProblemType.INVALID_STATE, "The bulk has ended already");
            }
            BulkJob cancelled = job.ended(
                    State.CANCELLED, "cancelled by " + request.caller().name(), now);
            AuditNote note =
                    new AuditNote(request.caller().name(), request.fields().text("why"));
            if (api.store()
                    .putDocument(document.with(cancelled.json()), "cancel-bulk", note)
                    .isPresent()) {
                return Response.ok(view(cancelled, request));
            }
        }
        throw Problem.of(ProblemType.CONFLICT, "The bulk was changed time after time; try again");
    }

    private Map<String, @Nullable Object> view(BulkJob job, Request request) {
        return job.view(
                Tenancy.of(request.caller()).shown(job.id()), api.store().now());
    }

    private Document document(Request request) {
        String id = Tenancy.of(request.caller()).stored("bulk", request.path("bulk"));
        return api.store()
                .document(BulkJob.KIND, id)
                .orElseThrow(() -> Problem.notFound("Bulk '" + request.path("bulk") + "'"));
    }
}
