// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.jobs;

import io.reprise.jdbc.sql.SqlRow;
import io.reprise.jdbc.sql.StoredLane;
import io.reprise.job.JobCounts;
import io.reprise.store.Lane;
import io.reprise.store.Settlement;
import java.sql.SQLException;

/**
 * The part of a live job that a settlement must know. The counters have no grants: no settlement moves them.
 *
 * @param cancel whether a cancellation was requested
 */
public record LiveCounters(JobCounts counts, Lane lane, boolean cancel) {

    /** The columns that {@link #read} reads. */
    public static final String COLUMNS = "attempts, losses, interruptions, snoozes, lane, cancel_requested";

    public static LiveCounters read(SqlRow row) throws SQLException {
        JobCounts counts = new JobCounts(row.integer(), row.integer(), row.integer(), row.integer(), 0);
        return new LiveCounters(counts, StoredLane.lane(row.integer()), row.flag());
    }

    public Settlement.Effect after(Settlement settlement) {
        return settlement.on(counts, lane, cancel);
    }

    /** Returns the number of claims that left a trace. */
    public static int claims(JobCounts counts) {
        return counts.attempts() + counts.losses() + counts.interruptions() + counts.snoozes();
    }
}
