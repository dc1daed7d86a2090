// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** Old successes, by the batches they were settled in. */
final class Retention {

    // The oldest come first by the primary key, and none behind a young one is much older: what is young ends the look.
    static final String OLDEST = """
            select id, jobs
              from (select id, jobs, finished_at
                      from reprise_done
                     order by id
                     limit ?) o
             where finished_at <= ?
             order by id
            """;

    // Two at once take different ones.
    private static final String TAKE = """
            select id, ids
              from reprise_done
             where id {in}
             order by id
            {skip_locked}
            """;

    private static final String FORGET = "{delete reprise_done by primary} where id {in}";

    private static final String SHORTEN = """
            update reprise_done
               set jobs = ?, ids = ?
             where id = ?
            """;

    private Retention() {}

    static void keep(Session session, long finishedAt, List<Long> jobs) throws SQLException {
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

    /** To be deleted in the same transaction: nothing remembers them any more. */
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
