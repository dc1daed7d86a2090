// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.webhook;

import io.reprise.failure.Failure;
import io.reprise.job.Attempt;
import io.reprise.job.Job;
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
        boolean ping = event == EventType.PING;
        body.put("type", ping ? "ping" : "job." + event.text());
        Instant at = at();
        body.put("timestamp", (at == null ? now : at).toString());
        body.put("data", ping ? Map.of("subscription", notice.subscription()) : wording.apply(data()));
        return body;
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
        data.put("retryCount", event == EventType.RETRYING ? attempts : Math.max(0, attempts - 1));
        data.put("maxRetries", most == null ? null : most - 1);
        data.put("nextRetryAt", text(nextRetryAt()));
        data.put("failReason", failReason());
        error(data);
        Map<String, Object> told = new LinkedHashMap<>();
        data.forEach((name, value) -> {
            if (value != null) {
                told.put(name, value);
            }
        });
        return told;
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
        if (attempt == null) {
            return notice.attempts() + (notice.token() == 0 ? 0 : 1);
        }
        boolean counted = attempt.decision() == null || attempt.decision().counts();
        return counted ? attempt.number() : attempt.number() - 1;
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

    private @Nullable String failReason() {
        FailReason reason = attempt != null && attempt.decision() instanceof Decision.Fail fail
                ? fail.reason()
                : notice.failReason();
        return event == EventType.FAILED && reason != null ? reason.name() : null;
    }

    private static @Nullable String text(@Nullable Instant instant) {
        return instant == null ? null : instant.toString();
    }
}
