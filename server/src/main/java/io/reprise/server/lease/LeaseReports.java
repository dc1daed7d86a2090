// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.lease;

import io.reprise.RemoteWorkers;
import io.reprise.failure.Failure;
import io.reprise.failure.FailureClass;
import io.reprise.insight.CostEntry;
import io.reprise.insight.LogLine;
import io.reprise.insight.TraceParent;
import io.reprise.job.Job;
import io.reprise.job.JobSpec;
import io.reprise.remote.RemoteLease;
import io.reprise.remote.RemoteLog;
import io.reprise.remote.RemoteReport;
import io.reprise.remote.StaleLeaseException;
import io.reprise.server.api.Api;
import io.reprise.server.api.FindGroup;
import io.reprise.server.api.PolicyBook;
import io.reprise.server.api.Schemas;
import io.reprise.server.api.Views;
import io.reprise.server.auth.Quotas;
import io.reprise.server.auth.Tenancy;
import io.reprise.server.http.Answer;
import io.reprise.server.http.Caller;
import io.reprise.server.http.Fields;
import io.reprise.server.http.Operation;
import io.reprise.server.http.Problem;
import io.reprise.server.http.Request;
import io.reprise.server.http.Response;
import io.reprise.server.http.Schema;
import io.reprise.server.http.Scope;
import io.reprise.step.Step;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Endpoints for reports of remote runs, one by one or many at once. */
final class LeaseReports {

    private static final String SECTION = "Remote workers";
    private static final int MAX_REPORTS = 1_000;
    private static final int MAX_RESULT = JobSpec.MAX_PAYLOAD_BYTES;

    private static final String COMPLETE = "complete";
    private static final String FAIL = "fail";
    private static final String SNOOZE = "snooze";
    private static final String CANCEL = "cancel";
    private static final String RELEASE = "release";

    private static final Schema COST = Schema.object()
            .open()
            .about("what the run cost, by unit: {\"usd\": 0.25, \"tokens\": 812}; at most 8 units");

    /** Enough for all lines that a run keeps, however they are escaped. */
    static final int LOG_BYTES = 1 << 20;

    static final Schema LOG = Schema.object()
            .must("from", Schema.integer(0, LogLine.MAX_LINES).about("how many lines of the run were sent before"))
            .must(
                    "lines",
                    Schema.array(Schema.text(0, LOG_BYTES).about("cut at 4,000 characters"), 0, LogLine.MAX_LINES + 1))
            .about("new log lines of the run; a run keeps 1,000 lines and 64 kB, and says if there were more;"
                    + " none is kept while the tenant has its quota of bytes stored")
            .named("LogReport");

    private static final Schema COMPLETION = Schema.object()
            .may("result", Schema.json().about("any JSON"))
            .may("cost", COST)
            .may("log", LOG)
            .named("Completion");

    private static final Schema FAILED_STEP = Schema.object()
            .must("name", Schema.name().about("name of the step"))
            .may("policy", Schemas.POLICY_OR_NAME)
            .may("resource", Schema.name().about("what the step calls: it takes the blame"))
            .named("FailedStep");

    private static final Schema FAILURE = Schema.object()
            .may("type", Schema.text(1, 500).about("kind of error, such as the class of an exception"))
            .may(
                    "types",
                    Schema.array(Schema.text(1, 500), 1, Failure.MAX_TYPES)
                            .about("in place of type: the kind of error, then its parents; rules match any of them"))
            .may("message", Schema.text(0, 20_000))
            .may("code", Schema.text(1, 200).orNull())
            .may("httpStatus", Schema.integer(100, 599).orNull())
            .may("retryAfter", Schema.duration().orNull())
            .may("trace", Schema.text(0, 100_000).orNull())
            .may(
                    "class",
                    Schema.choice(List.of("TRANSIENT", "THROTTLED", "DEPENDENCY_DOWN", "PERMANENT"))
                            .about("class of the failure; the rules of the policy decide unless given"))
            .may("permanent", Schema.bool().about("no further attempt will cure it: class PERMANENT"))
            .may("cost", COST)
            .may("log", LOG)
            .may("step", FAILED_STEP.about("the step that failed; its policy comes before that of the job"))
            .named("FailureReport");

    private static final Schema DELAY = Schema.object()
            .must("delay", Schema.duration())
            .may("cost", COST)
            .may("log", LOG)
            .named("Snooze");

    private static final Schema CANCELLATION = Schema.object()
            .may("reason", Schema.text(0, 2_000).about("kept with the attempt"))
            .may("cost", COST)
            .may("log", LOG)
            .named("CancelledRun");

    private static final Schema REPORT = Schema.object()
            .must("token", LeaseTokens.SCHEMA)
            .must("outcome", Schema.choice(List.of(COMPLETE, FAIL, SNOOZE, CANCEL, RELEASE)))
            .may("result", Schema.json().about("of complete: any JSON"))
            .may("failure", FAILURE.about("of fail"))
            .may("delay", Schema.duration().about("of snooze"))
            .may("reason", Schema.text(0, 2_000).about("of cancel"))
            .may("cost", COST)
            .may("log", LOG)
            .may("traceparent", Schema.text(0, 1_000).about("as the header of a single report"))
            .named("LeaseReport");

    private static final Schema REPORTS = Schema.object()
            .must("reports", Schema.array(REPORT, 1, MAX_REPORTS))
            .named("LeaseReports");

    private static final Schema ANSWER = Schema.object()
            .must("token", Schema.text(1, 60))
            .must("accepted", Schema.bool())
            .must("problem", Problem.VIEW.orNull().about("why nothing was changed, as for a single report; else null"))
            .named("LeaseReportAnswer");

    private final RemoteWorkers workers;
    private final LeaseTokens tokens;
    private final FindGroup jobs;
    private final PolicyBook policies;
    private final Quotas quotas;

    LeaseReports(Api api, LeaseTokens tokens) {
        this.workers = api.reprise().remoteWorkers();
        this.tokens = tokens;
        this.jobs = new FindGroup(api.reprise()::findAll);
        this.policies = new PolicyBook(api.store());
        this.quotas = api.quotas();
    }

    List<Operation> operations() {
        return List.of(
                report(COMPLETE, "completeJob", "The job succeeded")
                        .optionalBody(COMPLETION)
                        .answers(200, "the job as it is now", Schemas.JOB_WITH_PAYLOAD)
                        .does(request -> one(request, COMPLETE)),
                report(FAIL, "failJob", "The run failed: the policy decides what becomes of the job")
                        .body(FAILURE)
                        .bodyUpTo(LOG_BYTES)
                        .answers(200, "the job as it is now", Schemas.JOB_WITH_PAYLOAD)
                        .does(request -> one(request, FAIL)),
                report(SNOOZE, "snoozeJob", "Not a failure: run it again after the delay; no attempt is spent")
                        .body(DELAY)
                        .bodyUpTo(LOG_BYTES)
                        .answers(200, "the job as it is now", Schemas.JOB_WITH_PAYLOAD)
                        .does(request -> one(request, SNOOZE)),
                report(CANCEL, "cancelRun", "End the job as cancelled, because the run asks for it or was told to stop")
                        .optionalBody(CANCELLATION)
                        .bodyUpTo(LOG_BYTES)
                        .answers(200, "the job as it is now", Schemas.JOB_WITH_PAYLOAD)
                        .does(request -> one(request, CANCEL)),
                report(RELEASE, "releaseJob", "Give the job back unstarted")
                        .optionalBody(Schema.object().named("Release"))
                        .answers(200, "the job as it is now", Schemas.JOB_WITH_PAYLOAD)
                        .does(request -> one(request, RELEASE)),
                Operation.post("/v1/leases/report", "reportLeases")
                        .section(SECTION)
                        .summary("Say how many runs went, in one request; each report is answered for itself")
                        .scope(Scope.WORK)
                        .body(REPORTS)
                        .answers(200, "an answer to each, in their order", Schemas.page(ANSWER, "LeaseReportAnswers"))
                        .does(this::many));
    }

    private static Operation.Builder report(String action, String id, String summary) {
        return single(action, id, summary)
                .header(
                        "traceparent",
                        Schema.text(0, 1_000),
                        "W3C trace of the run, to which the next run can link; ignored if it has another form");
    }

    static Operation.Builder single(String action, String id, String summary) {
        return Operation.post("/v1/leases/{token}/" + action, id)
                .section(SECTION)
                .summary(summary)
                .scope(Scope.WORK)
                .path("token", LeaseTokens.SCHEMA, "of the lease");
    }

    private Answer one(Request request, String outcome) {
        RemoteLease.Key key = tokens.key(request.path("token"));
        Fields fields = request.fields();
        RemoteReport report =
                traced(report(request, key, outcome, fields, fields, ""), request.parameter("traceparent"));
        RemoteReport.Answer answer = workers.report(List.of(report), LeaseTokens.mayReport(request.caller()))
                .get(0);
        RuntimeException refusal = answer.refusal();
        if (refusal != null) {
            throw refusal;
        }
        Tenancy tenancy = Tenancy.of(request.caller());
        Job known = answer.job();
        if (known != null) {
            return Response.ok(Views.job(known, tenancy));
        }
        Job job = jobs.find(key.job())
                .filter(found -> tenancy.owns(found.queue()))
                .orElseThrow(() -> Problem.notFound("Job " + key.job()));
        return Response.ok(Views.job(job, tenancy));
    }

    /** Takes all reports that can be read. A lease that is not the caller's is treated as gone. */
    private Answer many(Request request) {
        List<Fields> fields = request.fields().each("reports");
        List<@Nullable Problem> problems = new ArrayList<>();
        List<RemoteReport> reports = new ArrayList<>();
        for (Fields each : fields) {
            String pointer = "/reports/" + problems.size();
            try {
                RemoteLease.Key key = tokens.key(each.text("token", ""));
                RemoteReport report = report(request, key, each.text("outcome", ""), each, each.in("failure"), pointer);
                reports.add(traced(report, each.text("traceparent")));
                problems.add(null);
            } catch (StaleLeaseException e) {
                problems.add(Problem.about(e, request.caller()));
            }
        }
        List<RemoteReport.Answer> answers = workers.report(reports, LeaseTokens.mayReport(request.caller()));
        int told = 0;
        List<Map<String, @Nullable Object>> items = new ArrayList<>();
        for (int n = 0; n < fields.size(); n++) {
            Problem problem = problems.get(n);
            RuntimeException refusal = problem == null ? answers.get(told++).refusal() : problem;
            items.add(answer(fields.get(n).text("token", ""), refusal, request.caller()));
        }
        return Response.ok(Views.page(items, null));
    }

    private static Map<String, @Nullable Object> answer(
            String token, @Nullable RuntimeException refusal, Caller caller) {
        Map<String, @Nullable Object> answer = new LinkedHashMap<>();
        answer.put("token", token);
        answer.put("accepted", refusal == null);
        answer.put(
                "problem",
                refusal == null ? null : Problem.about(refusal, caller).view());
        return answer;
    }

    /**
     * Reads the report of one run.
     *
     * @param failure the object that describes a failure
     * @param pointer JSON pointer to the report in the body
     */
    private RemoteReport report(
            Request request, RemoteLease.Key key, String outcome, Fields fields, Fields failure, String pointer) {
        RemoteReport report = switch (outcome) {
            case COMPLETE -> RemoteReport.completed(key, result(fields, pointer));
            case FAIL -> {
                require(
                        failure.has("type") != failure.has("types"),
                        pointer + (failure == fields ? "/type" : "/failure/type"),
                        "is required, or types in its place");
                RemoteReport failed = RemoteReport.failed(key, failure(failure));
                String at = pointer + (failure == fields ? "/step" : "/failure/step");
                yield failure.has("step")
                        ? failed.in(step(failure.in("step"), at, Tenancy.of(request.caller())))
                        : failed;
            }
            case SNOOZE -> {
                require(fields.has("delay"), pointer + "/delay", "is required");
                yield snoozed(key, fields, pointer);
            }
            case CANCEL -> RemoteReport.cancelled(key, fields.text("reason", "The worker ended the job"));
            default -> RemoteReport.released(key);
        };
        RemoteReport costing = report.costing(costs(fields.has("cost") ? fields : failure, pointer));
        RemoteLog log = log(request, fields.has("log") ? fields : failure);
        return log == null ? costing : costing.logging(log);
    }

    /** Reads new log lines; null if there are none, or if the tenant has no room for them. */
    @Nullable
    RemoteLog log(Request request, Fields fields) {
        if (!fields.has("log")) {
            return null;
        }
        List<String> lines = new ArrayList<>();
        fields.in("log").node("lines").forEach(line -> lines.add(line.stringValue("")));
        if (!quotas.keepsLines(request.caller(), lines)) {
            return null;
        }
        return new RemoteLog(fields.in("log").integer("from", 0), lines);
    }

    /** A header that is no trace must not refuse a report. */
    private static RemoteReport traced(RemoteReport report, @Nullable String header) {
        return header == null
                ? report
                : TraceParent.read(header).map(report::traced).orElse(report);
    }

    private Step<?> step(Fields fields, String at, Tenancy tenancy) {
        Step<?> step = Step.of(fields.text("name", ""));
        if (fields.has("policy")) {
            step = step.retry(policies.resolve(at + "/policy", fields.node("policy"), tenancy));
        }
        return fields.has("resource") ? step.resource(tenancy.stored("resource", fields.text("resource", ""))) : step;
    }

    private static Map<String, Double> costs(Fields fields, String pointer) {
        Map<String, Double> costs = new LinkedHashMap<>();
        fields.node("cost").properties().forEach(unit -> {
            String field = pointer + "/cost/" + unit.getKey();
            require(unit.getValue().isNumber(), field, "must be a number");
            try {
                CostEntry.requireCost(unit.getKey(), unit.getValue().doubleValue());
            } catch (IllegalArgumentException e) {
                throw Problem.invalid(field, String.valueOf(e.getMessage()));
            }
            costs.put(unit.getKey(), unit.getValue().doubleValue());
        });
        require(costs.size() <= CostEntry.MAX_UNITS, pointer + "/cost", "has more than 8 units");
        return costs;
    }

    private static void require(boolean condition, String field, String message) {
        if (!condition) {
            throw Problem.invalid(field, message);
        }
    }

    private static @Nullable String result(Fields fields, String pointer) {
        String result = fields.has("result") ? fields.json("result") : null;
        require(
                result == null || result.length() <= MAX_RESULT / 3,
                pointer + "/result",
                "is too long: keep large data elsewhere and give a reference");
        return result;
    }

    private static RemoteReport snoozed(RemoteLease.Key key, Fields fields, String pointer) {
        try {
            return RemoteReport.snoozed(key, fields.duration("delay", Duration.ZERO));
        } catch (IllegalArgumentException e) {
            throw Problem.invalid(pointer + "/delay", String.valueOf(e.getMessage()));
        }
    }

    private static Failure failure(Fields fields) {
        Integer status = fields.has("httpStatus") ? fields.integer("httpStatus", 0) : null;
        Failure failure = Failure.reported(
                fields.has("types") ? List.copyOf(fields.texts("types")) : List.of(fields.text("type", "")),
                fields.text("code"),
                status,
                fields.text("message"),
                fields.duration("retryAfter"));
        String trace = fields.text("trace");
        failure = trace == null ? failure : failure.withTrace(trace);
        String given = fields.flag("permanent") ? FailureClass.PERMANENT.name() : fields.text("class");
        return given == null ? failure : failure.withGiven(FailureClass.valueOf(given));
    }
}
