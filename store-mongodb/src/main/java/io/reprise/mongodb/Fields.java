// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import io.reprise.JobState;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/** The field names of a job's document, and the values of its status. */
final class Fields {

    static final String ID = "_id";
    static final String STATUS = "status";
    static final String QUEUE = "queue";
    static final String TYPE = "type";
    /** The queue of a live job. Ended jobs lack it, so its index is small. */
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

    /** Dates for people. The store decides nothing by them. */
    static final String CREATED_AT = "created_at";

    static final String UPDATED_AT = "updated_at";
    static final String NEXT_RETRY_AT = "next_retry_at";

    /** The fence. It stays after the run, for the history. */
    static final String TOKEN = "token";

    static final String WORKER = "worker";
    /** The worker that ran the job: the holder itself, or the worker whose lease was taken over. */
    static final String RUNNER = "runner";

    static final String CLAIMED = "claimed_us";
    static final String UNTIL = "until_us";
    static final String ALONE = "alone";
    static final String CANCEL_REQUESTED = "cancel_requested";

    /** The unique key while the job is live. It has a unique index. */
    static final String HELD_KEY = "held_key";

    /** Every idempotency key that leads to this job. It has a unique index. */
    static final String IDEMPOTENCY_KEYS = "idempotency_keys";

    /** Identifies the call that last changed the job, so that the call can see which of its changes were made. */
    static final String MARK = "mark";

    /** How often a dead letter was put back, where dead letters are moved. */
    static final String LIFE = "life";

    /** Set on a dead letter during a move, where there are no transactions. */
    static final String MOVING = "moving";

    /** Follow-up jobs that are not stored yet, where there are no transactions. */
    static final String SEQUELS = "sequels";

    /** Says that there are such follow-up jobs, or may be. */
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

    /** Terminal states. */
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

    /** An unknown status counts as FAILED, so that a person looks at the job. */
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
            // A newer version wrote it.
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
