// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.dashboard;

import io.reprise.control.BreakerPhase;
import io.reprise.insight.Activity;
import io.reprise.insight.Alert;
import io.reprise.insight.ResourceStatus;
import io.reprise.job.JobState;
import io.reprise.job.QueueState;
import io.reprise.job.WaitReason;
import io.reprise.job.WorkerState;
import io.reprise.server.api.Schemas;
import io.reprise.server.auth.Tenancy;
import io.reprise.server.http.Answer;
import io.reprise.server.http.Caller;
import io.reprise.server.http.ETags;
import io.reprise.server.http.Endpoints;
import io.reprise.server.http.Json;
import io.reprise.server.http.Operation;
import io.reprise.server.http.Request;
import io.reprise.server.http.Response;
import io.reprise.server.http.Schema;
import io.reprise.server.http.Scope;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The endpoint of the fleet's state in one small answer. */
public final class PulseEndpoints implements Endpoints {

    private static final int NO_LIMIT = Integer.MAX_VALUE;

    /** Queues and resources in one answer; the lists of both have all. */
    private static final int MAX_ROWS = 100;

    private static final Schema QUEUE = Schema.object()
            .must("name", Schema.text(1, 200))
            .must("paused", Schema.bool())
            .must("pending", Schema.integer(0, NO_LIMIT))
            .must("running", Schema.integer(0, NO_LIMIT))
            .must("failed", Schema.integer(0, NO_LIMIT))
            .must("lagSeconds", Schema.number(0, 1e12).about("how long the job that is due longest has been due"))
            .named("PulseQueue");

    private static final Schema RESOURCE = Schema.object()
            .must("name", Schema.text(1, 200))
            .must("phase", Schema.choice(BreakerPhase.class))
            .must("parked", Schema.integer(0, NO_LIMIT))
            .must("nextProbe", Schema.time().orNull())
            .must("forced", Schema.bool())
            .named("PulseResource");

    private static final Schema ALERT = Schema.object()
            .must("kind", Schema.choice(Alert.Kind.class))
            .must("type", Schema.text(0, 100))
            .must("since", Schema.time())
            .must("message", Schema.text(0, 1_000))
            .named("PulseAlert");

    private static final Schema FLOW = Schema.object()
            .must("jobs", Schema.integer(0, NO_LIMIT).about("first attempts that ended"))
            .must("retries", Schema.integer(0, NO_LIMIT).about("retries that were scheduled"))
            .must("dead", Schema.integer(0, NO_LIMIT).about("jobs that became dead letters"))
            .orNull()
            .named("Flow")
            .about("null for a tenant's key: it is counted by type, for all tenants");

    private static final Schema WAITING =
            Schema.map(Schema.integer(0, NO_LIMIT)).orNull().about("waiting jobs by reason; null for a tenant's key");

    static final Schema PULSE = Schema.object()
            .must("at", Schema.time().about("when it was read; the next reading is at least a second later"))
            .must("sentence", Schema.text(1, 1_000))
            .must("counts", Schemas.COUNTS)
            .must("countsAtLeast", Schemas.COUNTS_AT_LEAST)
            .must("waiting", WAITING)
            .must("waitingAtLeast", Schema.bool().about("whether only the first 10,000 waiting jobs were looked at"))
            .must("queues", Schema.array(QUEUE, 0, MAX_ROWS).about("those that lag most"))
            .must("queueCount", Schema.integer(0, NO_LIMIT))
            .must(
                    "resources",
                    Schema.array(RESOURCE, 0, MAX_ROWS).about("those with a breaker that is not closed first"))
            .must("resourceCount", Schema.integer(0, NO_LIMIT))
            .must("alerts", Schema.array(ALERT, 0, NO_LIMIT))
            .must("workers", Schema.integer(0, NO_LIMIT))
            .must("minute", FLOW)
            .must("tenMinutes", FLOW)
            .named("Pulse");

    private final Pulse pulse;

    PulseEndpoints(Pulse pulse) {
        this.pulse = pulse;
    }

    @Override
    public List<Operation> operations() {
        return List.of(Operation.get("/v1/pulse", "getPulse")
                .section("Insight")
                .summary("The fleet in sums, read at most once a second however many ask")
                .scope(Scope.READ)
                .header("If-None-Match", Schema.text(1, 200), "ETag of what is known already")
                .answers(200, "how it is", PULSE)
                .answers(304, "nothing was read since")
                .does(this::get));
    }

    /** Returns the pulse as a caller may see it, in JSON. */
    String text(Caller caller) {
        return Json.text(view(pulse.beat(), Tenancy.of(caller)));
    }

    private Answer get(Request request) {
        Response response =
                Response.ok(view(pulse.beat(), Tenancy.of(request.caller()))).tagged();
        String tag = String.valueOf(response.headers().get("ETag"));
        return ETags.match(request.parameter("If-None-Match"), tag) ? Response.notModified(tag) : response;
    }

    private static Map<String, @Nullable Object> view(Pulse.Beat beat, Tenancy tenancy) {
        boolean all = tenancy.prefix() == null;
        List<QueueState> queues = beat.queues().stream()
                .filter(queue -> tenancy.owns(queue.name()))
                .toList();
        List<ResourceStatus> resources = beat.resources().stream()
                .filter(resource -> tenancy.owns(resource.name()))
                .toList();
        List<WorkerState> workers = beat.workers().stream()
                .filter(worker -> tenancy.owns(worker.name()))
                .toList();
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("at", beat.at());
        view.put("sentence", FleetSentence.of(queues, resources, all ? beat.recent() : null));
        counts(view, queues);
        view.put("waiting", all ? reasons(beat.waiting()) : null);
        view.put("waitingAtLeast", all && sum(beat.waiting()) >= Pulse.MAX_JOBS_READ);
        view.put(
                "queues",
                queues.stream()
                        .sorted(Comparator.comparing((QueueState queue) -> lag(queue, beat.at()))
                                .reversed())
                        .limit(MAX_ROWS)
                        .map(queue -> view(queue, beat.at(), tenancy))
                        .toList());
        view.put("queueCount", queues.size());
        view.put(
                "resources",
                resources.stream()
                        .sorted(Comparator.comparing(
                                        (ResourceStatus resource) -> resource.phase() == BreakerPhase.CLOSED)
                                .thenComparing(Comparator.comparing(ResourceStatus::parked)
                                        .reversed()))
                        .limit(MAX_ROWS)
                        .map(resource -> view(resource, tenancy))
                        .toList());
        view.put("resourceCount", resources.size());
        view.put(
                "alerts", all ? beat.alerts().stream().map(PulseEndpoints::view).toList() : List.of());
        view.put("workers", workers.size());
        view.put("minute", all ? view(beat.minute()) : null);
        view.put("tenMinutes", all ? view(beat.recent()) : null);
        return view;
    }

    private static void counts(Map<String, @Nullable Object> view, List<QueueState> queues) {
        Map<String, Long> counts = new LinkedHashMap<>();
        for (JobState state : JobState.values()) {
            counts.put(
                    state.name(),
                    queues.stream().mapToLong(queue -> queue.count(state)).sum());
        }
        view.put("counts", counts);
        view.put(
                "countsAtLeast",
                queues.stream()
                        .flatMap(queue -> queue.atLeast().stream())
                        .distinct()
                        .sorted()
                        .toList());
    }

    private static long sum(Map<WaitReason, Long> counts) {
        return counts.values().stream().mapToLong(Long::longValue).sum();
    }

    /** Every reason is there, also if no job waits for it. */
    private static Map<String, Long> reasons(Map<WaitReason, Long> counts) {
        Map<String, Long> view = new LinkedHashMap<>();
        for (WaitReason reason : WaitReason.values()) {
            view.put(reason.name(), counts.getOrDefault(reason, 0L));
        }
        return view;
    }

    private static Duration lag(QueueState queue, Instant now) {
        Instant oldest = queue.oldestDueAt();
        return oldest == null || oldest.isAfter(now) ? Duration.ZERO : Duration.between(oldest, now);
    }

    private static Map<String, @Nullable Object> view(QueueState queue, Instant now, Tenancy tenancy) {
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("name", tenancy.shown(queue.name()));
        view.put("paused", queue.paused() != null);
        view.put("pending", queue.count(JobState.PENDING));
        view.put("running", queue.count(JobState.RUNNING));
        view.put("failed", queue.count(JobState.FAILED));
        view.put("lagSeconds", lag(queue, now).toMillis() / 1e3);
        return view;
    }

    private static Map<String, @Nullable Object> view(ResourceStatus resource, Tenancy tenancy) {
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("name", tenancy.shown(resource.name()));
        view.put("phase", resource.phase());
        view.put("parked", resource.parked());
        view.put("nextProbe", resource.nextProbe());
        view.put("forced", resource.force() != null);
        return view;
    }

    private static Map<String, @Nullable Object> view(Alert alert) {
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("kind", alert.kind());
        view.put("type", alert.type());
        view.put("since", alert.since());
        view.put("message", alert.message());
        return view;
    }

    private static Map<String, @Nullable Object> view(Activity.Counts counts) {
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("jobs", counts.jobs());
        view.put("retries", counts.retries());
        view.put("dead", counts.dead());
        return view;
    }
}
