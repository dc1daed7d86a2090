// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.rows;

import io.reprise.insight.Behind;
import io.reprise.jdbc.sql.Dialect;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.jdbc.sql.SqlTime;
import io.reprise.job.JobState;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Measures how far each piece of upkeep is behind. Each statement stops after a limited number of rows. */
public final class UpkeepLag {

    private static final String COUNTERS = """
            select count(*), null
              from (select 1 as one
                      from reprise_counter
                     limit ?) c
            """;

    // The index reprise_job_deadline serves it.
    private static final String DEADLINES = """
            select count(*), min(deadline)
              from (select deadline
                      from reprise_job
                     where deadline is not null and due_at is not null and deadline <= {now}
                       and id not in (select h.id from reprise_held h)
                     order by deadline
                     limit ?) d
            """;

    private static final String LEASES = """
            select count(*), min(expires_at)
              from (select expires_at
                      from {expiry}
                     where expires_at <= {now}
                     limit ?) l
            """;

    // Reads the first rows by the primary key, as retention does.
    private static final String DONE = """
            select coalesce(sum(jobs), 0), min(finished_at)
              from (select jobs, finished_at
                      from reprise_done
                     order by id
                     limit ?) d
             where finished_at < ?
            """;

    // The index on states and finish times serves it.
    private static final String ENDED = """
            select count(*), min(finished_at)
              from (select finished_at
                      from {finished}
                     where {ended} = '{state}' and finished_at is not null and finished_at < ?
                     order by finished_at
                     limit ?) d
            """;

    // The index reprise_schedule_due serves it.
    private static final String SCHEDULES = """
            select count(*), min(next_at)
              from (select next_at
                      from reprise_schedule
                     where paused = {false} and next_at <= {now}
                     order by next_at
                     limit ?) s
            """;

    private UpkeepLag() {}

    private record Found(long rows, @Nullable Long since) {}

    private static Found found(SqlRow row) throws SQLException {
        return new Found(row.number(), row.numberOrNull());
    }

    public static List<Behind> of(Session session, Map<JobState, Duration> keep) throws SQLException {
        Dialect dialect = session.dialect();
        long now = session.now();
        List<Behind> behind = new ArrayList<>();
        behind.add(behind("counters", now, session.one(COUNTERS, UpkeepLag::found, Behind.MAX_ROWS)));
        behind.add(behind("deadlines", now, session.one(dialect.sql(DEADLINES), UpkeepLag::found, Behind.MAX_ROWS)));
        behind.add(behind("leases", now, session.one(dialect.sql(LEASES), UpkeepLag::found, Behind.MAX_ROWS)));
        behind.add(retention(session, now, keep));
        behind.add(behind("schedules", now, session.one(dialect.sql(SCHEDULES), UpkeepLag::found, Behind.MAX_ROWS)));
        return behind;
    }

    private static Behind retention(Session session, long now, Map<JobState, Duration> keep) throws SQLException {
        long rows = 0;
        Duration by = Duration.ZERO;
        for (Map.Entry<JobState, Duration> state : keep.entrySet()) {
            long horizon = now - SqlTime.of(state.getValue());
            Found found = state.getKey() == JobState.SUCCEEDED
                    ? session.one(DONE, UpkeepLag::found, Behind.MAX_ROWS, horizon)
                    : session.one(
                            session.dialect()
                                    .sql(ENDED.replace("{state}", state.getKey().name())),
                            UpkeepLag::found,
                            horizon,
                            Behind.MAX_ROWS);
            Behind one = behind("retention", horizon, found);
            rows += one.rows();
            by = one.by().compareTo(by) > 0 ? one.by() : by;
        }
        return new Behind("retention", Math.min(rows, Behind.MAX_ROWS), by);
    }

    private static Behind behind(String piece, long now, Found found) {
        Long since = found.since;
        return new Behind(
                piece, found.rows, since == null ? Duration.ZERO : SqlTime.duration(Math.max(0, now - since)));
    }
}
