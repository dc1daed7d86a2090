// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import io.reprise.fairness.FlowGate;
import io.reprise.fairness.FlowLimit;
import io.reprise.insight.Activity;
import io.reprise.insight.StartLevel;
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
import io.reprise.store.ActivityQuery;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Endpoints of queues: depth, age, pause and limit. */
public final class QueueEndpoints implements Endpoints {

    private static final String SECTION = "Queues";
    private static final int NO_LIMIT = Integer.MAX_VALUE;
    private static final int MOST_GROUPS = 100;
    private static final int MOST_HOURS = 180;

    /** Jobs that are looked at to find the groups with most. */
    private static final int GROUPED_JOBS = 50_000;

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

    private static final Schema GROUP = Schema.object()
            .must("group", Schema.name())
            .must("jobs", Schema.integer(0, NO_LIMIT).about("that wait or run now"))
            .must("started", Schema.integer(0, NO_LIMIT).about("for the first time, if the queue has a service level"))
            .must("late", Schema.integer(0, NO_LIMIT).about("of those that started"))
            .named("Group");

    private static final Schema GROUPS = Schema.object()
            .must("started", Schema.integer(0, NO_LIMIT).about("jobs of the queue that started for the first time"))
            .must("late", Schema.integer(0, NO_LIMIT).about("of those, later than the service level allows"))
            .must("inTime", Schema.number(0, 1).about("share of jobs that started in time; 1 if none started"))
            .must("items", Schema.array(GROUP, 0, MOST_GROUPS).about("the groups with most jobs first"))
            .named("Groups");

    /** Sets the number of jobs of a whole queue that run at once, by changeQueue. */
    private static final String OPERATOR = "OPERATOR";

    private static final Schema LIMIT = Schema.object()
            .must("of", Schema.choice(List.of("QUEUE", "GROUP", "TYPE")))
            .must("name", Schema.text(0, 100).about("of the group or type, or a beginning and *; empty for the queue"))
            .must("running", Schema.integer(1, NO_LIMIT).orNull().about("jobs that may run at once"))
            .must("starts", Schema.integer(1, NO_LIMIT).orNull().about("jobs that may start in each per"))
            .must("per", Schema.duration().orNull())
            .must("burst", Schema.integer(1, NO_LIMIT).orNull().about("jobs that may start at once after a pause"))
            .must("inOrder", Schema.bool().about("whether the jobs of a group run one after the other"))
            .must(
                    "from",
                    Schema.choice(List.of("CODE", "SETTINGS", OPERATOR))
                            .about("where it was set; the settings come before the code, changeQueue is the operator"))
            .must("workers", Schema.integer(0, NO_LIMIT).about("live workers that have it in their code"))
            .named("QueueLimit");

    private final Api api;
    private final Recent.ByName<Map<String, Long>> grouped =
            new Recent.ByName<>(reader -> Recent.behind(reader, System::nanoTime, Api::count));

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
                Operation.get("/v1/queues/{queue}/groups", "getQueueGroups")
                        .section(SECTION)
                        .summary(
                                "The groups with most jobs, and how many jobs started in time. Counts that took long are kept for some seconds")
                        .scope(Scope.READ)
                        .path("queue", Schema.name(), "name of the queue")
                        .query("hours", Schema.integer(1, MOST_HOURS), "of which starts are counted; 24 unless given")
                        .answers(200, "up to 100 groups", GROUPS)
                        .does(this::groups),
                Operation.get("/v1/queues/{queue}/limits", "getQueueLimits")
                        .section(SECTION)
                        .summary("The limits of groups and types and the rate, and where each was set")
                        .scope(Scope.READ)
                        .path("queue", Schema.name(), "name of the queue")
                        .answers(200, "the limits", Schemas.page(LIMIT, "QueueLimits"))
                        .does(this::limits),
                Operation.put("/v1/queues/{queue}", "changeQueue")
                        .section(SECTION)
                        .summary("Bound how many jobs of the queue run at once, those with needs included")
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

    private Answer groups(Request request) {
        String queue = state(request).name();
        int hours = request.integer("hours", 24);
        Map<String, Long> jobs = grouped.of(queue, () -> mostJobs(queue)).get();
        Map<String, StartLevel> starts = new HashMap<>();
        levels(Activity.Subject.GROUP_START, null, hours).stream()
                .filter(level -> level.queue().equals(queue) && level.group() != null)
                .forEach(level -> starts.put(String.valueOf(level.group()), level));
        StartLevel all = levels(Activity.Subject.START, queue, hours).stream()
                .findFirst()
                .orElse(new StartLevel(queue, null, 0, 0));
        Set<String> names = new TreeSet<>(jobs.keySet());
        names.addAll(starts.keySet());
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("started", all.started());
        view.put("late", all.late());
        view.put("inTime", all.inTime());
        view.put(
                "items",
                names.stream()
                        .sorted(Comparator.comparingLong((String name) -> -jobs.getOrDefault(name, 0L))
                                .thenComparing(Comparator.naturalOrder()))
                        .limit(MOST_GROUPS)
                        .map(name -> group(name, jobs.getOrDefault(name, 0L), starts.get(name)))
                        .toList());
        return Response.ok(view);
    }

    /** Counts the jobs of the groups that are shown. */
    private Map<String, Long> mostJobs(String queue) {
        return api.store().groups(queue, GROUPED_JOBS).entrySet().stream()
                .sorted(Map.Entry.<String, Long>comparingByValue().reversed().thenComparing(Map.Entry.comparingByKey()))
                .limit(MOST_GROUPS)
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
    }

    private static Map<String, @Nullable Object> group(String name, long jobs, @Nullable StartLevel starts) {
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("group", name);
        view.put("jobs", jobs);
        view.put("started", starts == null ? 0 : starts.started());
        view.put("late", starts == null ? 0 : starts.late());
        return view;
    }

    /** Also of a queue that has no jobs yet. */
    private Answer limits(Request request) {
        List<Map<String, @Nullable Object>> limits = new ArrayList<>();
        api.queues().get().stream()
                .filter(queue -> queue.name().equals(name(request)) && queue.maxRunning() != null)
                .map(queue -> FlowLimit.running(queue.maxRunning()))
                .map(limit -> view(limit, FlowGate.Reached.Of.QUEUE, "", OPERATOR, 0))
                .forEach(limits::add);
        api.reprise().limits(name(request)).stream()
                .map(each ->
                        view(each.limit(), each.of(), each.name(), each.from().name(), each.workers()))
                .forEach(limits::add);
        return Response.ok(Views.page(limits, null));
    }

    private static Map<String, @Nullable Object> view(
            FlowLimit limit, FlowGate.Reached.Of of, String name, String from, int workers) {
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("of", of);
        view.put("name", name);
        view.put("running", limit.running());
        view.put("starts", limit.starts());
        view.put("per", limit.per() == null ? null : Views.duration(limit.per()));
        view.put("burst", limit.isRate() ? limit.burst() : null);
        view.put("inOrder", limit.ordered());
        view.put("from", from);
        view.put("workers", workers);
        return view;
    }

    private List<StartLevel> levels(Activity.Subject subject, @Nullable String name, int hours) {
        Map<String, Activity.Counts> sums = new HashMap<>();
        api.store()
                .activity(new ActivityQuery(subject, Activity.Step.HOUR, hours, name, name == null))
                .forEach(row -> sums.merge(row.name(), row.counts(), Activity.Counts::plus));
        return sums.entrySet().stream()
                .map(sum -> new Activity(subject, sum.getKey(), sum.getValue()).level())
                .toList();
    }

    private static String name(Request request) {
        return Tenancy.of(request.caller()).stored("queue", request.path("queue"));
    }

    private QueueState state(Request request) {
        return api.queue(name(request)).orElseThrow(() -> Problem.notFound("Queue '" + request.path("queue") + "'"));
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
