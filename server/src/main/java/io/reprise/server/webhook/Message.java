// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.webhook;

import io.reprise.failure.Failure;
import io.reprise.insight.Alert;
import io.reprise.job.Attempt;
import io.reprise.job.Job;
import io.reprise.job.Progress;
import io.reprise.retry.Decision;
import io.reprise.retry.FailReason;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The content of a delivery: the values that were stored with the step, even if the job has changed since. */
final class Message {

    private final Notice notice;
    private final EventType event;
    private final @Nullable Job job;
    private final @Nullable Attempt attempt;

    /**
     * Creates a message.
     *
     * @param job the present job; null if it is deleted
     * @param attempts its kept history
     */
    Message(Notice notice, @Nullable Job job, List<Attempt> attempts) {
        this.notice = notice;
        this.event = EventType.parse(notice.event());
        this.job = job;
        this.attempt = attempts.stream()
                .filter(each -> notice.token() != 0 && each.token() == notice.token())
                .findFirst()
                .orElse(null);
    }

    /**
     * Returns the JSON object in the form of Standard Webhooks.
     *
     * @param wording translates the data of a job for the service
     */
    Map<String, Object> body(Instant now, UnaryOperator<Map<String, Object>> wording) {
        Map<String, Object> body = new LinkedHashMap<>();
        Alert alert = notice.alert();
        if (alert != null) {
            Instant changed = alert.clearedAt() == null ? alert.since() : alert.clearedAt();
            body.put("type", alert.isRaised() ? "alert.raised" : "alert.cleared");
            body.put("timestamp", changed.toString());
            body.put("data", data(alert));
            return body;
        }
        boolean ping = event == EventType.PING;
        body.put("type", ping ? "ping" : "job." + event.text());
        Instant at = at();
        body.put("timestamp", (at == null ? now : at).toString());
        body.put("data", ping ? Map.of("subscription", notice.subscription()) : wording.apply(data()));
        return body;
    }

    private static Map<String, Object> data(Alert alert) {
        Map<String, Object> data = new LinkedHashMap<>();
        data.put("kind", alert.kind().name());
        data.put("type", alert.type());
        data.put("value", alert.value());
        data.put("threshold", alert.threshold());
        data.put("since", alert.since().toString());
        data.put("message", alert.message());
        return data;
    }

    private Map<String, Object> data() {
        Map<String, @Nullable Object> data = new LinkedHashMap<>();
        data.put("jobId", Long.toString(notice.job()));
        data.put("status", event.text());
        data.put("type", notice.type());
        data.put("queue", notice.queue());
        data.put("resource", notice.resource());
        data.put("tags", notice.tags());
        int attempts = attempts();
        Integer most = notice.maxAttempts();
        data.put("attempts", attempts);
        data.put("maxAttempts", most);
        boolean goesOn = event == EventType.RETRYING || event.isStep();
        data.put("retryCount", goesOn ? attempts : Math.max(0, attempts - 1));
        data.put("maxRetries", most == null ? null : most - 1);
        data.put("isRetryable", isRetryable(attempts, most));
        data.put("nextRetryAt", text(nextRetryAt()));
        FailReason reason = failReason();
        data.put("failReason", reason == null ? null : reason.name());
        data.put("progress", progress());
        error(data);
        Map<String, Object> told = new LinkedHashMap<>();
        data.forEach((name, value) -> {
            if (value != null) {
                told.put(name, value);
            }
        });
        return told;
    }

    /** As the job says after the step: an attempt is left, and no outcome bars it. */
    private boolean isRetryable(int attempts, @Nullable Integer most) {
        if (event == EventType.SUCCEEDED || event == EventType.CANCELLED) {
            return false;
        }
        FailReason reason = failReason();
        boolean barred = reason != null && !reason.isRetryable();
        return !barred && (most == null || attempts < most);
    }

    /** Returns the progress that the job has now, which may be newer than the step. */
    private @Nullable Object progress() {
        Progress known =
                event == EventType.PROGRESS && job != null ? job.status().progress() : null;
        if (known == null) {
            return null;
        }
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("percent", known.percent());
        view.put("message", known.message());
        return view;
    }

    private void error(Map<String, @Nullable Object> data) {
        Failure failure = attempt == null ? null : attempt.failure();
        if (failure != null) {
            data.put("error", failure.message());
            data.put("errorType", failure.type());
            data.put("errorCode", failure.code());
            data.put("httpStatus", failure.httpStatus());
            data.put("fingerprint", failure.fingerprint());
        } else if (event == EventType.FAILED
                && notice.token() == 0
                && job != null
                && job.status().lastError() != null) {
            data.put("error", job.status().lastError().message());
            data.put("errorType", job.status().lastError().type());
            data.put("fingerprint", job.status().lastError().fingerprint());
        }
    }

    private int attempts() {
        boolean counted = attempt == null
                ? notice.token() != 0
                : attempt.decision() == null || attempt.decision().counts();
        return notice.attempts() + (counted ? 1 : 0);
    }

    private @Nullable Instant at() {
        if (attempt != null) {
            return attempt.endedAt();
        }
        if (notice.at() != null) {
            return notice.at();
        }
        return job == null ? null : job.times().finishedAt();
    }

    /** Returns the stored due time: the end of the attempt plus the delay decided then. */
    private @Nullable Instant nextRetryAt() {
        return attempt != null && attempt.decision() instanceof Decision.Retry retry
                ? attempt.endedAt().plus(retry.delay())
                : null;
    }

    private @Nullable FailReason failReason() {
        FailReason reason = attempt != null && attempt.decision() instanceof Decision.Fail fail
                ? fail.reason()
                : notice.failReason();
        return event == EventType.FAILED ? reason : null;
    }

    private static @Nullable String text(@Nullable Instant instant) {
        return instant == null ? null : instant.toString();
    }
}
