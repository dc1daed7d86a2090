// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.sql;

import io.reprise.store.Unparking;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;

/** Finds the parked jobs of one request. */
public final class ParkedJobs {

    // Reads reprise_job_parked from the earliest due_at on. Two transactions at once take different jobs.
    public static final String EARLIEST = """
            select id
              from reprise_job
             where parked_by = ? and due_at is not null
               and queue not in (select name from reprise_queue where paused_at is not null)
               and {base queue} not in (select name from reprise_queue where paused_at is not null)
             order by due_at, id
             limit ?
            {skip_locked}
            """;

    // Reads reprise_job_parked from its end and skips retries. Two transactions at once may find the same jobs;
    // each job is unparked once.
    public static final String LATEST = """
            select l.id
              from (select id, lane, queue, due_at
                      from reprise_job
                     where parked_by = ? and due_at is not null and due_at >= ?
                     order by due_at desc, id desc
                     limit ?) l
             where l.lane = 3
               and l.queue not in (select name from reprise_queue where paused_at is not null)
               and {base l.queue} not in (select name from reprise_queue where paused_at is not null)
             order by l.due_at desc, l.id desc
             limit ?
            """;

    private ParkedJobs() {}

    public static List<Long> find(Session session, Unparking request) throws SQLException {
        String sql = request.since() == null ? EARLIEST : LATEST;
        return session.list(session.dialect().sql(sql), SqlRow::number, args(request));
    }

    public static Object[] args(Unparking request) {
        Instant since = request.since();
        return since == null
                ? new Object[] {request.name(), request.max()}
                : new Object[] {request.name(), SqlTime.of(since), request.look(), request.max()};
    }
}
