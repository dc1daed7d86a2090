// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb.docs;

import io.reprise.job.WaitReason;
import io.reprise.retry.FailReason;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/** Builds the changes that end a run or a job. */
public final class MongoEndings {

    /** Fields that only a running job has. Token and runner stay, for the history of a success. */
    private static final String[] OF_A_RUN = {
        FieldNames.WORKER,
        FieldNames.CLAIMED,
        FieldNames.UNTIL,
        FieldNames.ALONE,
        FieldNames.EXCUSED,
        FieldNames.UNHEARD
    };

    private MongoEndings() {}

    /** Moves a job to a terminal state. */
    public static Change end(Change change, String status, long at) {
        return change.set(FieldNames.STATUS, status)
                .set(FieldNames.FINISHED, at)
                .set(FieldNames.PARKED, false)
                .set(FieldNames.NEXT_RETRY_AT, null)
                .remove(OF_A_RUN)
                .remove(FieldNames.TURN, FieldNames.LATE)
                .remove(FieldNames.PARKED_BY, FieldNames.LIVE_QUEUE, FieldNames.HELD_KEY, FieldNames.CANCEL_REQUESTED);
    }

    public static Change fail(Change change, FailReason reason, long at) {
        return end(change, FieldNames.FAILED, at).set(FieldNames.FAIL_REASON, reason.name());
    }

    /** Lets a job wait as before the claim. */
    public static Change putBack(Change change) {
        return change.set(FieldNames.STATUS, FieldNames.PENDING)
                .set(FieldNames.PARKED, false)
                .remove(OF_A_RUN)
                .remove(FieldNames.PARKED_BY, FieldNames.STARTED, FieldNames.CANCEL_REQUESTED);
    }

    /**
     * Lets a job wait for a time.
     *
     * @param group its group; null if it has none, or is a suspect and takes no turns
     */
    public static Change waitUntil(Change change, long due, WaitReason reason, @Nullable String group) {
        return putBack(change)
                .set(FieldNames.TURN, "")
                .set(FieldNames.LATE, group == null ? null : due)
                .set(FieldNames.WAIT_REASON, reason.name())
                .setAll(JobDocs.due(new Document(), due))
                .remove(FieldNames.FAIL_REASON, FieldNames.FINISHED);
    }
}
