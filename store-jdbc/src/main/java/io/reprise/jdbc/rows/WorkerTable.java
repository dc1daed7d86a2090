// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.rows;

import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlTime;
import io.reprise.job.WorkerReport;
import io.reprise.job.WorkerState;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/** Reads and writes the live workers in {@code reprise_worker}. */
public final class WorkerTable {

    // A worker that returns after it expired gets a new since. It is assigned first, because MySQL sees the
    // columns assigned before.
    private static final String CHECK_IN = """
            insert into reprise_worker (name, queues, types, concurrency, holding, since, seen_at, expires_at)
            values (?, ?, ?, ?, ?, {now}, {now}, {now} + ?)
            {on_conflict (name)}
                   since = case when reprise_worker.expires_at > {new.seen_at}
                                then reprise_worker.since else {new.since} end,
                   queues = {new.queues}, types = {new.types}, concurrency = {new.concurrency},
                   holding = {new.holding}, seen_at = {new.seen_at}, expires_at = {new.expires_at}
            """;

    private static final String LIVE = """
            select name, queues, types, concurrency, holding, since, seen_at
              from reprise_worker
             where expires_at > {now}
             order by name
            """;

    private WorkerTable() {}

    public static int checkIn(Session session, WorkerReport report, Duration ttl) throws SQLException {
        return session.update(
                session.dialect().sql(CHECK_IN),
                report.name(),
                String.join(" ", report.queues()),
                String.join(" ", report.types()),
                report.concurrency(),
                report.holding(),
                SqlTime.of(ttl));
    }

    public static int checkOut(Session session, String worker) throws SQLException {
        return session.update("delete from reprise_worker where name = ?", worker);
    }

    public static List<WorkerState> live(Session session) throws SQLException {
        return session.list(session.dialect().sql(LIVE), row -> {
            WorkerReport report =
                    new WorkerReport(row.text(), names(row.text()), names(row.text()), row.integer(), row.integer());
            return new WorkerState(report, row.instant(), row.instant());
        });
    }

    public static void forget(Session session) throws SQLException {
        session.update(session.dialect().sql("delete from reprise_worker where expires_at <= {now}"));
    }

    private static List<String> names(String joined) {
        return joined.isEmpty() ? List.of() : List.of(joined.split(" "));
    }
}
