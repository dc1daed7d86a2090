// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb.docs;

import io.reprise.job.JobState;
import io.reprise.store.Lane;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/** The field names of a job's document, and the values of its status. */
public final class FieldNames {

    public static final String ID = "_id";
    public static final String STATUS = "status";
    public static final String QUEUE = "queue";
    public static final String TYPE = "type";
    /** The queue of a live job. Ended jobs lack it, so its index is small. */
    public static final String LIVE_QUEUE = "live_queue";

    public static final String PRIORITY = "priority";
    public static final String LANE = "lane";

    /** The group with which the job takes turns. */
    public static final String GROUP = "group";

    /**
     * The turn of a live job: its group if the job was due when it was stored or was given its turn, otherwise empty.
     */
    public static final String TURN = "turn";

    /** The due time of a delayed job or retry of a group that has no turn of its own. */
    public static final String LATE = "late_us";

    /** The batch of the job, with its place among the children of a join. */
    public static final String BATCH = "batch";

    public static final String TOGETHER = "together";
    public static final String EXCUSED = "excused";
    public static final String UNHEARD = "unheard";
    public static final String PARKED = "parked";
    public static final String PARKED_BY = "parked_by";
    public static final String WAIT_REASON = "wait_reason";
    public static final String FAIL_REASON = "fail_reason";
    public static final String ERROR = "error";
    public static final String PROGRESS = "progress";
    public static final String RESULT = "result";

    public static final String ATTEMPTS = "attempts";
    public static final String LOSSES = "losses";
    public static final String INTERRUPTIONS = "interruptions";
    public static final String SNOOZES = "snoozes";
    public static final String GRANTED = "granted";
    public static final String HISTORY = "history";
    public static final String STEPS = "steps";

    public static final String CREATED = "created_us";
    public static final String FIRST_DUE = "first_due_us";
    public static final String DUE = "due_us";
    public static final String DEADLINE = "deadline_us";
    public static final String STARTED = "started_us";
    public static final String FINISHED = "finished_us";
    public static final String LAST_DELAY = "last_delay_us";

    /** Dates for people. The store decides nothing by them. */
    public static final String CREATED_AT = "created_at";

    public static final String UPDATED_AT = "updated_at";
    public static final String NEXT_RETRY_AT = "next_retry_at";

    /** The fence. It stays after the run, for the history. */
    public static final String TOKEN = "token";

    public static final String WORKER = "worker";
    /** The worker that ran the job: the holder itself, or the worker whose lease was taken over. */
    public static final String RUNNER = "runner";

    public static final String CLAIMED = "claimed_us";
    public static final String UNTIL = "until_us";
    public static final String ALONE = "alone";
    public static final String CANCEL_REQUESTED = "cancel_requested";

    /** The unique key while the job is live. It has a unique index. */
    public static final String HELD_KEY = "held_key";

    /** Every idempotency key that leads to this job. It has a unique index. */
    public static final String IDEMPOTENCY_KEYS = "idempotency_keys";

    /** Identifies the call that last changed the job, so that the call can see which of its changes were made. */
    public static final String MARK = "mark";

    /** How often a dead letter was put back, where dead letters are moved. */
    public static final String LIFE = "life";

    /** Set on a dead letter during a move, where there are no transactions. */
    public static final String MOVING = "moving";

    /** Follow-up jobs that are not stored yet, where there are no transactions. */
    public static final String FOLLOW_UPS = "followUps";

    /** Says that there are such follow-up jobs, or may be. */
    public static final String OWES = "owes";

    public static final List<String> LANES =
            Arrays.stream(Lane.values()).map(FieldNames::lane).toList();

    public static final String PENDING = "pending";
    public static final String PROCESSING = "processing";
    public static final String DONE = "done";
    public static final String FAILED = "failed";
    public static final String CANCELLED = "cancelled";

    /** Terminal states. */
    public static final List<String> ENDED = List.of(DONE, FAILED, CANCELLED);

    private FieldNames() {}

    /** Returns the lane of a job; that of fresh jobs if the field is missing. */
    public static Lane laneOf(Document job) {
        String name = job.getString(LANE);
        for (Lane lane : Lane.values()) {
            if (lane(lane).equals(name)) {
                return lane;
            }
        }
        return Lane.FRESH;
    }

    /** The value of {@link #LANE}. Whether a job is parked is a field of its own. */
    public static String lane(Lane lane) {
        return lane.name().toLowerCase(Locale.ROOT);
    }

    public static String status(JobState state) {
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

    public static Document in(Collection<?> values) {
        return new Document("$in", List.copyOf(values));
    }

    public static Document upTo(long value) {
        return new Document("$lte", value);
    }

    public static Document after(long value) {
        return new Document("$gt", value);
    }

    public static <E extends Enum<E>> @Nullable E constant(Class<E> type, @Nullable Object text, E unknown) {
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

    public static int integer(Document document, String name) {
        return document.get(name) instanceof Number number ? number.intValue() : 0;
    }

    public static @Nullable Long number(Document document, String name) {
        return document.get(name) instanceof Number number ? number.longValue() : null;
    }

    public static long numberOr(Document document, String name, long otherwise) {
        return document.get(name) instanceof Number number ? number.longValue() : otherwise;
    }

    public static double real(Document document, String name) {
        return document.get(name) instanceof Number number ? number.doubleValue() : 0;
    }

    public static @Nullable String text(Document document, String name) {
        return document.get(name) instanceof String text ? text : null;
    }

    public static boolean flag(Document document, String name) {
        return Boolean.TRUE.equals(document.get(name));
    }
}
