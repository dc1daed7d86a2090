// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.lease;

import io.reprise.JobRequest;
import io.reprise.RemoteWorkers;
import io.reprise.batch.Membership;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.PayloadException;
import io.reprise.job.RefusedException;
import io.reprise.remote.RemoteJoin;
import io.reprise.remote.RemoteLease;
import io.reprise.server.api.Api;
import io.reprise.server.api.JobRequests;
import io.reprise.server.api.PolicyBook;
import io.reprise.server.api.Schemas;
import io.reprise.server.api.Views;
import io.reprise.server.auth.Tenancy;
import io.reprise.server.http.Answer;
import io.reprise.server.http.Fields;
import io.reprise.server.http.Operation;
import io.reprise.server.http.Problem;
import io.reprise.server.http.ProblemType;
import io.reprise.server.http.Request;
import io.reprise.server.http.Response;
import io.reprise.server.http.Schema;
import io.reprise.server.http.Scope;
import io.reprise.server.steps.StepEndpoints;
import io.reprise.step.StoredStep;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.util.RawValue;

/** Endpoints for the steps of runs of remote workers. */
final class LeaseSteps {

    private static final Schema STEP = Schema.object()
            .must("name", Schema.name())
            .may("result", Schema.json().about("what the step returned; none unless given"))
            .may("started", Schema.bool().about("the step only begins, and must not begin again by itself"))
            .named("StepReport");

    private static final Schema STORED =
            Schema.object().must("stored", Schema.bool()).named("StepStored");

    private static final Schema WAIT = Schema.object()
            .must("name", Schema.name())
            .must("duration", Schema.duration().about("from the first request for this name"))
            .named("StepWait");

    private static final Schema SUSPENDED = Schema.object()
            .must("suspended", Schema.bool().about("the run has ended, and the job comes back; else the run goes on"))
            .named("Suspended");

    private static final Schema JOIN = Schema.object()
            .must("name", Schema.name())
            .must(
                    "jobs",
                    Schema.array(Schemas.JOB_REQUEST, 0, Membership.MAX_CHILDREN)
                            .about("stored by the first request for this name, which needs the scope enqueue too"))
            .named("Join");

    private static final Schema JOINED = Schema.object()
            .must("suspended", Schema.bool().about("the run has ended, and the job comes back; else the run goes on"))
            .must(
                    "results",
                    Schema.array(Schema.json(), 0, Membership.MAX_CHILDREN).about("in the order of the jobs"))
            .must("failure", Schema.text(0, 20_000).orNull().about("which job did not succeed, and why"))
            .named("Joined");

    private static final Schema MORE = Schema.object()
            .must("jobs", Schema.array(Schemas.JOB_REQUEST, 1, Schemas.MAX_BATCH))
            .named("MoreMembers");

    private static final Schema ADDED = Schema.object()
            .must(
                    "ids",
                    Schema.array(Schema.id(), 0, Schemas.MAX_BATCH)
                            .about("in the order of the jobs; a key may lead to a job that is there"))
            .named("MoreMembersAdded");

    private final Api api;
    private final JobRequests requests;
    private final RemoteWorkers workers;
    private final LeaseTokens tokens;

    LeaseSteps(Api api, LeaseTokens tokens) {
        this.api = api;
        this.workers = api.reprise().remoteWorkers();
        this.tokens = tokens;
        this.requests = new JobRequests(api, new PolicyBook(api.store()));
    }

    List<Operation> operations() {
        return List.of(
                Operation.get("/v1/leases/{token}/steps", "leaseSteps")
                        .section("Remote workers")
                        .summary("What the job has done in this and earlier runs: skip what is DONE")
                        .scope(Scope.WORK)
                        .path("token", LeaseTokens.SCHEMA, "of the lease")
                        .answers(200, "all steps, sleeps and events", Schemas.page(StepEndpoints.STEP, "Steps"))
                        .does(this::list),
                LeaseReports.single("step", "storeStep", "A step is done: no later run repeats it")
                        .body(STEP)
                        .answers(200, "it is stored", STORED)
                        .does(this::store),
                LeaseReports.single("sleep", "sleepRun", "End the run until a time, without an attempt")
                        .body(WAIT)
                        .answers(200, "whether the run has ended", SUSPENDED)
                        .does(request -> pause(request, StoredStep.Kind.SLEEP)),
                LeaseReports.single("await", "awaitEvent", "End the run until an event is told, without an attempt")
                        .body(WAIT)
                        .answers(200, "whether the run has ended", SUSPENDED)
                        .does(request -> pause(request, StoredStep.Kind.EVENT)),
                LeaseReports.single("join", "joinJobs", "Store other jobs, and end the run until all have ended")
                        .body(JOIN)
                        .large()
                        .answers(200, "whether the run has ended, or the results", JOINED)
                        .does(this::join),
                LeaseReports.single(
                                "batch",
                                "addToOwnBatch",
                                "Enqueue more members of the job's batch, all or none; needs the scope enqueue too")
                        .body(MORE)
                        .answers(202, "the members", ADDED)
                        .does(this::add));
    }

    private Answer list(Request request) {
        return Response.ok(Views.page(
                workers.steps(key(request)).stream().map(StepEndpoints::view).toList(), null));
    }

    private Answer store(Request request) {
        RemoteLease.Key key = key(request);
        Fields fields = request.fields();
        String name = fields.text("name", "");
        try {
            if (fields.flag("started")) {
                workers.start(key, name);
            } else {
                String result = fields.mentions("result") ? fields.json("result") : null;
                api.quotas().keep(request.caller(), result);
                workers.checkpoint(key, name, result);
            }
        } catch (PayloadException e) {
            throw Problem.invalid("/result", String.valueOf(e.getMessage()));
        }
        return Response.ok(Map.of("stored", true));
    }

    private Answer pause(Request request, StoredStep.Kind kind) {
        RemoteLease.Key key = key(request);
        Fields fields = request.fields();
        String name = fields.text("name", "");
        Duration duration = fields.duration("duration", Duration.ZERO);
        try {
            boolean suspended = kind == StoredStep.Kind.SLEEP
                    ? workers.sleep(key, name, duration)
                    : workers.await(key, name, duration);
            return Response.ok(Map.of("suspended", suspended));
        } catch (IllegalArgumentException e) {
            throw Problem.invalid("/duration", String.valueOf(e.getMessage()));
        } catch (PayloadException e) {
            throw Problem.invalid("/name", String.valueOf(e.getMessage()));
        }
    }

    private Answer join(Request request) {
        RemoteLease.Key key = key(request);
        Fields fields = request.fields();
        String name = fields.text("name", "");
        boolean begins =
                workers.steps(key).stream().noneMatch(step -> step.name().equals(name));
        List<JobRequest<RawValue>> jobs = List.of();
        if (begins) {
            jobs = jobs(request);
        }
        List<JobRequest<RawValue>> children = jobs;
        try {
            return Response.ok(view(JobRequests.chained("/jobs", () -> workers.join(key, name, children))));
        } catch (IllegalArgumentException e) {
            throw Problem.invalid("/jobs", String.valueOf(e.getMessage()));
        } catch (PayloadException e) {
            throw Problem.invalid("/name", String.valueOf(e.getMessage()));
        }
    }

    private Answer add(Request request) {
        RemoteLease.Key key = key(request);
        // Asked first, so that a run that has ended spends no quota.
        workers.steps(key);
        List<JobRequest<RawValue>> jobs = jobs(request);
        try {
            List<JobId> ids = workers.addToBatch(key, jobs);
            return Response.json(
                    202, Map.of("ids", ids.stream().map(JobId::toString).toList()));
        } catch (RefusedException e) {
            throw new RefusedException(e.code(), shown(request, key, e));
        } catch (IllegalArgumentException e) {
            throw Problem.invalid("/jobs", shown(request, key, e));
        }
    }

    /** Returns the jobs of a request that stores them, checked as those of an enqueue. */
    private List<JobRequest<RawValue>> jobs(Request request) {
        if (!request.caller().may(Scope.ENQUEUE)) {
            throw Problem.of(ProblemType.FORBIDDEN, "This needs a key with scope enqueue: it stores jobs");
        }
        Tenancy tenancy = Tenancy.of(request.caller());
        JsonNode given = request.fields().node("jobs");
        List<JobRequest<RawValue>> jobs = requests.all("/jobs", given, tenancy);
        List<JsonNode> bodies = new ArrayList<>();
        given.forEach(bodies::add);
        requests.admit(request, tenancy, bodies);
        return jobs;
    }

    /** Names the batch in a refusal as the caller knows it. */
    private String shown(Request request, RemoteLease.Key key, RuntimeException refusal) {
        String text = String.valueOf(refusal.getMessage());
        Job job = api.reprise().find(key.job()).orElse(null);
        Membership batch = job == null ? null : Membership.in(job.spec());
        return batch == null
                ? text
                : text.replace(
                        "'" + batch.batch() + "'",
                        "'" + Tenancy.of(request.caller()).shown(batch.batch()) + "'");
    }

    private static Map<String, @Nullable Object> view(RemoteJoin join) {
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("suspended", join.suspended());
        view.put("results", join.results().stream().map(Views::json).toList());
        view.put("failure", join.failure());
        return view;
    }

    private RemoteLease.Key key(Request request) {
        return tokens.key(api, request);
    }
}
