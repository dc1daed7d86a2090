// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import io.reprise.JobState;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/** Names in a job's document, and the words of its status. */
final class Fields {

    static final String ID = "_id";
    static final String STATUS = "status";
    static final String QUEUE = "queue";
    static final String TYPE = "type";
    /** The queue again while the job is live, so that the live ones are a small index. */
    static final String LIVE_QUEUE = "live_queue";

    static final String PRIORITY = "priority";
    static final String LANE = "lane";
    static final String TOGETHER = "together";
    static final String EXCUSED = "excused";
    static final String UNHEARD = "unheard";
    static final String PARKED = "parked";
    static final String PARKED_BY = "parked_by";
    static final String WAIT_REASON = "wait_reason";
    static final String FAIL_REASON = "fail_reason";
    static final String ERROR = "error";
    static final String PROGRESS = "progress";
    static final String RESULT = "result";

    static final String ATTEMPTS = "attempts";
    static final String LOSSES = "losses";
    static final String INTERRUPTIONS = "interruptions";
    static final String SNOOZES = "snoozes";
    static final String GRANTED = "granted";
    static final String HISTORY = "history";

    static final String CREATED = "created_us";
    static final String FIRST_DUE = "first_due_us";
    static final String DUE = "due_us";
    static final String DEADLINE = "deadline_us";
    static final String STARTED = "started_us";
    static final String FINISHED = "finished_us";
    static final String LAST_DELAY = "last_delay_us";

    /** Dates for people; nothing is decided by them. */
    static final String CREATED_AT = "created_at";

    static final String UPDATED_AT = "updated_at";
    static final String NEXT_RETRY_AT = "next_retry_at";

    /** The fence. Kept after the run, for its history. */
    static final String TOKEN = "token";

    static final String WORKER = "worker";
    /** Who ran the job: the worker itself, or the one it was taken over from. */
    static final String RUNNER = "runner";

    static final String CLAIMED = "claimed_us";
    static final String UNTIL = "until_us";
    static final String ALONE = "alone";
    static final String CANCEL_REQUESTED = "cancel_requested";

    /** The unique key while the job is live; a unique index is on it. */
    static final String HELD_KEY = "held_key";

    /** Every idempotency key that leads here; a unique index is on it. */
    static final String IDEMPOTENCY_KEYS = "idempotency_keys";

    /** Which call changed the job last, for a call that must know which of its changes were made. */
    static final String MARK = "mark";

    /** How often a dead letter was put back, where dead letters are moved. */
    static final String LIFE = "life";

    /** On a dead letter that is between its collection and that of the jobs, where there are no transactions. */
    static final String MOVING = "moving";

    /** Jobs that follow this one and are not stored yet, where there are no transactions. */
    static final String SEQUELS = "sequels";

    /** That there are such, or may be. */
    static final String OWES = "owes";

    static final String FRESH = "fresh";
    static final String RETRY = "retry";
    static final String SUSPECT = "suspect";

    static final List<String> LANES = List.of(FRESH, RETRY, SUSPECT);

    static final String PENDING = "pending";
    static final String PROCESSING = "processing";
    static final String DONE = "done";
    static final String FAILED = "failed";
    static final String CANCELLED = "cancelled";

    /** States in which nothing more happens by itself. */
    static final List<String> ENDED = List.of(DONE, FAILED, CANCELLED);

    private Fields() {}

    static String status(JobState state) {
        return switch (state) {
            case PENDING -> PENDING;
            case RUNNING -> PROCESSING;
            case SUCCEEDED -> DONE;
            case FAILED -> FAILED;
            case CANCELLED -> CANCELLED;
        };
    }

    /** A word that is not ours is a dead letter: a person must look at it. */
    static JobState state(@Nullable String status) {
        return switch (status == null ? "" : status) {
            case PENDING -> JobState.PENDING;
            case PROCESSING -> JobState.RUNNING;
            case DONE -> JobState.SUCCEEDED;
            case CANCELLED -> JobState.CANCELLED;
            default -> JobState.FAILED;
        };
    }

    static Document in(Collection<?> values) {
        return new Document("$in", List.copyOf(values));
    }

    static Document upTo(long value) {
        return new Document("$lte", value);
    }

    static Document after(long value) {
        return new Document("$gt", value);
    }

    static <E extends Enum<E>> @Nullable E constant(Class<E> type, @Nullable Object text, E unknown) {
        if (text == null) {
            return null;
        }
        try {
            return Enum.valueOf(type, text.toString().toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            // Written by a newer version.
            return unknown;
        }
    }

    static int integer(Document document, String name) {
        return document.get(name) instanceof Number number ? number.intValue() : 0;
    }

    static @Nullable Long number(Document document, String name) {
        return document.get(name) instanceof Number number ? number.longValue() : null;
    }

    static long numberOr(Document document, String name, long otherwise) {
        return document.get(name) instanceof Number number ? number.longValue() : otherwise;
    }

    static double real(Document document, String name) {
        return document.get(name) instanceof Number number ? number.doubleValue() : 0;
    }

    static @Nullable String text(Document document, String name) {
        return document.get(name) instanceof String text ? text : null;
    }

    static boolean flag(Document document, String name) {
        return Boolean.TRUE.equals(document.get(name));
    }
}
