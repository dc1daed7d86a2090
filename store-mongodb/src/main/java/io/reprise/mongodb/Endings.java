// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import io.reprise.WaitReason;
import io.reprise.retry.FailReason;
import org.bson.Document;

/** Builds the changes that end a run or a job. */
final class Endings {

    /** Fields that only a running job has. Token and runner stay, for the history of a success. */
    private static final String[] OF_A_RUN = {
        Fields.WORKER, Fields.CLAIMED, Fields.UNTIL, Fields.ALONE, Fields.EXCUSED, Fields.UNHEARD
    };

    private Endings() {}

    /** Moves a job to a terminal state. */
    static Change end(Change change, String status, long at) {
        return change.set(Fields.STATUS, status)
                .set(Fields.FINISHED, at)
                .set(Fields.PARKED, false)
                .set(Fields.NEXT_RETRY_AT, null)
                .remove(OF_A_RUN)
                .remove(Fields.PARKED_BY, Fields.LIVE_QUEUE, Fields.HELD_KEY, Fields.CANCEL_REQUESTED);
    }

    static Change fail(Change change, FailReason reason, long at) {
        return end(change, Fields.FAILED, at).set(Fields.FAIL_REASON, reason.name());
    }

    /** Lets a job wait as before the claim. */
    static Change putBack(Change change) {
        return change.set(Fields.STATUS, Fields.PENDING)
                .set(Fields.PARKED, false)
                .remove(OF_A_RUN)
                .remove(Fields.PARKED_BY, Fields.STARTED, Fields.CANCEL_REQUESTED);
    }

    static Change waitUntil(Change change, long due, WaitReason reason) {
        return putBack(change)
                .set(Fields.WAIT_REASON, reason.name())
                .setAll(JobDocs.due(new Document(), due))
                .remove(Fields.FAIL_REASON, Fields.FINISHED);
    }
}
