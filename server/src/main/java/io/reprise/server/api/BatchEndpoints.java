// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import io.reprise.Batch;
import io.reprise.JobRequest;
import io.reprise.batch.BatchState;
import io.reprise.job.AuditNote;
import io.reprise.job.JobId;
import io.reprise.job.Page;
import io.reprise.job.RefusedException;
import io.reprise.server.auth.Tenancy;
import io.reprise.server.http.Answer;
import io.reprise.server.http.Caller;
import io.reprise.server.http.Endpoints;
import io.reprise.server.http.Fields;
import io.reprise.server.http.Operation;
import io.reprise.server.http.Problem;
import io.reprise.server.http.Request;
import io.reprise.server.http.Response;
import io.reprise.server.http.Schema;
import io.reprise.server.http.Scope;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.util.RawValue;

/** Endpoints of batches. A batch belongs to a tenant by its name, as a queue does. */
public final class BatchEndpoints implements Endpoints {

    private static final String SECTION = "Batches";
    private static final int NO_LIMIT = Integer.MAX_VALUE;
    private static final int DEFAULT_LIMIT = 100;

    private static final Schema BATCH = Schema.object()
            .must("name", Schema.name())
            .must("total", Schema.integer(0, NO_LIMIT).about("members that were added"))
            .must("open", Schema.integer(0, NO_LIMIT).about("members that wait or run"))
            .must("succeeded", Schema.integer(0, NO_LIMIT))
            .must("dead", Schema.integer(0, NO_LIMIT).about("dead letters; one that is retried is open again"))
            .must("cancelled", Schema.integer(0, NO_LIMIT))
            .must("percent", Schema.integer(0, 100).about("how much has ended"))
            .must("createdAt", Schema.time())
            .must("closedAt", Schema.time().orNull().about("from then on it can end"))
            .must("endedAt", Schema.time().orNull().about("when no member was open any more"))
            .must(
                    "succeededAt",
                    Schema.time().orNull().about("when all members had succeeded, or a person finished it"))
            .must("onSuccess", Schema.id().orNull().about("the job that waits for the success"))
            .must("onEnd", Schema.id().orNull().about("the job that waits for the end"))
            .named("Batch");

    private static final Schema REQUEST = Schema.object()
            .may("onSuccess", Schemas.JOB_REQUEST.about("runs when all members have succeeded"))
            .may("onEnd", Schemas.JOB_REQUEST.about("runs when all members have ended, however they ended"))
            .named("BatchRequest");

    private static final Schema ADDED = Schema.object()
            .must("ids", Schema.array(Schema.id(), 0, Schemas.MAX_BATCH))
            .must("batch", BATCH)
            .named("AddedMembers");

    private final Api api;
    private final JobRequests requests;

    public BatchEndpoints(Api api, PolicyBook policies) {
        this.api = api;
        this.requests = new JobRequests(api, policies);
    }

    @Override
    public List<Operation> operations() {
        return List.of(
                Operation.get("/v1/batches", "listBatches")
                        .section(SECTION)
                        .summary("Batches, by name")
                        .scope(Scope.READ)
                        .query("prefix", Schema.text(0, 100), "beginning of the names")
                        .query("limit", Schemas.LIMIT, "how many; 100 unless given")
                        .query("cursor", Schema.text(1, 200), "next of the page before")
                        .answers(200, "a page of batches", Schemas.page(BATCH, "Batches"))
                        .does(this::list),
                one(Operation.get("/v1/batches/{batch}", "getBatch"))
                        .summary("One batch with its counts")
                        .scope(Scope.READ)
                        .answers(200, "the batch", BATCH)
                        .does(request -> Response.ok(view(request, state(request)))),
                one(Operation.put("/v1/batches/{batch}", "createBatch"))
                        .summary("Create a batch; one that is there stays as it is")
                        .scope(Scope.ENQUEUE)
                        .body(REQUEST)
                        .answers(200, "the batch as it is now", BATCH)
                        .does(this::create),
                one(Operation.post("/v1/batches/{batch}/jobs", "addToBatch"))
                        .summary("Enqueue members, all or none, while the batch is open")
                        .scope(Scope.ENQUEUE)
                        .header(
                                "Idempotency-Key",
                                Schema.text(1, 200),
                                "the same key adds the same members only once; another body under it is refused")
                        .body(Schema.oneOrMore(Schemas.JOB_REQUEST, Schemas.MAX_BATCH))
                        .answers(202, "the members and the batch", ADDED)
                        .does(this::add),
                one(Operation.post("/v1/batches/{batch}/close", "closeBatch"))
                        .summary("Take no more members; from now on the batch can end. With why it is in the audit log")
                        .scope(Scope.ENQUEUE)
                        .optionalBody(Schemas.WHY)
                        .answers(200, "the batch as it is now", BATCH)
                        .does(this::close),
                one(Operation.post("/v1/batches/{batch}/finish", "finishBatch"))
                        .summary("Let the job for the success go although members are dead letters")
                        .scope(Scope.OPERATE)
                        .optionalBody(Schemas.WHY)
                        .answers(200, "the batch as it is now", BATCH)
                        .does(this::finish));
    }

    private static Operation.Builder one(Operation.Builder operation) {
        return operation.section(SECTION).path("batch", Schema.name(), "name of the batch");
    }

    private static String name(Request request) {
        return Tenancy.of(request.caller()).stored("batch", request.path("batch"));
    }

    private BatchState state(Request request) {
        return api.reprise()
                .findBatch(name(request))
                .orElseThrow(() -> Problem.notFound("Batch '" + request.path("batch") + "'"));
    }

    private Answer list(Request request) {
        Tenancy tenancy = Tenancy.of(request.caller());
        String own = tenancy.prefix() == null ? "" : tenancy.prefix();
        String cursor = request.parameter("cursor");
        String prefix = request.parameter("prefix");
        Page<BatchState> page = api.reprise()
                .batches(
                        own + (prefix == null ? "" : prefix),
                        request.integer("limit", DEFAULT_LIMIT),
                        cursor == null ? null : own + cursor);
        return Response.ok(Views.page(
                page.items().stream().map(batch -> view(request, batch)).toList(), tenancy.shownOrNull(page.next())));
    }

    private Answer create(Request request) {
        Tenancy tenancy = Tenancy.of(request.caller());
        Fields fields = request.fields();
        Batch batch = api.reprise().batch(name(request));
        List<JsonNode> followers = new ArrayList<>();
        if (fields.has("onSuccess")) {
            batch.onSuccess(requests.one("/onSuccess", fields.node("onSuccess"), tenancy));
            followers.add(fields.node("onSuccess"));
        }
        if (fields.has("onEnd")) {
            batch.onEnd(requests.one("/onEnd", fields.node("onEnd"), tenancy));
            followers.add(fields.node("onEnd"));
        }
        Optional<BatchState> there = api.reprise().findBatch(name(request));
        requireBounds(request, there);
        if (there.isEmpty()) {
            requests.admit(request, tenancy, followers);
            // The batch itself counts like a job, for the pace: it is kept as long as one.
            api.quotas().enqueue(request.caller(), Set.of(), 1, 0);
            told(request, () -> batch.addAll(List.of()));
        }
        return Response.ok(view(request, state(request)));
    }

    private Answer add(Request request) {
        Tenancy tenancy = Tenancy.of(request.caller());
        List<JobRequest<RawValue>> jobs = requests.all(request.body(), tenancy);
        List<JsonNode> bodies = new ArrayList<>();
        if (request.body().isArray()) {
            request.body().forEach(bodies::add);
        } else {
            bodies.add(request.body());
        }
        // Not created here: a mistyped name must not make another batch.
        requireBounds(request, Optional.of(state(request)));
        KeyedRequest keyed = KeyedRequest.ofBatch(request, tenancy, name(request));
        requests.admit(request, tenancy, bodies, keyed);
        List<JobRequest<RawValue>> members = keyed == null ? jobs : keyed.keyed(jobs);
        List<JobId> ids = told(request, () -> api.reprise().batch(name(request)).addAll(members));
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("ids", ids.stream().map(JobId::toString).toList());
        view.put("batch", view(request, state(request)));
        return Response.json(202, view);
    }

    private Answer close(Request request) {
        requireBounds(request, Optional.of(state(request)));
        BatchState closed =
                told(request, () -> api.reprise().batch(name(request)).close());
        // A program closes each of its batches; only a person says why.
        String why = request.fields().text("why");
        if (why != null) {
            AuditNote note = new AuditNote(request.caller().name(), why);
            api.store().note("close-batch", "batch/" + closed.name(), note, closed.total() + " members");
        }
        return Response.ok(view(request, closed));
    }

    private Answer finish(Request request) {
        requireBounds(request, Optional.of(state(request)));
        return Response.ok(view(request, told(request, () -> api.as(request).finishBatch(name(request)))));
    }

    /** A key that is bound to queues and types must not bring about the jobs of others, which wait for the batch. */
    private void requireBounds(Request request, Optional<BatchState> batch) {
        Caller caller = request.caller();
        if (caller.bounds().equals(Caller.Bounds.NONE)) {
            return;
        }
        Tenancy tenancy = Tenancy.of(caller);
        batch.stream()
                .flatMap(each -> Stream.of(Optional.ofNullable(each.onSuccess()), Optional.ofNullable(each.onEnd())))
                .flatMap(Optional::stream)
                .flatMap(id -> api.reprise().find(id).stream())
                .forEach(job -> caller.bounds().require(tenancy.shown(job.queue()), job.type()));
    }

    /** Names the batch in a refusal as the caller knows it. */
    private static <T> T told(Request request, Supplier<T> work) {
        try {
            return work.get();
        } catch (RefusedException e) {
            throw new RefusedException(e.code(), shown(request, e));
        } catch (IllegalArgumentException e) {
            throw Problem.invalid("", shown(request, e));
        }
    }

    private static String shown(Request request, RuntimeException refusal) {
        return String.valueOf(refusal.getMessage())
                .replace("'" + name(request) + "'", "'" + request.path("batch") + "'");
    }

    private static Map<String, @Nullable Object> view(Request request, BatchState batch) {
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("name", Tenancy.of(request.caller()).shown(batch.name()));
        view.put("total", batch.total());
        view.put("open", batch.open());
        view.put("succeeded", batch.succeeded());
        view.put("dead", batch.dead());
        view.put("cancelled", batch.cancelled());
        view.put("percent", batch.percent());
        view.put("createdAt", batch.createdAt());
        view.put("closedAt", batch.closedAt());
        view.put("endedAt", batch.endedAt());
        view.put("succeededAt", batch.succeededAt());
        view.put("onSuccess", id(batch.onSuccess()));
        view.put("onEnd", id(batch.onEnd()));
        return view;
    }

    private static @Nullable String id(@Nullable JobId job) {
        return job == null ? null : job.toString();
    }
}
