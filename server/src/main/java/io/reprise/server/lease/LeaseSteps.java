// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.lease;

import io.reprise.RemoteWorkers;
import io.reprise.job.PayloadException;
import io.reprise.remote.RemoteLease;
import io.reprise.server.api.Api;
import io.reprise.server.api.Schemas;
import io.reprise.server.api.Views;
import io.reprise.server.http.Answer;
import io.reprise.server.http.Fields;
import io.reprise.server.http.Operation;
import io.reprise.server.http.Problem;
import io.reprise.server.http.Request;
import io.reprise.server.http.Response;
import io.reprise.server.http.Schema;
import io.reprise.server.http.Scope;
import io.reprise.server.steps.StepEndpoints;
import io.reprise.step.StoredStep;
import java.time.Duration;
import java.util.List;
import java.util.Map;

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

    private final Api api;
    private final RemoteWorkers workers;
    private final LeaseTokens tokens;

    LeaseSteps(Api api, LeaseTokens tokens) {
        this.api = api;
        this.workers = api.reprise().remoteWorkers();
        this.tokens = tokens;
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
                        .does(request -> pause(request, StoredStep.Kind.EVENT)));
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
                workers.checkpoint(key, name, fields.mentions("result") ? fields.json("result") : null);
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

    private RemoteLease.Key key(Request request) {
        return tokens.key(api, request);
    }
}
