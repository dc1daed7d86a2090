// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.lease;

import io.reprise.RemoteWorkers;
import io.reprise.job.JobSpec;
import io.reprise.job.Progress;
import io.reprise.job.RepriseException;
import io.reprise.remote.RemoteLease;
import io.reprise.server.api.Api;
import io.reprise.server.api.LeaseWaits;
import io.reprise.server.api.Pages;
import io.reprise.server.api.Schemas;
import io.reprise.server.api.Views;
import io.reprise.server.auth.StoreSecret;
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
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Endpoints for workers in any language: lease jobs, extend leases, report outcomes. */
public final class LeaseEndpoints implements Endpoints {

    private static final Logger log = LoggerFactory.getLogger("io.reprise.server");
    private static final String SECTION = "Remote workers";
    private static final Duration MAX_WAIT = Duration.ofMinutes(1);
    private static final Duration TERM = Duration.ofMinutes(1);
    private static final int MAX_JOBS = 100;

    /** Jobs taken at once while the length of their payloads is unknown. */
    private static final int FEW = 20;

    /** Payloads below this average number of characters count as short. */
    private static final long SHORT = 2_000;

    private static final int MAX_REMEMBERED = 1_000;

    /** An answer with this many characters of payloads takes no more jobs. */
    private static final int MAX_CHARS = 4 << 20;

    private static final String UNNAMED = "remote";

    private static final Schema WISH = Schema.object()
            .may(
                    "worker",
                    Schema.name().about("name of the worker, by which its runs are told apart; 'remote' unless given"))
            .may("queues", Schema.array(Schema.name(), 0, 100).about("in this order; all there are unless given"))
            .may(
                    "types",
                    Schema.array(Schema.name(), 0, 100).about("any that the server does not run itself, unless given"))
            .may(
                    "offers",
                    Schema.array(Schema.label(), 0, JobSpec.Needs.MAX_LABELS)
                            .about("what the worker offers to jobs that need it"))
            .may("max", Schema.integer(1, MAX_JOBS).about("jobs at most; 1 unless given"))
            .may("wait", Schema.duration().about("how long to wait for the first, up to 60 s; 0 unless given"))
            .may("lease", Schema.duration().about("how long they are held without a heartbeat; 60 s unless given"))
            .named("LeaseRequest");

    private static final Schema LEASE = Schema.object()
            .must("token", Schema.text(1, 60))
            .must("expiresAt", Schema.time())
            .must("attempt", Schema.integer(1, Integer.MAX_VALUE))
            .must("fence", Schema.integer(1, Long.MAX_VALUE).about("grows with every lease of the job"))
            .must("job", Schemas.JOB_WITH_PAYLOAD)
            .named("Lease");

    private static final Schema HEARTBEAT = Schema.object()
            .may("lease", Schema.duration())
            .may(
                    "progress",
                    Schema.object()
                            .must("percent", Schema.integer(0, 100))
                            .may("message", Schema.text(0, 500).orNull())
                            .orNull()
                            .named("ProgressReport"))
            .may("log", LeaseReports.LOG)
            .named("Heartbeat");

    private static final Schema BEAT = Schema.object()
            .must("cancelled", Schema.bool().about("somebody cancelled the job: stop, and report a failure"))
            .named("HeartbeatAnswer");

    private final Api api;
    private final RemoteWorkers workers;
    private final LeaseWaits waiting;
    private final LeaseTokens tokens;
    private final LeaseReports reports;
    private final LeaseSteps steps;

    /** Whether payloads of such jobs were short the last time. */
    private final Map<Wanted, Boolean> isShort = new ConcurrentHashMap<>();

    public LeaseEndpoints(Api api, LeaseWaits waiting) {
        this.api = api;
        this.workers = api.reprise().remoteWorkers();
        this.waiting = waiting;
        this.tokens = new LeaseTokens(StoreSecret.of(api.store()));
        this.reports = new LeaseReports(api, tokens);
        this.steps = new LeaseSteps(api, tokens);
    }

    @Override
    public List<Operation> operations() {
        List<Operation> own = List.of(
                Operation.post("/v1/leases", "leaseJobs")
                        .section(SECTION)
                        .summary("Take jobs to run, waiting a while if there are none")
                        .scope(Scope.WORK)
                        .body(WISH)
                        .answers(200, "leases, perhaps none", Schemas.page(LEASE, "Leases"))
                        .does(this::lease),
                LeaseReports.single("heartbeat", "keepLease", "Keep the lease, and report progress and log lines")
                        .optionalBody(HEARTBEAT)
                        .bodyUpTo(LeaseReports.LOG_BYTES)
                        .answers(200, "the lease is kept", BEAT)
                        .does(this::heartbeat));
        return Stream.of(own, reports.operations(), steps.operations())
                .flatMap(List::stream)
                .toList();
    }

    private Answer lease(Request request) {
        Tenancy tenancy = Tenancy.of(request.caller());
        Fields fields = request.fields();
        Duration wait = fields.duration("wait", Duration.ZERO);
        if (wait.compareTo(MAX_WAIT) > 0) {
            throw Problem.invalid("/wait", "must be at most 60s");
        }
        if (fields.texts("types").stream().anyMatch(LeaseTokens.OWN::contains)) {
            throw Problem.invalid(
                    "/types", "must not name " + String.join(", ", LeaseTokens.OWN) + ": the server runs these itself");
        }
        Caller.Bounds bounds = request.caller().bounds();
        fields.texts("queues").forEach(bounds::requireQueue);
        fields.texts("types").forEach(bounds::requireType);
        Wanted wanted = wanted(fields, tenancy, bounds);
        return waiting.forWork(request, wait, wanted, last -> {
            List<RemoteLease> leases = lease(fields, tenancy, wanted);
            return leases.isEmpty() && !last
                    ? null
                    : Response.ok(Views.page(
                                    leases.stream()
                                            .map(lease -> view(lease, tenancy))
                                            .toList(),
                                    null))
                            .ifUnsent(() -> leases.forEach(this::giveBack));
        });
    }

    /** Gives a job back whose lease did not reach the worker, so that nobody runs it. */
    private void giveBack(RemoteLease lease) {
        try {
            workers.release(lease.key());
        } catch (RepriseException e) {
            log.debug("Job {} could not be given back: {}", lease.job().id(), e.getMessage());
        }
    }

    /**
     * A description of wanted jobs. Requests with equal descriptions wait in one line.
     *
     * @param queues in this order; empty for all that begin with the prefix
     * @param types empty for any
     * @param offers what the worker offers
     */
    private record Wanted(List<String> queues, String prefix, Set<String> types, Set<String> offers) {}

    /** Reads the wanted jobs. A worker that names no queue gets all queues that its key allows, a tenant its own. */
    private static Wanted wanted(Fields fields, Tenancy tenancy, Caller.Bounds bounds) {
        Set<String> named = fields.texts("queues");
        List<String> queues = (named.isEmpty() ? bounds.queues() : named)
                .stream()
                        .map(queue -> tenancy.stored("queues", queue))
                        .distinct()
                        .toList();
        String prefix = tenancy.prefix() == null ? "" : tenancy.prefix();
        Set<String> types = fields.texts("types");
        return new Wanted(queues, prefix, types.isEmpty() ? bounds.types() : types, fields.texts("offers"));
    }

    private List<RemoteLease> lease(Fields fields, Tenancy tenancy, Wanted wanted) {
        try {
            return lease(
                    new RemoteLease.LeaseRequest(
                            tenancy.stored("worker", fields.text("worker", UNNAMED)),
                            wanted.queues,
                            wanted.prefix,
                            wanted.types,
                            FEW,
                            fields.duration("lease", TERM),
                            wanted.offers),
                    wanted,
                    fields.integer("max", 1));
        } catch (IllegalArgumentException e) {
            throw Problem.invalid("/lease", String.valueOf(e.getMessage()));
        }
    }

    /**
     * Leases jobs: all at once if payloads were short the last time, otherwise a few at a time. It stops when there are
     * enough jobs, or enough characters for one answer.
     */
    private List<RemoteLease> lease(RemoteLease.LeaseRequest leaseRequest, Wanted wanted, int max) {
        List<RemoteLease> leases = new ArrayList<>();
        long chars = 0;
        int asked;
        int got;
        do {
            asked = Math.min(isShort.getOrDefault(wanted, false) ? MAX_JOBS : FEW, max - leases.size());
            List<RemoteLease> some = workers.lease(new RemoteLease.LeaseRequest(
                    leaseRequest.worker(),
                    leaseRequest.queues(),
                    leaseRequest.prefix(),
                    leaseRequest.types(),
                    asked,
                    leaseRequest.lease(),
                    leaseRequest.offers()));
            leases.addAll(some);
            got = some.size();
            chars += some.stream().mapToLong(lease -> Pages.length(lease.job())).sum();
            remember(wanted, leases.size(), chars);
        } while (got == asked && leases.size() < max && chars < MAX_CHARS);
        return leases;
    }

    private void remember(Wanted wanted, int jobs, long chars) {
        if (jobs > 0) {
            if (isShort.size() >= MAX_REMEMBERED) {
                isShort.clear();
            }
            isShort.put(wanted, chars < SHORT * jobs);
        }
    }

    private Map<String, @Nullable Object> view(RemoteLease lease, Tenancy tenancy) {
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("token", tokens.of(lease.key()));
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
            boolean cancelled = workers.heartbeat(
                    tokens.key(api, request), fields.duration("lease", TERM), progress, reports.log(request, fields));
            return Response.ok(Map.of("cancelled", cancelled));
        } catch (IllegalArgumentException e) {
            throw Problem.invalid("/lease", String.valueOf(e.getMessage()));
        }
    }
}
