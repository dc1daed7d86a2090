// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import io.reprise.Job;
import io.reprise.JobSpec;
import io.reprise.Progress;
import io.reprise.RemoteLease;
import io.reprise.RemoteWorkers;
import io.reprise.StaleLeaseException;
import io.reprise.retry.Failure;
import io.reprise.retry.FailureClass;
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
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** Workers in any language: take jobs, keep them, say how they went. */
final class LeaseEndpoints implements Endpoints {

    private static final String SECTION = "Remote workers";
    private static final Duration MAX_WAIT = Duration.ofMinutes(1);
    private static final Duration TERM = Duration.ofMinutes(1);
    private static final int MAX_JOBS = 100;
    private static final String UNNAMED = "remote";
    private static final int MAX_RESULT = JobSpec.MAX_PAYLOAD_BYTES;

    private static final Schema WISH = Schema.object()
            .may("worker", Schema.name().about("name of the worker, by which its runs are told apart; 'remote' unless given"))
            .may("queues", Schema.array(Schema.name(), 0, 100).about("in this order; all there are unless given"))
            .may("types", Schema.array(Schema.name(), 0, 100).about("any unless given"))
            .may("max", Schema.integer(1, MAX_JOBS).about("jobs at most; 1 unless given"))
            .may("wait", Schema.duration().about("how long to wait for the first, up to 60 s; 0 unless given"))
            .may("lease", Schema.duration().about("how long they are held without a heartbeat; 60 s unless given"))
            .named("LeaseRequest");

    private static final Schema LEASE = Schema.object()
            .must("token", Schema.text(1, 60))
            .must("expiresAt", Schema.time())
            .must("attempt", Schema.integer(1, Integer.MAX_VALUE))
            .must("fence", Schema.integer(1, Integer.MAX_VALUE).about("grows with every lease of the job"))
            .must("job", Schemas.JOB)
            .named("Lease");

    private static final Schema HEARTBEAT = Schema.object()
            .may("lease", Schema.duration())
            .may("progress", Schemas.PROGRESS)
            .named("Heartbeat");

    private static final Schema BEAT = Schema.object()
            .must("cancelled", Schema.bool().about("somebody cancelled the job: stop, and report a failure"))
            .named("HeartbeatAnswer");

    private static final Schema COMPLETION =
            Schema.object().may("result", Schema.any().about("any JSON")).named("Completion");

    private static final Schema FAILURE = Schema.object()
            .must("type", Schema.text(1, 500).about("kind of error, such as the class of an exception"))
            .may("message", Schema.text(0, 20_000))
            .may("code", Schema.text(1, 200).orNull())
            .may("httpStatus", Schema.integer(100, 599).orNull())
            .may("retryAfter", Schema.duration().orNull())
            .may("trace", Schema.text(0, 100_000).orNull())
            .may("permanent", Schema.bool().about("no further attempt will cure it"))
            .named("FailureReport");

    private static final Schema SNOOZE =
            Schema.object().must("delay", Schema.duration()).named("Snooze");

    private final Api api;
    private final RemoteWorkers workers;
    private final Waiting waiting;

    LeaseEndpoints(Api api, Waiting waiting) {
        this.api = api;
        this.workers = api.reprise().remoteWorkers();
        this.waiting = waiting;
    }

    @Override
    public List<Operation> operations() {
        return List.of(
                Operation.post("/v1/leases", "leaseJobs")
                        .section(SECTION)
                        .summary("Take jobs to run, waiting a while if there are none")
                        .scope(Scope.WORK)
                        .body(WISH)
                        .answers(200, "leases, perhaps none", Schemas.page(LEASE, "Leases"))
                        .does(this::lease),
                one("heartbeat", "keepLease", "Keep the lease, and report progress")
                        .optionalBody(HEARTBEAT)
                        .answers(200, "the lease is kept", BEAT)
                        .does(this::heartbeat),
                one("complete", "completeJob", "The job succeeded")
                        .optionalBody(COMPLETION)
                        .answers(200, "the job as it is now", Schemas.JOB)
                        .does(request -> settle(request, this::complete)),
                one("fail", "failJob", "The run failed: the policy decides what becomes of the job")
                        .body(FAILURE)
                        .answers(200, "the job as it is now", Schemas.JOB)
                        .does(request -> settle(request, (key, fields) -> workers.fail(key, failure(fields)))),
                one("snooze", "snoozeJob", "Not a failure: run it again after the delay; no attempt is spent")
                        .body(SNOOZE)
                        .answers(200, "the job as it is now", Schemas.JOB)
                        .does(request -> settle(request, this::snooze)),
                one("release", "releaseJob", "Give the job back unstarted")
                        .answers(200, "the job as it is now", Schemas.JOB)
                        .does(request -> settle(request, (key, fields) -> workers.release(key))));
    }

    private static Operation.Builder one(String action, String id, String summary) {
        return Operation.post("/v1/leases/{token}/" + action, id)
                .section(SECTION)
                .summary(summary)
                .scope(Scope.WORK)
                .path(
                        "token",
                        Schema.text(1, 60).matching("[0-9]+-[0-9]+(-p)?").about("a lease token"),
                        "of the lease");
    }

    private Answer lease(Request request) {
        Tenancy tenancy = Tenancy.of(request.caller());
        Fields fields = request.fields();
        Duration wait = fields.duration("wait", Duration.ZERO);
        if (wait.compareTo(MAX_WAIT) > 0) {
            throw Problem.invalid("/wait", "must be at most 60s");
        }
        return waiting.until(wait, last -> {
            List<RemoteLease> leases = lease(fields, tenancy);
            return leases.isEmpty() && !last
                    ? null
                    : Response.ok(Views.page(
                            leases.stream().map(lease -> view(lease, tenancy)).toList(), null));
        });
    }

    private List<RemoteLease> lease(Fields fields, Tenancy tenancy) {
        List<String> queues = queues(fields, tenancy);
        if (queues.isEmpty() && tenancy.prefix() != null) {
            return List.of();
        }
        try {
            return workers.lease(new RemoteLease.Wish(
                    tenancy.stored("worker", fields.text("worker", UNNAMED)),
                    queues,
                    fields.texts("types"),
                    fields.integer("max", 1),
                    fields.duration("lease", TERM)));
        } catch (IllegalArgumentException e) {
            throw Problem.invalid("/lease", String.valueOf(e.getMessage()));
        }
    }

    /** A tenant that names no queue means its own. */
    private List<String> queues(Fields fields, Tenancy tenancy) {
        Set<String> queues = new LinkedHashSet<>();
        fields.texts("queues").forEach(queue -> queues.add(tenancy.stored("queues", queue)));
        if (queues.isEmpty() && tenancy.prefix() != null) {
            api.store().liveQueues().stream().filter(tenancy::owns).forEach(queues::add);
        }
        return List.copyOf(queues);
    }

    private static Map<String, @Nullable Object> view(RemoteLease lease, Tenancy tenancy) {
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("token", lease.key().text());
        view.put("expiresAt", lease.expiresAt());
        view.put("attempt", lease.attempt());
        view.put("fence", lease.key().token());
        view.put("job", Views.job(lease.job(), tenancy));
        return view;
    }

    private Answer heartbeat(Request request) {
        Fields fields = request.fields();
        Progress progress = fields.has("progress")
                ? new Progress(
                        fields.in("progress").integer("percent", 0),
                        fields.in("progress").text("message"))
                : null;
        try {
            boolean cancelled = workers.heartbeat(key(request), fields.duration("lease", TERM), progress);
            return Response.ok(Map.of("cancelled", cancelled));
        } catch (IllegalArgumentException e) {
            throw Problem.invalid("/lease", String.valueOf(e.getMessage()));
        }
    }

    private void complete(RemoteLease.Key key, Fields fields) {
        String result = fields.has("result") ? fields.node("result").toString() : null;
        if (result != null && result.length() > MAX_RESULT / 3) {
            throw Problem.invalid("/result", "is too long: keep large data elsewhere and give a reference");
        }
        workers.complete(key, result);
    }

    private void snooze(RemoteLease.Key key, Fields fields) {
        try {
            workers.snooze(key, fields.duration("delay", Duration.ZERO));
        } catch (IllegalArgumentException e) {
            throw Problem.invalid("/delay", String.valueOf(e.getMessage()));
        }
    }

    private static Failure failure(Fields fields) {
        Integer status = fields.has("httpStatus") ? fields.integer("httpStatus", 0) : null;
        Failure failure = Failure.reported(
                fields.text("type", ""),
                fields.text("code"),
                status,
                fields.text("message"),
                fields.duration("retryAfter"));
        String trace = fields.text("trace");
        failure = trace == null ? failure : failure.withTrace(trace);
        return fields.flag("permanent") ? failure.withGiven(FailureClass.PERMANENT) : failure;
    }

    private Answer settle(Request request, BiConsumer<RemoteLease.Key, Fields> outcome) {
        RemoteLease.Key key = key(request);
        outcome.accept(key, request.fields());
        return Response.ok(Views.job(api.job(request, key.job().toString()), Tenancy.of(request.caller())));
    }

    /** A foreign tenant's lease is as none. */
    private RemoteLease.Key key(Request request) {
        RemoteLease.Key key;
        try {
            key = RemoteLease.Key.parse(request.path("token"));
        } catch (IllegalArgumentException e) {
            throw Problem.invalid("token", "must be a lease token");
        }
        Tenancy tenancy = Tenancy.of(request.caller());
        if (tenancy.prefix() != null) {
            Job job = api.store().find(key.job()).orElse(null);
            if (job == null || !tenancy.owns(job.queue())) {
                throw new StaleLeaseException("Lease " + request.path("token") + " is gone, and nothing was changed");
            }
        }
        return key;
    }
}
