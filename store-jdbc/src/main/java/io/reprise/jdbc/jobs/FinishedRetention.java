// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.jobs;

import io.reprise.jdbc.sql.Dialect;
import io.reprise.jdbc.sql.Session;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** Finds old successes by the batches in which they were settled ({@code reprise_done}). */
public final class FinishedRetention {

    // Ids grow with time, so the first rows by the primary key are the oldest, and a young row ends the search.
    static final String OLDEST = """
            select id, jobs
              from (select id, jobs, finished_at
                      from reprise_done
                     order by id
                     limit ?) o
             where finished_at < ?
             order by id
            """;

    // Two transactions at once take different rows.
    private static final String TAKE = """
            select id, ids
              from reprise_done
             where id {in ?}
             order by id
            {skip_locked}
            """;

    private static final String FORGET = "{delete reprise_done by primary} where id {in ?}";

    private static final String SHORTEN = """
            update reprise_done
               set jobs = ?, ids = ?
             where id = ?
            """;

    private FinishedRetention() {}

    public static void keep(Session session, long finishedAt, List<Long> jobs) throws SQLException {
        if (!jobs.isEmpty()) {
            session.update(
                    "insert into reprise_done (finished_at, jobs, ids) values (?, ?, ?)",
                    finishedAt,
                    jobs.size(),
                    array(jobs));
        }
    }

    private static long[] array(List<Long> numbers) {
        return numbers.stream().mapToLong(Long::longValue).toArray();
    }

    private record Batch(long id, List<Long> jobs) {}

    private record Size(long id, int jobs) {}

    /**
     * Takes old successes. The caller deletes these jobs in the same transaction, because
     * reprise_done no longer names them.
     */
    static List<Long> takeOld(Session session, long before, int limit) throws SQLException {
        Dialect dialect = session.dialect();
        List<Long> chosen = new ArrayList<>();
        int sum = 0;
        for (Size size : session.list(OLDEST, row -> new Size(row.number(), row.integer()), limit, before)) {
            if (sum < limit) {
                chosen.add(size.id);
                sum += size.jobs;
            }
        }
        if (chosen.isEmpty()) {
            return List.of();
        }
        List<Long> old = new ArrayList<>();
        List<Long> whole = new ArrayList<>();
        for (Batch batch : session.list(
                dialect.sql(TAKE), row -> new Batch(row.number(), row.numbers()), (Object) array(chosen))) {
            int taken = Math.min(limit - old.size(), batch.jobs.size());
            old.addAll(batch.jobs.subList(0, taken));
            if (taken == batch.jobs.size()) {
                whole.add(batch.id);
            } else {
                List<Long> rest = batch.jobs.subList(taken, batch.jobs.size());
                session.update(SHORTEN, rest.size(), array(rest), batch.id);
            }
        }
        session.update(dialect.sql(FORGET), (Object) array(whole));
        return old;
    }
}
