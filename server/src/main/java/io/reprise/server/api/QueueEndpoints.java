// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import io.reprise.job.JobState;
import io.reprise.job.QueueState;
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
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Endpoints of queues: depth, age, pause and limit. */
public final class QueueEndpoints implements Endpoints {

    private static final String SECTION = "Queues";
    private static final int NO_LIMIT = Integer.MAX_VALUE;

    private static final Schema QUEUE = Schema.object()
            .must("name", Schema.name())
            .must("paused", Schema.bool())
            .must("pausedAt", Schema.time().orNull())
            .must("pausedBy", Schema.text(0, 100).orNull())
            .must("pausedWhy", Schema.text(0, 500).orNull())
            .must("maxRunning", Schema.integer(1, NO_LIMIT).orNull())
            .must("depth", Schema.integer(0, NO_LIMIT).about("pending jobs"))
            .must("counts", Schemas.COUNTS)
            .must("countsAtLeast", Schemas.COUNTS_AT_LEAST)
            .must("oldestDueAt", Schema.time().orNull())
            .must("oldestAge", Schema.duration().orNull().about("how long the oldest due job has waited"))
            .named("Queue");

    private static final Schema SETTINGS = Schema.object()
            .must("maxRunning", Schema.integer(1, 1_000_000).orNull().about("in the whole fleet; null for no limit"))
            .may("why", Schema.text(0, 500))
            .named("QueueSettings");

    private final Api api;

    public QueueEndpoints(Api api) {
        this.api = api;
    }

    @Override
    public List<Operation> operations() {
        return List.of(
                Operation.get("/v1/queues", "listQueues")
                        .section(SECTION)
                        .summary("Every queue that has settings or jobs")
                        .scope(Scope.READ)
                        .answers(200, "the queues", Schemas.page(QUEUE, "Queues"))
                        .does(this::list),
                Operation.get("/v1/queues/{queue}", "getQueue")
                        .section(SECTION)
                        .summary("One queue")
                        .scope(Scope.READ)
                        .path("queue", Schema.name(), "name of the queue")
                        .answers(200, "the queue", QUEUE)
                        .does(request -> Response.ok(view(request, state(request)))),
                Operation.put("/v1/queues/{queue}", "changeQueue")
                        .section(SECTION)
                        .summary("Bound how many jobs of the queue run at once")
                        .scope(Scope.OPERATE)
                        .path("queue", Schema.name(), "name of the queue")
                        .body(SETTINGS)
                        .answers(200, "the queue as it is now", QUEUE)
                        .does(this::change),
                Operation.post("/v1/queues/{queue}/pause", "pauseQueue")
                        .section(SECTION)
                        .summary("No job of the queue is claimed until it is resumed; running ones go on")
                        .scope(Scope.OPERATE)
                        .path("queue", Schema.name(), "name of the queue")
                        .optionalBody(Schemas.WHY)
                        .answers(200, "the queue as it is now", QUEUE)
                        .does(this::pause),
                Operation.post("/v1/queues/{queue}/resume", "resumeQueue")
                        .section(SECTION)
                        .summary("Let jobs of the queue be claimed again")
                        .scope(Scope.OPERATE)
                        .path("queue", Schema.name(), "name of the queue")
                        .optionalBody(Schemas.WHY)
                        .answers(200, "the queue as it is now", QUEUE)
                        .does(this::resume));
    }

    private Answer list(Request request) {
        Tenancy tenancy = Tenancy.of(request.caller());
        return Response.ok(Views.page(
                api.queues().get().stream()
                        .filter(queue -> tenancy.owns(queue.name()))
                        .map(queue -> view(request, queue))
                        .toList(),
                null));
    }

    private Answer change(Request request) {
        Fields fields = request.fields();
        api.quotas().queue(request.caller(), name(request));
        api.as(request).limit(name(request), fields.has("maxRunning") ? fields.integer("maxRunning", 1) : null);
        api.queues().forget();
        return Response.ok(view(request, state(request)));
    }

    private Answer pause(Request request) {
        api.quotas().queue(request.caller(), name(request));
        api.as(request).pause(name(request));
        api.queues().forget();
        return Response.ok(view(request, state(request)));
    }

    private Answer resume(Request request) {
        state(request);
        api.as(request).resume(name(request));
        api.queues().forget();
        return Response.ok(view(request, state(request)));
    }

    private static String name(Request request) {
        return Tenancy.of(request.caller()).stored("queue", request.path("queue"));
    }

    private QueueState state(Request request) {
        String name = name(request);
        return api.queues().get().stream()
                .filter(queue -> queue.name().equals(name))
                .findFirst()
                .orElseThrow(() -> Problem.notFound("Queue '" + request.path("queue") + "'"));
    }

    private Map<String, @Nullable Object> view(Request request, QueueState queue) {
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("name", Tenancy.of(request.caller()).shown(queue.name()));
        QueueState.Pause pause = queue.paused();
        view.put("paused", pause != null);
        view.put("pausedAt", pause == null ? null : pause.since());
        view.put("pausedBy", pause == null ? null : pause.note().by());
        view.put("pausedWhy", pause == null ? null : pause.note().why());
        view.put("maxRunning", queue.maxRunning());
        view.put("depth", queue.count(JobState.PENDING));
        Map<String, Long> counts = new LinkedHashMap<>();
        for (JobState state : JobState.values()) {
            counts.put(state.name(), queue.count(state));
        }
        view.put("counts", counts);
        view.put("countsAtLeast", queue.atLeast().stream().sorted().toList());
        Instant oldest = queue.oldestDueAt();
        view.put("oldestDueAt", oldest);
        view.put("oldestAge", oldest == null ? null : Views.duration(age(oldest)));
        return view;
    }

    private Duration age(Instant since) {
        Duration age = Duration.between(since, api.store().now());
        return age.isNegative() ? Duration.ZERO : age;
    }
}
