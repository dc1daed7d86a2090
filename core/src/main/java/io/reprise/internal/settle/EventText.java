// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.settle;

import io.reprise.failure.Failure;
import io.reprise.insight.Alert;
import io.reprise.insight.ControlEvent;
import io.reprise.insight.JobEvent;
import io.reprise.job.Progress;
import io.reprise.retry.Decision;
import io.reprise.store.Micros;
import io.reprise.text.JsonText;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Writes an event as the JSON that processes exchange: times and durations in microseconds, without traces and
 * predictions. Readers ignore members that they do not know.
 */
final class EventText {

    private EventText() {}

    static String of(JobEvent event) {
        Map<String, @Nullable Object> text = new LinkedHashMap<>();
        text.put("kind", event.kind().name());
        text.put("id", event.id().toString());
        text.put("type", event.type());
        text.put("queue", event.queue());
        text.put("resource", event.resource());
        text.put("attempt", event.attempt());
        text.put("at", micros(event.at()));
        text.put("dueAt", event.kind() == JobEvent.Kind.STARTED ? null : micros(event.dueAt()));
        text.put("ran", micros(event.ran()));
        text.put("failure", failure(event.failure()));
        text.put("decision", decision(event.decision()));
        text.put("retryCount", event.retries().retryCount());
        text.put("maxRetries", event.retries().maxRetries());
        text.put("isRetryable", event.retries().isRetryable());
        text.put("nextRetryAt", micros(event.retries().nextRetryAt()));
        text.put("progress", progress(event.progress()));
        text.values().removeIf(value -> value == null);
        return JsonText.write(text);
    }

    static String of(Alert alert) {
        Map<String, @Nullable Object> text = new LinkedHashMap<>();
        text.put("kind", "ALERT");
        text.put("alert", alert.kind().name());
        text.put("type", alert.type());
        text.put("raised", alert.isRaised());
        text.put("message", alert.message());
        text.put("at", micros(alert.clearedAt() == null ? alert.since() : alert.clearedAt()));
        return JsonText.write(text);
    }

    static String of(ControlEvent event) {
        Map<String, @Nullable Object> text = new LinkedHashMap<>();
        text.put("kind", event.kind().name());
        text.put("subject", event.subject());
        text.put("at", micros(event.at()));
        text.put("why", event.why());
        return JsonText.write(text);
    }

    private static @Nullable Map<String, @Nullable Object> failure(@Nullable Failure failure) {
        if (failure == null) {
            return null;
        }
        Map<String, @Nullable Object> text = new LinkedHashMap<>();
        text.put("type", failure.type());
        text.put("code", failure.code());
        text.put("httpStatus", failure.httpStatus());
        text.put("message", failure.message());
        text.put("fingerprint", failure.fingerprint());
        text.put("retryAfter", micros(failure.retryAfter()));
        return text;
    }

    private static @Nullable Map<String, @Nullable Object> decision(@Nullable Decision decision) {
        if (decision == null) {
            return null;
        }
        Duration delay = null;
        if (decision instanceof Decision.Retry retry) {
            delay = retry.delay();
        } else if (decision instanceof Decision.Snooze snooze) {
            delay = snooze.delay();
        } else if (decision instanceof Decision.Release release) {
            delay = release.delay();
        }
        Map<String, @Nullable Object> text = new LinkedHashMap<>();
        text.put("kind", decision.getClass().getSimpleName());
        text.put("rule", decision.rule());
        text.put(
                "failureClass",
                decision.failureClass() == null ? null : decision.failureClass().name());
        text.put("counts", decision.counts());
        text.put("delay", micros(delay));
        text.put("rawDelay", micros(decision instanceof Decision.Retry retry ? retry.raw() : null));
        text.put(
                "reason", decision instanceof Decision.Fail fail ? fail.reason().name() : null);
        return text;
    }

    private static @Nullable Map<String, @Nullable Object> progress(@Nullable Progress progress) {
        if (progress == null) {
            return null;
        }
        Map<String, @Nullable Object> text = new LinkedHashMap<>();
        text.put("percent", progress.percent());
        text.put("message", progress.message());
        return text;
    }

    private static @Nullable Long micros(@Nullable Instant instant) {
        return instant == null ? null : Micros.of(instant);
    }

    private static @Nullable Long micros(@Nullable Duration duration) {
        return duration == null ? null : Micros.of(duration);
    }
}
