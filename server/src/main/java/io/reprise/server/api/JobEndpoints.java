// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import io.reprise.JobRequest;
import io.reprise.ManualRetry;
import io.reprise.batch.Membership;
import io.reprise.insight.Explanation;
import io.reprise.insight.JobChain;
import io.reprise.insight.TraceParent;
import io.reprise.job.Cancellation;
import io.reprise.job.Enqueued;
import io.reprise.job.Job;
import io.reprise.job.JobChange;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.server.auth.Tenancy;
import io.reprise.server.http.Answer;
import io.reprise.server.http.ETags;
import io.reprise.server.http.Endpoints;
import io.reprise.server.http.Fields;
import io.reprise.server.http.Operation;
import io.reprise.server.http.Problem;
import io.reprise.server.http.ProblemType;
import io.reprise.server.http.Request;
import io.reprise.server.http.Response;
import io.reprise.server.http.Schema;
import io.reprise.server.http.Scope;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.util.RawValue;

/** Endpoints that enqueue jobs, and that work on one job. */
public final class JobEndpoints implements Endpoints {

    private static final String SECTION = "Jobs";
    private static final Duration MAX_WAIT = Duration.ofMinutes(1);

    private static final Schema ENQUEUED = Schema.object()
            .must("id", Schema.id())
            .must("created", Schema.bool().about("false if a key led to a job that was there already"))
            .must("dueAt", Schema.time())
            .named("Enqueued");

    private static final Schema RETRY = Schema.object()
            .may("backoff", Schema.bool().about("after the policy's delay instead of at once"))
            .may("at", Schema.time().about("at this time instead of at once; not in the past"))
            .may("grant", Schema.integer(0, ManualRetry.MAX_GRANT).about("attempts to add"))
            .may("reset", Schema.bool().about("start all counters at zero"))
            .may("force", Schema.bool().about("even what is not retryable or has spent its attempts"))
            .may("why", Schema.text(0, 500))
            .named("ManualRetry");

    private static final Schema REASON = Schema.object()
            .must("kind", Schema.text(1, 100))
            .must("text", Schema.text(1, 2_000))
            .named("Reason");

    private static final Schema EXPLANATION = Schema.object()
            .must("id", Schema.id())
            .must("at", Schema.time())
            .must("sentence", Schema.text(0, 10_000))
            .must("reasons", Schema.array(REASON, 1, 100))
            .must("nextAt", Schema.time().orNull())
            .must("prediction", Schemas.PREDICTION)
            .named("Explanation");

    private final Api api;
    private final JobRequests requests;
    private final LeaseWaits waiting;

    public JobEndpoints(Api api, PolicyBook policies, LeaseWaits waiting) {
        this.api = api;
        this.requests = new JobRequests(api, policies);
        this.waiting = waiting;
    }

    @Override
    public List<Operation> operations() {
        return List.of(
                Operation.post("/v1/jobs", "enqueueJobs")
                        .section(SECTION)
                        .summary("Enqueue one job, or an array of them: all or none")
                        .scope(Scope.ENQUEUE)
                        .header(
                                "Idempotency-Key",
                                Schema.text(1, 200),
                                "the same key enqueues the same jobs only once; another body under it is refused")
                        .header(
                                "traceparent",
                                Schema.text(0, 1_000),
                                "W3C trace of the caller; kept as a tag of the jobs, and ignored if it has another form")
                        .body(Schema.oneOrMore(Schemas.JOB_REQUEST, Schemas.MAX_BATCH))
                        .answers(
                                202,
                                "what was enqueued, in the order given; for an array, an array",
                                Schema.oneOrMore(ENQUEUED, Schemas.MAX_BATCH))
                        .does(this::enqueue),
                Filters.withPayloads(Filters.paged(
                                Filters.parameters(Filters.searched(Operation.get("/v1/jobs", "listJobs")
                                        .section(SECTION)
                                        .summary("Jobs that match, newest first")
                                        .scope(Scope.READ)
                                        .query("state", Schema.text(1, 100), "one or more states between commas")))))
                        .answers(200, "a page of jobs", Schemas.JOB_PAGE)
                        .does(this::list),
                Operation.get("/v1/jobs/{id}", "getJob")
                        .section(SECTION)
                        .summary("A job with its history and the decision after each attempt")
                        .scope(Scope.READ)
                        .path("id", Schema.id(), "id of the job")
                        .header("If-None-Match", Schema.text(1, 200), "ETag of what is known already")
                        .answers(200, "the job", Schemas.JOB)
                        .answers(304, "it is as it was")
                        .does(this::get),
                Operation.post("/v1/jobs/{id}/retry", "retryJob")
                        .section(SECTION)
                        .summary("Retry a dead letter, or bring a waiting job forward")
                        .scope(Scope.OPERATE)
                        .path("id", Schema.id(), "id of the job")
                        .optionalBody(RETRY)
                        .answers(200, "the job as it is now", Schemas.JOB)
                        .does(this::retry),
                Operation.post("/v1/jobs/{id}/change", "changeJob")
                        .section(SECTION)
                        .summary("Change due time, priority, queue, policy or payload of a waiting job")
                        .scope(Scope.OPERATE)
                        .path("id", Schema.id(), "id of the job")
                        .body(Schemas.JOB_CHANGE)
                        .answers(200, "the job as it is now", Schemas.JOB)
                        .does(this::change),
                Operation.post("/v1/jobs/{id}/cancel", "cancelJob")
                        .section(SECTION)
                        .summary("End a pending job, and ask the worker of a running one to stop")
                        .scope(Scope.OPERATE)
                        .path("id", Schema.id(), "id of the job")
                        .optionalBody(Schemas.WHY)
                        .answers(200, "it is cancelled", Schemas.JOB)
                        .answers(202, "its worker was asked to stop", Schemas.JOB)
                        .does(this::cancel),
                Operation.get("/v1/jobs/{id}/explain", "explainJob")
                        .section(SECTION)
                        .summary("Why the job is, or is not, running now, and what happens next")
                        .scope(Scope.READ)
                        .path("id", Schema.id(), "id of the job")
                        .answers(200, "why", EXPLANATION)
                        .does(this::explain),
                Operation.get("/v1/jobs/{id}/result", "awaitJob")
                        .section(SECTION)
                        .summary("How the job ended, waiting a while if it has not")
                        .scope(Scope.READ)
                        .path("id", Schema.id(), "id of the job")
                        .query("wait", Schema.duration(), "how long to wait at most, up to 60 s; 0 unless given")
                        .answers(200, "it has ended", Schemas.JOB)
                        .answers(202, "it has not ended yet", Schemas.JOB)
                        .does(this::result));
    }

    private Answer enqueue(Request request) {
        Tenancy tenancy = Tenancy.of(request.caller());
        List<JobRequest<RawValue>> jobs = requests.all(request.body(), tenancy);
        KeyedRequest keyed = KeyedRequest.of(request, tenancy);
        count(request, tenancy, keyed);
        List<Enqueued> inserted = JobRequests.chained(
                "", () -> api.reprise().offerAll(traced(request, keyed == null ? jobs : keyed.keyed(jobs))));
        List<Map<String, @Nullable Object>> views = new ArrayList<>();
        for (Enqueued one : inserted) {
            Map<String, @Nullable Object> view = new LinkedHashMap<>();
            view.put("id", one.id().toString());
            view.put("created", one.created());
            view.put("dueAt", one.dueAt());
            views.add(view);
        }
        if (request.body().isArray()) {
            Response answer = Response.json(202, views);
            return keyed == null ? answer : answer.header("Location", "/v1/jobs?tag=" + keyed.tag());
        }
        return Response.json(202, views.get(0))
                .header("Location", "/v1/jobs/" + inserted.get(0).id());
    }

    /** Adds the trace of the request to its jobs, unless they have all the tags that they may have. */
    private static List<JobRequest<RawValue>> traced(Request request, List<JobRequest<RawValue>> jobs) {
        String header = request.parameter("traceparent");
        Optional<TraceParent> trace = header == null ? Optional.empty() : TraceParent.read(header);
        return trace.isEmpty()
                ? jobs
                : jobs.stream().map(job -> job.trace(trace.get())).toList();
    }

    private void count(Request request, Tenancy tenancy, @Nullable KeyedRequest keyed) {
        List<JsonNode> all = new ArrayList<>();
        if (request.body().isArray()) {
            request.body().forEach(all::add);
        } else {
            all.add(request.body());
        }
        requests.admit(request, tenancy, all, keyed);
    }

    private Answer list(Request request) {
        Tenancy tenancy = Tenancy.of(request.caller());
        JobQuery query = Filters.states(Filters.page(Filters.query(request, tenancy), request), request);
        return Pages.searched(
                api.reprise(), Filters.search(request, query, api.store().now()), request);
    }

    private Answer get(Request request) {
        Response response = Response.ok(whole(request, api.job(request))).tagged();
        String tag = String.valueOf(response.headers().get("ETag"));
        return ETags.match(request.parameter("If-None-Match"), tag) ? Response.notModified(tag) : response;
    }

    private Map<String, @Nullable Object> whole(Request request, Job job) {
        Tenancy tenancy = Tenancy.of(request.caller());
        Map<String, @Nullable Object> view = Views.job(job, tenancy);
        view.put("policy", Views.policy(job.policy()));
        view.put(
                "history",
                api.reprise().attempts(job.id()).stream()
                        .map(attempt -> Views.attempt(attempt, tenancy))
                        .toList());
        Membership batch = Membership.in(job.spec());
        view.put("batch", batch == null ? null : tenancy.shown(batch.batch()));
        view.putAll(Views.chain(JobChain.of(job.spec()), tenancy));
        return view;
    }

    private Answer retry(Request request) {
        Job job = api.job(request);
        api.as(request).retry(job.id(), manual(request.fields()));
        return Response.ok(whole(request, api.job(request)));
    }

    /** Reads how a person retries jobs. */
    private static ManualRetry manual(Fields fields) {
        if (fields.flag("backoff") && fields.has("at")) {
            throw Problem.invalid("/at", "must not be given together with backoff");
        }
        try {
            return new ManualRetry(
                    fields.flag("backoff"),
                    fields.time("at"),
                    fields.integer("grant", 0),
                    fields.flag("reset"),
                    fields.flag("force"));
        } catch (IllegalArgumentException e) {
            throw Problem.invalid("/at", String.valueOf(e.getMessage()));
        }
    }

    private Answer change(Request request) {
        Tenancy tenancy = Tenancy.of(request.caller());
        Job job = api.job(request);
        JobChange change = requests.change("", request.fields(), tenancy);
        requests.requireAllowed(job, change, request.caller(), tenancy);
        api.as(request).change(job.id(), change);
        return Response.ok(whole(request, api.job(request)));
    }

    private Answer cancel(Request request) {
        Job job = api.job(request);
        Cancellation answer = api.as(request).cancel(job.id());
        return switch (answer) {
            case DONE -> Response.ok(whole(request, api.job(request)));
            case REQUESTED -> Response.json(202, whole(request, api.job(request)));
            case TOO_LATE -> throw Problem.of(ProblemType.INVALID_STATE, "Job " + job.id() + " has ended already");
            case MISSING -> throw Problem.notFound("Job " + job.id());
        };
    }

    private Answer explain(Request request) {
        Explanation explanation = api.reprise().explain(api.job(request).id());
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("id", explanation.id().toString());
        view.put("at", explanation.at());
        Tenancy tenancy = Tenancy.of(request.caller());
        view.put("sentence", tenancy.shownIn(explanation.sentence()));
        view.put(
                "reasons",
                explanation.reasons().stream()
                        .map(reason -> Map.of(
                                "kind",
                                reason.getClass().getSimpleName(),
                                "text",
                                tenancy.shownIn(reason.text(explanation.at()))))
                        .toList());
        view.put("nextAt", explanation.nextAt());
        view.put("prediction", Views.prediction(explanation.prediction()));
        return Response.ok(view);
    }

    private Answer result(Request request) {
        Duration wait = request.duration("wait", Duration.ZERO);
        if (wait.compareTo(MAX_WAIT) > 0) {
            throw Problem.invalid("wait", "must be at most 60s");
        }
        JobId id = api.job(request).id();
        return waiting.until(request, wait, last -> {
            Job job = api.job(request, id.toString());
            boolean ended = job.state().isTerminal();
            return ended || last ? Response.json(ended ? 200 : 202, whole(request, job)) : null;
        });
    }
}
