// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import io.reprise.failure.Failure;
import io.reprise.failure.Rule;
import io.reprise.insight.JobChain;
import io.reprise.job.Attempt;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobStatus;
import io.reprise.job.Page;
import io.reprise.job.Progress;
import io.reprise.retry.Decision;
import io.reprise.retry.Prediction;
import io.reprise.retry.RetryPolicy;
import io.reprise.server.auth.Tenancy;
import io.reprise.server.config.Durations;
import io.reprise.server.http.Json;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalInt;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Shows objects of the core as JSON, with the core's names. Unset values are null, so that
 * every member is always there.
 */
public final class Views {

    private Views() {}

    /** Shows a job with everything but its policy and its history. */
    public static Map<String, @Nullable Object> job(Job job, Tenancy tenancy) {
        Map<String, @Nullable Object> view = brief(job, tenancy);
        view.put("result", json(job.status().result()));
        view.put("payload", json(job.spec().payload()));
        return view;
    }

    /**
     * Shows the policy of a job. It leaves out the default rules that come after its own: they are the same for most jobs, and
     * make a policy ten times as long. Without them the policy means the same.
     */
    static JsonNode policy(RetryPolicy policy) {
        ObjectNode view = (ObjectNode) Json.parse(policy.toJson());
        List<Rule> rules = policy.rules();
        List<Rule> defaults = RetryPolicy.DEFAULT.rules();
        int own = rules.size() - defaults.size();
        // Without the default rules at the end, the flag would keep them out.
        if (own < 0 || !policy.rulesOnly() || !rules.subList(own, rules.size()).equals(defaults)) {
            return view;
        }
        view.remove("rulesOnly");
        if (own == 0) {
            view.remove("rules");
        } else {
            ArrayNode shown = (ArrayNode) view.path("rules");
            while (shown.size() > own) {
                shown.remove(shown.size() - 1);
            }
        }
        return view;
    }

    /** Shows a job without payload and result, which may be long. */
    public static Map<String, @Nullable Object> brief(Job job, Tenancy tenancy) {
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("id", job.id().toString());
        view.put("type", job.type());
        view.put("queue", tenancy.shown(job.queue()));
        view.put("state", job.state());
        view.put("waitReason", job.status().waitReason());
        view.put("failReason", job.failReason());
        view.put("attempts", job.attempts());
        view.put("maxAttempts", orNull(job.maxAttempts()));
        view.put("retryCount", job.retryCount());
        view.put("maxRetries", orNull(job.maxRetries()));
        view.put("isRetryable", job.isRetryable());
        view.put("nextRetryAt", job.nextRetryAt());
        view.put("dueAt", job.times().dueAt());
        view.put("createdAt", job.times().createdAt());
        view.put("startedAt", job.times().startedAt());
        view.put("finishedAt", job.times().finishedAt());
        view.put("deadline", job.times().deadline());
        view.put("lastError", error(job.status().lastError()));
        view.put("prediction", prediction(job.status().prediction()));
        view.put("progress", progress(job.status().progress()));
        view.put("priority", job.spec().priority());
        view.put("resource", tenancy.shownOrNull(job.spec().resource()));
        view.put("group", job.spec().group());
        view.put("needs", List.copyOf(job.spec().needs()));
        view.put("tags", job.spec().tags());
        view.put("version", job.spec().version());
        view.put("key", tenancy.shownOrNull(job.spec().key()));
        view.put("schedule", tenancy.shownOrNull(job.spec().schedule()));
        view.put("timeout", duration(job.spec().timeout()));
        view.put("losses", job.counts().losses());
        view.put("interruptions", job.counts().interruptions());
        view.put("snoozes", job.counts().snoozes());
        view.put("granted", job.counts().granted());
        JobStatus.Holder holder = job.status().holder();
        view.put("worker", holder == null ? null : tenancy.shown(holder.worker()));
        view.put("cancelRequested", holder != null && holder.cancelRequested());
        return view;
    }

    /** Shows whom a job follows, and who follows it. */
    static Map<String, @Nullable Object> chain(JobChain chain, Tenancy tenancy) {
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        JobId after = chain.after();
        view.put("follows", after == null ? null : after.toString());
        List<Map<String, Object>> followers = new ArrayList<>();
        for (JobChain.Next next : chain.next()) {
            Map<String, Object> follower = new LinkedHashMap<>();
            follower.put("when", next.when());
            follower.put("type", next.type());
            follower.put("queue", tenancy.shown(next.queue()));
            followers.add(follower);
        }
        view.put("followers", followers);
        return view;
    }

    static Map<String, @Nullable Object> attempt(Attempt attempt, Tenancy tenancy) {
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("number", attempt.number());
        view.put("ending", attempt.ending());
        view.put("worker", tenancy.shown(attempt.worker()));
        view.put("startedAt", attempt.startedAt());
        view.put("endedAt", attempt.endedAt());
        view.put("failure", failure(attempt.failure()));
        view.put("decision", decision(attempt.decision()));
        return view;
    }

    public static @Nullable Map<String, @Nullable Object> failure(@Nullable Failure failure) {
        if (failure == null) {
            return null;
        }
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("type", failure.type());
        view.put("code", failure.code());
        view.put("httpStatus", failure.httpStatus());
        view.put("message", failure.message());
        view.put("fingerprint", failure.fingerprint());
        view.put("retryAfter", duration(failure.retryAfter()));
        view.put("trace", failure.trace().isEmpty() ? null : failure.trace());
        return view;
    }

    public static @Nullable Map<String, @Nullable Object> decision(@Nullable Decision decision) {
        if (decision == null) {
            return null;
        }
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("kind", decision.getClass().getSimpleName().toUpperCase(Locale.ROOT));
        view.put("rule", decision.rule());
        view.put("failureClass", decision.failureClass());
        view.put("counts", decision.counts());
        view.put("delay", delay(decision));
        view.put("rawDelay", decision instanceof Decision.Retry retry ? duration(retry.raw()) : null);
        view.put("reason", decision instanceof Decision.Fail fail ? fail.reason() : null);
        view.put("prediction", prediction(decision.prediction()));
        return view;
    }

    private static @Nullable String delay(Decision decision) {
        if (decision instanceof Decision.Retry retry) {
            return duration(retry.delay());
        }
        if (decision instanceof Decision.Snooze snooze) {
            return duration(snooze.delay());
        }
        return decision instanceof Decision.Release release ? duration(release.delay()) : null;
    }

    static @Nullable Map<String, @Nullable Object> prediction(@Nullable Prediction prediction) {
        if (prediction == null) {
            return null;
        }
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("probability", prediction.probability());
        view.put("low", prediction.low());
        view.put("high", prediction.high());
        view.put("samples", prediction.tries());
        view.put("basis", prediction.basis());
        view.put("text", prediction.toString());
        return view;
    }

    public static @Nullable Map<String, @Nullable Object> error(JobStatus.@Nullable LastError error) {
        if (error == null) {
            return null;
        }
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("type", error.type());
        view.put("message", error.message());
        view.put("fingerprint", error.fingerprint());
        return view;
    }

    public static @Nullable Map<String, @Nullable Object> progress(@Nullable Progress progress) {
        if (progress == null) {
            return null;
        }
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("percent", progress.percent());
        view.put("message", progress.message());
        return view;
    }

    /** Shows a page: its items, and the cursor of the next page or null. */
    public static <T> Map<String, @Nullable Object> page(Page<T> page, Function<T, ?> view) {
        return page(page.items().stream().map(view).toList(), page.next());
    }

    public static Map<String, @Nullable Object> page(List<?> items, @Nullable String next) {
        Map<String, @Nullable Object> body = new LinkedHashMap<>();
        body.put("items", items);
        body.put("next", next);
        return body;
    }

    public static @Nullable String duration(@Nullable Duration duration) {
        return duration == null ? null : Durations.text(duration);
    }

    /** Shows stored JSON as JSON, and any other text as text. */
    public static @Nullable Object json(@Nullable String stored) {
        if (stored == null) {
            return null;
        }
        return Json.isJson(stored) ? Json.raw(stored) : stored;
    }

    private static @Nullable Integer orNull(OptionalInt number) {
        return number.isPresent() ? number.getAsInt() : null;
    }
}
