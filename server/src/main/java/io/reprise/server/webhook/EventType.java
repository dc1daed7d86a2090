// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.webhook;

import io.reprise.insight.JobEvent;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The events that webhooks can deliver. */
enum EventType {
    SUCCEEDED(JobEvent.Kind.SUCCEEDED),
    RETRYING(JobEvent.Kind.RETRY_SCHEDULED),
    FAILED(JobEvent.Kind.FAILED),
    CANCELLED(JobEvent.Kind.CANCELLED),
    /** A run began. Sent only to subscriptions that name it. */
    STARTED(JobEvent.Kind.STARTED),
    /** A run reported how far it is. Sent only to subscriptions that name it. */
    PROGRESS(JobEvent.Kind.PROGRESS),
    /** An alert was raised or cleared for the fleet. Only subscriptions without a tenant that name it get it. */
    ALERT(null),
    /** Sent on request, to try a subscription. */
    PING(null);

    private final JobEvent.@Nullable Kind kind;

    EventType(JobEvent.@Nullable Kind kind) {
        this.kind = kind;
    }

    static @Nullable EventType of(JobEvent.Kind kind) {
        return Arrays.stream(values())
                .filter(type -> type.kind != null && type.kind == kind)
                .findFirst()
                .orElse(null);
    }

    /** Returns the status of the job, as deliveries and filters write it. */
    String text() {
        return name().toLowerCase(Locale.ROOT);
    }

    static EventType parse(String text) {
        return valueOf(text.toUpperCase(Locale.ROOT));
    }

    /** Whether it is a step within a run, with which no outcome is stored. */
    boolean isStep() {
        return this == STARTED || this == PROGRESS;
    }

    /** Returns the types that a subscription can choose. */
    static List<String> choices() {
        return Arrays.stream(values())
                .filter(type -> type != PING)
                .map(EventType::text)
                .toList();
    }
}
