// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.events;

import io.reprise.server.api.Views;
import io.reprise.server.http.Json;
import io.reprise.store.Micros;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * An event that another process wrote, read from its JSON. Times and durations there are in microseconds. Members that
 * this version does not know are ignored.
 */
final class RemoteEvent {

    private final JsonNode event;

    private RemoteEvent(JsonNode event) {
        this.event = event;
    }

    static RemoteEvent parse(String json) {
        return new RemoteEvent(Json.parse(json));
    }

    String kind() {
        return event.path("kind").stringValue("");
    }

    @Nullable
    String text(String name) {
        return text(event, name);
    }

    Instant at() {
        return Micros.instant(event.path("at").longValue(0));
    }

    /** Returns what is sent to clients, as if it had happened here. */
    Map<String, @Nullable Object> data() {
        Map<String, @Nullable Object> data = new LinkedHashMap<>();
        if (kind().equals(EventLog.ALERT)) {
            data.put("kind", text("alert"));
            data.put("type", text("type"));
            data.put("raised", event.path("raised").booleanValue(false));
            data.put("message", text("message"));
            return data;
        }
        if (event.has("subject")) {
            data.put("kind", kind());
            data.put("subject", text("subject"));
            data.put("at", at());
            data.put("why", text("why"));
            return data;
        }
        data.put("kind", kind());
        data.put("id", text("id"));
        data.put("type", text("type"));
        data.put("queue", text("queue"));
        data.put("resource", text("resource"));
        data.put("attempt", event.path("attempt").intValue(0));
        data.put("at", at());
        data.put("dueAt", time(event, "dueAt"));
        data.put("ran", duration(event, "ran"));
        data.put("failure", failure(event.path("failure")));
        data.put("decision", decision(event.path("decision")));
        data.put("retryCount", event.path("retryCount").intValue(0));
        data.put("maxRetries", number(event, "maxRetries"));
        data.put("isRetryable", event.path("isRetryable").booleanValue(false));
        data.put("nextRetryAt", time(event, "nextRetryAt"));
        data.put("progress", progress(event.path("progress")));
        return data;
    }

    private static @Nullable Map<String, @Nullable Object> failure(JsonNode failure) {
        if (!failure.isObject()) {
            return null;
        }
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("type", text(failure, "type"));
        view.put("code", text(failure, "code"));
        view.put("httpStatus", number(failure, "httpStatus"));
        view.put("message", text(failure, "message"));
        view.put("fingerprint", text(failure, "fingerprint"));
        view.put("retryAfter", duration(failure, "retryAfter"));
        view.put("trace", null);
        return view;
    }

    private static @Nullable Map<String, @Nullable Object> decision(JsonNode decision) {
        if (!decision.isObject()) {
            return null;
        }
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("kind", decision.path("kind").stringValue("").toUpperCase(Locale.ROOT));
        view.put("rule", text(decision, "rule"));
        view.put("failureClass", text(decision, "failureClass"));
        view.put("counts", decision.path("counts").booleanValue(false));
        view.put("delay", duration(decision, "delay"));
        view.put("rawDelay", duration(decision, "rawDelay"));
        view.put("reason", text(decision, "reason"));
        view.put("prediction", null);
        return view;
    }

    private static @Nullable Map<String, @Nullable Object> progress(JsonNode progress) {
        if (!progress.isObject()) {
            return null;
        }
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("percent", progress.path("percent").intValue(0));
        view.put("message", text(progress, "message"));
        return view;
    }

    private static @Nullable String text(JsonNode node, String name) {
        return node.path(name).isString() ? node.path(name).stringValue() : null;
    }

    private static @Nullable Integer number(JsonNode node, String name) {
        return node.path(name).isNumber() ? node.path(name).intValue() : null;
    }

    private static @Nullable Instant time(JsonNode node, String name) {
        return node.path(name).isNumber() ? Micros.instant(node.path(name).longValue()) : null;
    }

    private static @Nullable String duration(JsonNode node, String name) {
        Duration value =
                node.path(name).isNumber() ? Micros.duration(node.path(name).longValue()) : null;
        return Views.duration(value);
    }
}
