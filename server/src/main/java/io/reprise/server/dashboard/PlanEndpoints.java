// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.dashboard;

import io.reprise.job.Attempt;
import io.reprise.job.Job;
import io.reprise.job.JobState;
import io.reprise.retry.Decision;
import io.reprise.retry.RetryPlan;
import io.reprise.server.api.Api;
import io.reprise.server.config.Durations;
import io.reprise.server.http.Answer;
import io.reprise.server.http.Endpoints;
import io.reprise.server.http.Operation;
import io.reprise.server.http.Request;
import io.reprise.server.http.Response;
import io.reprise.server.http.Schema;
import io.reprise.server.http.Scope;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** The endpoint of a job's planned attempts: when each may come if those before it fail. */
public final class PlanEndpoints implements Endpoints {

    /** Attempts that are shown; a job may have more. */
    private static final int MAX_PLANNED = 50;

    /** Retries that a policy is asked about. */
    private static final int MOST_STEPS = 10_000;

    private static final Schema WINDOW = Schema.object()
            .must("attempt", Schema.integer(1, Integer.MAX_VALUE))
            .must("earliest", Schema.time())
            .must("latest", Schema.time())
            .must("delayLeast", Schema.duration().orNull().about("null for an attempt that follows no failure"))
            .must("delayMost", Schema.duration().orNull())
            .named("Window")
            .about("when an attempt may come: the jitter of every delay before it, and no time for the runs");

    private static final Schema PLAN = Schema.object()
            .must("id", Schema.id())
            .must("past", Schema.array(WINDOW, 0, 1_000).about("the windows of attempts that came after a failure"))
            .must("planned", Schema.array(WINDOW, 0, MAX_PLANNED).about("if each attempt before it fails"))
            .must("more", Schema.bool().about("whether the policy allows more attempts than are shown"))
            .must("givesUpAfter", Schema.integer(1, Integer.MAX_VALUE).orNull().about("the last attempt that may fail"))
            .must("deadline", Schema.time().orNull())
            .must("deadlineFirst", Schema.bool().about("whether the deadline may end it before the attempts do"))
            .named("Plan");

    private final Api api;

    PlanEndpoints(Api api) {
        this.api = api;
    }

    @Override
    public List<Operation> operations() {
        return List.of(Operation.get("/v1/jobs/{id}/plan", "planJob")
                .section("Jobs")
                .summary("When the next attempts of a job may come, if those before them fail")
                .scope(Scope.READ)
                .path("id", Schema.id(), "id of the job")
                .answers(200, "the plan; without planned attempts if the job has ended", PLAN)
                .does(this::plan));
    }

    private Answer plan(Request request) {
        Job job = api.job(request);
        OptionalInt last = job.maxAttempts();
        Instant deadline = job.times().deadline();
        List<Map<String, @Nullable Object>> planned = new ArrayList<>();
        boolean deadlineFirst = !job.state().isTerminal() && plan(job, deadline, planned);
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("id", job.id().toString());
        view.put("past", past(job));
        view.put("planned", planned);
        view.put(
                "more",
                !deadlineFirst
                        && planned.size() == MAX_PLANNED
                        && !last.equals(OptionalInt.of(job.attempts() + MAX_PLANNED)));
        view.put("givesUpAfter", last.isPresent() ? last.getAsInt() : null);
        view.put("deadline", deadline);
        view.put("deadlineFirst", deadlineFirst);
        return Response.ok(view);
    }

    /** Adds the attempts that are left. Returns whether the deadline may come before the last of them. */
    private boolean plan(Job job, @Nullable Instant deadline, List<Map<String, @Nullable Object>> planned) {
        int first = job.attempts() + 1;
        int end = (int) Math.min(job.maxAttempts().orElse(Integer.MAX_VALUE), (long) first + MAX_PLANNED - 1);
        List<RetryPlan.Step> steps =
                RetryPlan.of(job.policy(), Math.min(end, MOST_STEPS)).steps();
        Instant earliest = start(job);
        Instant latest = earliest;
        boolean deadlineFirst = false;
        for (int attempt = first; attempt <= end && attempt - 2 < steps.size(); attempt++) {
            RetryPlan.Step step = attempt == first ? null : steps.get(attempt - 2);
            earliest = step == null ? earliest : earliest.plus(step.min());
            latest = step == null ? latest : latest.plus(step.max());
            deadlineFirst |= deadline != null && latest.isAfter(deadline);
            if (deadline != null && earliest.isAfter(deadline)) {
                break;
            }
            planned.add(window(attempt, earliest, latest, step));
        }
        return deadlineFirst;
    }

    /** When the next attempt begins: it runs, or it is due, or it waits for a worker. */
    private Instant start(Job job) {
        Instant started = job.times().startedAt();
        if (job.state() == JobState.RUNNING && started != null) {
            return started;
        }
        Instant due = job.times().dueAt();
        Instant now = api.store().now();
        return due == null || due.isBefore(now) ? now : due;
    }

    private List<Map<String, @Nullable Object>> past(Job job) {
        List<Attempt> failed = api.reprise().attempts(job.id()).stream()
                .filter(attempt -> attempt.number() > 0 && attempt.number() <= MOST_STEPS)
                .filter(attempt -> attempt.decision() instanceof Decision.Retry)
                .toList();
        int most = failed.stream().mapToInt(Attempt::number).max().orElse(0);
        List<RetryPlan.Step> steps =
                RetryPlan.of(job.policy(), Math.min(most, MOST_STEPS)).steps();
        return failed.stream()
                .map(attempt -> {
                    RetryPlan.Step step = steps.get(attempt.number() - 1);
                    return window(
                            attempt.number() + 1,
                            attempt.endedAt().plus(step.min()),
                            attempt.endedAt().plus(step.max()),
                            step);
                })
                .toList();
    }

    private static Map<String, @Nullable Object> window(
            int attempt, Instant earliest, Instant latest, RetryPlan.@Nullable Step step) {
        Map<String, @Nullable Object> window = new LinkedHashMap<>();
        window.put("attempt", attempt);
        window.put("earliest", earliest);
        window.put("latest", latest);
        window.put("delayLeast", step == null ? null : Durations.text(step.min()));
        window.put("delayMost", step == null ? null : Durations.text(step.max()));
        return window;
    }
}
