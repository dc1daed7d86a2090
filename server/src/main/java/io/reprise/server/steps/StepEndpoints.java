// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.steps;

import io.reprise.Operations;
import io.reprise.failure.FailureClass;
import io.reprise.insight.LogLine;
import io.reprise.job.Job;
import io.reprise.job.PayloadException;
import io.reprise.retry.FailReason;
import io.reprise.server.api.Api;
import io.reprise.server.api.Schemas;
import io.reprise.server.api.Views;
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
import io.reprise.step.StoredStep;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Endpoints of steps: what a job has done, what a person says about it, and events. */
public final class StepEndpoints implements Endpoints {

    private static final String SECTION = "Steps";

    private static final Schema FAILURE = Schema.object()
            .must("reason", Schema.choice(FailReason.class))
            .must("failureClass", Schema.choice(FailureClass.class))
            .must("type", Schema.text(0, 1_000))
            .must("message", Schema.text(0, 20_000).orNull())
            .orNull()
            .named("StepFailure");

    public static final Schema STEP = Schema.object()
            .must("name", Schema.name())
            .must("kind", Schema.choice(StoredStep.Kind.class))
            .must("state", Schema.choice(StoredStep.State.class))
            .must("at", Schema.time().about("when it was stored"))
            .must("dueAt", Schema.time().orNull().about("end of a sleep, or of the wait for an event"))
            .must("suspensions", Schema.integer(0, Integer.MAX_VALUE))
            .must("type", Schema.text(0, 1_000).orNull().about("name of the class of the value"))
            .must("value", Schema.json().about("result of a step, or an event; null if there is none"))
            .must("failure", FAILURE)
            .must(
                    "resolvable",
                    Schema.bool()
                            .about("whether a person may say how it ended, once its job is dead: nobody knows, or a"
                                    + " person said it before"))
            .named("Step");

    private static final Schema LINE = Schema.object()
            .must("fence", Schema.integer(1, Long.MAX_VALUE).about("of the run: a later run has a greater one"))
            .must("at", Schema.time())
            .must("text", Schema.text(0, LogLine.MAX_LENGTH))
            .named("LogLine");

    private static final Schema EVENT = Schema.object()
            .must("name", Schema.name().about("name of the event"))
            .must("value", Schema.json().about("what the handler gets"))
            .named("Event");

    private static final Schema TOLD = Schema.object()
            .must("told", Schema.bool().about("false if the job knew an event of this name, or waited too long"))
            .named("Told");

    private static final Schema RESOLUTION = Schema.object()
            .must("step", Schema.name())
            .must("outcome", Schema.choice(List.of("done", "again", "failed")))
            .may("result", Schema.json().about("of done: what the handler gets"))
            .may("why", Schema.text(0, 500).about("for the audit log; of failed: also for the handler"))
            .named("StepResolution");

    private static final Schema FORGETTING = Schema.object()
            .may("step", Schema.name().about("all steps unless given"))
            .may("later", Schema.bool().about("also those that were stored at the same time or later"))
            .may("why", Schema.text(0, 500))
            .named("ForgetSteps");

    private final Api api;

    public StepEndpoints(Api api) {
        this.api = api;
    }

    @Override
    public List<Operation> operations() {
        Schema page = Schemas.page(STEP, "Steps");
        return List.of(
                Operation.get("/v1/jobs/{id}/steps", "listSteps")
                        .section(SECTION)
                        .summary("What a job has done, in the order in which it was stored")
                        .scope(Scope.READ)
                        .path("id", Schema.id(), "id of the job")
                        .answers(200, "all steps, sleeps and events", page)
                        .does(this::list),
                Operation.get("/v1/jobs/{id}/log", "jobLog")
                        .section(SECTION)
                        .summary("What handlers of a job wrote in its latest runs, oldest first")
                        .scope(Scope.READ)
                        .path("id", Schema.id(), "id of the job")
                        .query(
                                "from",
                                Schema.integer(0, Long.MAX_VALUE),
                                "fence of the earliest run whose lines are wanted; all runs unless given")
                        .large()
                        .answers(200, "all lines that are kept", Schemas.page(LINE, "LogLines"))
                        .does(this::log),
                Operation.post("/v1/jobs/{id}/events", "tellJob")
                        .section(SECTION)
                        .summary(
                                "Tell a live job an event, for which its handler waits or will wait; the first one stays")
                        .scope(Scope.ENQUEUE)
                        .path("id", Schema.id(), "id of the job")
                        .body(EVENT)
                        .answers(200, "whether it is stored", TOLD)
                        .does(this::tell),
                Operation.post("/v1/jobs/{id}/steps/resolve", "resolveStep")
                        .section(SECTION)
                        .summary("Say how a step ended that runs at most once, and retry its job")
                        .scope(Scope.OPERATE)
                        .path("id", Schema.id(), "id of the job")
                        .body(RESOLUTION)
                        .large()
                        .answers(200, "the steps as they are now", page)
                        .does(this::resolve),
                Operation.post("/v1/jobs/{id}/steps/forget", "forgetSteps")
                        .section(SECTION)
                        .summary("Forget steps, so that the next run does them again; retry the job afterwards")
                        .scope(Scope.OPERATE)
                        .path("id", Schema.id(), "id of the job")
                        .optionalBody(FORGETTING)
                        .large()
                        .answers(200, "the steps as they are now", page)
                        .does(this::forget));
    }

    private Answer list(Request request) {
        return steps(api.job(request));
    }

    private Answer log(Request request) {
        return Response.ok(Views.page(
                api.store().log(api.job(request).id(), request.whole("from", 0)).stream()
                        .map(StepEndpoints::view)
                        .toList(),
                null));
    }

    private static Map<String, @Nullable Object> view(LogLine line) {
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("fence", line.token());
        view.put("at", line.at());
        view.put("text", line.text());
        return view;
    }

    private Answer steps(Job job) {
        return Response.ok(Views.page(
                api.reprise().steps(job.id()).stream().map(StepEndpoints::view).toList(), null));
    }

    public static Map<String, @Nullable Object> view(StoredStep step) {
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("name", step.name());
        view.put("kind", step.kind());
        view.put("state", step.state());
        view.put("at", step.at());
        view.put("dueAt", step.dueAt());
        view.put("suspensions", step.suspensions());
        view.put("type", step.type());
        view.put("value", Views.json(step.value()));
        view.put("failure", failure(step.failure()));
        view.put("resolvable", step.isResolvable());
        return view;
    }

    private static @Nullable Map<String, @Nullable Object> failure(StoredStep.@Nullable StepFailure failure) {
        if (failure == null) {
            return null;
        }
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("reason", failure.reason());
        view.put("failureClass", failure.failureClass());
        view.put("type", failure.type());
        view.put("message", failure.message());
        return view;
    }

    private Answer tell(Request request) {
        Job job = api.job(request);
        request.caller().bounds().require(Tenancy.of(request.caller()).shown(job.queue()), job.type());
        Fields fields = request.fields();
        try {
            String value = fields.json("value");
            api.quotas().keep(request.caller(), value);
            boolean told = api.reprise().tellJson(job.id(), fields.text("name", ""), "JSON", value);
            return Response.ok(Map.of("told", told));
        } catch (PayloadException e) {
            throw Problem.invalid("/value", String.valueOf(e.getMessage()));
        }
    }

    private Answer resolve(Request request) {
        Job job = api.job(request);
        Fields fields = request.fields();
        Operations person = api.as(request);
        String step = fields.text("step", "");
        String outcome = fields.text("outcome", "");
        if (fields.has("result") && !outcome.equals("done")) {
            throw Problem.invalid("/result", "belongs to outcome done, not to " + outcome);
        }
        switch (outcome) {
            case "done" -> {
                String result = fields.has("result") ? fields.json("result") : null;
                api.quotas().keep(request.caller(), result);
                try {
                    person.finishStep(job.id(), step, result);
                } catch (PayloadException e) {
                    throw Problem.invalid("/result", String.valueOf(e.getMessage()));
                }
            }
            case "failed" -> person.failStep(job.id(), step, fields.text("why", "somebody says so"));
            default -> person.repeatStep(job.id(), step);
        }
        return steps(job);
    }

    private Answer forget(Request request) {
        Job job = api.job(request);
        Fields fields = request.fields();
        Operations person = api.as(request);
        String step = fields.text("step");
        if (step == null) {
            person.forgetSteps(job.id());
        } else if (fields.flag("later")) {
            person.forgetStepsFrom(job.id(), step);
        } else {
            person.forgetStep(job.id(), step);
        }
        return steps(job);
    }
}
