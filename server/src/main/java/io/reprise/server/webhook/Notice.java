// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.webhook;

import io.reprise.insight.Alert;
import io.reprise.job.Job;
import io.reprise.retry.FailReason;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The payload of a delivery: which subscription receives which step of which job. Other values are read when it is
 * sent; these are enough if the job is deleted by then.
 *
 * @param event as {@link EventType#text}
 * @param token token of the run that ended; 0 if none did
 * @param attempts counted runs before the step
 * @param at when it happened, if already known
 * @param alert the alert, if the event is one
 */
public record Notice(
        String subscription,
        String event,
        long job,
        long token,
        String type,
        String queue,
        @Nullable String resource,
        @Nullable Set<String> tags,
        int attempts,
        @Nullable Integer maxAttempts,
        @Nullable Instant at,
        @Nullable FailReason failReason,
        @Nullable Alert alert) {

    private static final int TYPE_LENGTH = 18;

    static Notice of(Subscription subscription, EventType event, Job job, long token) {
        return new Notice(
                subscription.id(),
                event.text(),
                job.id().value(),
                token,
                job.type(),
                String.valueOf(subscription.shown(job.queue())),
                subscription.shown(job.spec().resource()),
                job.spec().tags(),
                job.attempts(),
                job.maxAttempts().isPresent() ? job.maxAttempts().getAsInt() : null,
                job.times().finishedAt(),
                job.failReason(),
                null);
    }

    static Notice ping(Subscription subscription) {
        return new Notice(
                subscription.id(), EventType.PING.text(), 0, 0, "", "", null, null, 0, null, null, null, null);
    }

    /** Returns a copy that happened then, after so many counted runs. */
    Notice at(Instant when, int before) {
        return new Notice(
                subscription,
                event,
                job,
                token,
                type,
                queue,
                resource,
                tags,
                before,
                maxAttempts,
                when,
                failReason,
                alert);
    }

    static Notice alert(Subscription subscription, Alert alert) {
        return new Notice(
                subscription.id(),
                EventType.ALERT.text(),
                0,
                0,
                alert.type(),
                "",
                null,
                null,
                0,
                null,
                alert.clearedAt() == null ? alert.since() : alert.clearedAt(),
                null,
                alert);
    }

    /**
     * Returns an id that is equal for every try and every subscription, so that receivers can detect a repetition.
     *
     * @param installation the name of the store: numbers of jobs begin with 1 in each
     */
    String messageId(String installation, long delivery) {
        if (alert != null) {
            // Alerts of several types may be raised at once. A type may be too long for an id.
            String about = UUID.nameUUIDFromBytes(alert.type().getBytes(StandardCharsets.UTF_8))
                    .toString()
                    .substring(0, TYPE_LENGTH);
            return "alert_" + installation + "_" + alert.kind() + "_" + about + "_"
                    + alert.since().toEpochMilli() + "_" + (alert.isRaised() ? "raised" : "cleared");
        }
        if (job == 0) {
            return "ping_" + installation + "_" + delivery;
        }
        // A step without a run has no token, and may happen again after a replay.
        String which = token != 0 ? Long.toString(token) : at == null ? "d" + delivery : "t" + at.toEpochMilli();
        return "evt_" + installation + "_" + job + "_" + which + "_" + event;
    }
}
