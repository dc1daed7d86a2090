// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.dashboard;

import io.reprise.insight.Explanation;
import io.reprise.insight.ResourceStatus;
import io.reprise.job.Job;
import io.reprise.job.JobQuery;
import io.reprise.job.JobState;
import io.reprise.job.Page;
import io.reprise.job.QueueState;
import io.reprise.job.RefusedException;
import io.reprise.job.WorkerState;
import io.reprise.server.api.Api;
import io.reprise.server.auth.Tenancy;
import io.reprise.server.http.Answer;
import io.reprise.server.http.Endpoints;
import io.reprise.server.http.Operation;
import io.reprise.server.http.Request;
import io.reprise.server.http.Response;
import io.reprise.server.http.Schema;
import io.reprise.server.http.Scope;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Endpoints that say why the jobs of a queue or of a type do not run. */
public final class WaitEndpoints implements Endpoints {

    /** Waiting jobs that are looked at, the newest. */
    private static final int MAX_JOBS_READ = 200;

    private static final Schema REASON = Schema.object()
            .must("kind", Schema.text(1, 100))
            .must("text", Schema.text(1, 2_000))
            .must(
                    "subject",
                    Schema.choice(List.of("queue", "resource", "type", "worker"))
                            .orNull()
                            .about("what can be changed"))
            .must("name", Schema.text(1, 200).orNull().about("its name; null for any worker"))
            .must(
                    "jobs",
                    Schema.integer(1, MAX_JOBS_READ)
                            .orNull()
                            .about("of the jobs looked at; null if it holds all of them"))
            .named("WaitCause");

    /** Groups that are named at most. */
    private static final int GROUPS = 20;

    private static final Schema GROUP = Schema.object()
            .must("name", Schema.text(1, 200))
            .must("jobs", Schema.integer(1, MAX_JOBS_READ))
            .named("WaitGroup");

    private static final Schema WAIT = Schema.object()
            .must("at", Schema.time())
            .must("sentence", Schema.text(1, 20_000))
            .must("reasons", Schema.array(REASON, 0, 1_000).about("the most important first"))
            .must("looked", Schema.integer(0, MAX_JOBS_READ).about("waiting jobs that were looked at, the newest"))
            .must("more", Schema.bool().about("whether more jobs wait than were looked at"))
            .must("groups", Schema.array(GROUP, 0, GROUPS).about("groups of the jobs looked at, the largest first"))
            .named("Wait");

    private final Api api;

    WaitEndpoints(Api api) {
        this.api = api;
    }

    @Override
    public List<Operation> operations() {
        return List.of(
                Operation.get("/v1/queues/{queue}/explain", "explainQueue")
                        .section("Queues")
                        .summary("Why the waiting jobs of a queue do not run")
                        .scope(Scope.READ)
                        .path("queue", Schema.name(), "name of the queue")
                        .answers(200, "the reasons; of the newest 200 waiting jobs", WAIT)
                        .does(this::queue),
                Operation.get("/v1/types/{type}/explain", "explainType")
                        .section("Jobs")
                        .summary("Why the waiting jobs of a type do not run")
                        .scope(Scope.READ)
                        .path("type", Schema.name(), "job type")
                        .answers(200, "the reasons; of the newest 200 waiting jobs", WAIT)
                        .does(this::type));
    }

    private Answer queue(Request request) {
        Tenancy tenancy = Tenancy.of(request.caller());
        String queue = tenancy.stored("queue", request.path("queue"));
        return answer("this queue", waiting().queue(queue), queue, tenancy);
    }

    private Answer type(Request request) {
        Tenancy tenancy = Tenancy.of(request.caller());
        String type = request.path("type");
        JobQuery query = waiting().type(type).queuePrefix(tenancy.prefix());
        return answer("this type", query, null, tenancy);
    }

    private static JobQuery waiting() {
        return JobQuery.all().state(JobState.PENDING).limit(MAX_JOBS_READ).brief();
    }

    private Answer answer(String what, JobQuery query, @Nullable String queue, Tenancy tenancy) {
        Page<Job> page = api.reprise().find(query);
        Set<String> names = page.items().stream().map(Job::queue).collect(Collectors.toSet());
        List<QueueState> queues = api.queues().get().stream()
                .filter(state -> queue == null
                        ? names.contains(state.name())
                        : state.name().equals(queue))
                .toList();
        List<ResourceStatus> resources = api.reprise().resources();
        WaitingLine line = new WaitingLine(
                api.store().now(),
                page.items(),
                queues,
                api.reprise().workers().stream().map(WorkerState::report).toList(),
                resources,
                onlyWhereLimited(resources));
        List<WaitingLine.Reason> reasons = line.reasons();
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("at", api.store().now());
        view.put("sentence", tenancy.shownIn(sentence(what, page.items().size(), reasons)));
        view.put(
                "reasons", reasons.stream().map(reason -> view(reason, tenancy)).toList());
        view.put("looked", page.items().size());
        view.put("more", page.next() != null);
        view.put("groups", groups(page.items()));
        return Response.ok(view);
    }

    /** To explain a job takes several statements. Only a job whose queue has limits, or whose resource has a rate, needs them. */
    private Function<Job, List<Explanation.Reason>> onlyWhereLimited(List<ResourceStatus> resources) {
        Set<String> rated = resources.stream()
                .filter(resource -> resource.ramp() != null)
                .map(ResourceStatus::name)
                .collect(Collectors.toSet());
        Map<String, Boolean> limited = new HashMap<>();
        return job -> {
            String resource = job.spec().resource();
            boolean held = (resource != null && rated.contains(resource))
                    || limited.computeIfAbsent(
                            job.queue(), queue -> !api.reprise().limits(queue).isEmpty());
            return held ? explained(job) : List.of();
        };
    }

    private List<Explanation.Reason> explained(Job job) {
        try {
            return api.reprise().explain(job.id()).reasons();
        } catch (RefusedException e) {
            return List.of();
        }
    }

    private static List<Map<String, @Nullable Object>> groups(List<Job> jobs) {
        Map<String, Integer> counts = new TreeMap<>();
        for (Job job : jobs) {
            String group = job.spec().group();
            if (group != null) {
                counts.merge(group, 1, Integer::sum);
            }
        }
        return counts.entrySet().stream()
                .sorted(Map.Entry.<String, Integer>comparingByValue().reversed())
                .limit(GROUPS)
                .map(group -> {
                    Map<String, @Nullable Object> view = new LinkedHashMap<>();
                    view.put("name", group.getKey());
                    view.put("jobs", group.getValue());
                    return view;
                })
                .toList();
    }

    private static String sentence(String what, int jobs, List<WaitingLine.Reason> reasons) {
        String why = reasons.stream().map(WaitingLine.Reason::text).collect(Collectors.joining("; "));
        String head = "No job of " + what + " waits";
        if (jobs == 0) {
            return reasons.isEmpty() ? head + "." : head + ", but: " + why + ".";
        }
        return "Jobs of " + what + " wait: " + why + ".";
    }

    private static Map<String, @Nullable Object> view(WaitingLine.Reason reason, Tenancy tenancy) {
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("kind", reason.kind());
        view.put("text", tenancy.shownIn(reason.text()));
        view.put("subject", reason.subject());
        view.put("name", tenancy.shownOrNull(reason.name()));
        view.put("jobs", reason.jobs());
        return view;
    }
}
