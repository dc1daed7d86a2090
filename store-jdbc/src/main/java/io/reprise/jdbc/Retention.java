// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** Old successes, by the batches they were settled in. */
final class Retention {

    // The oldest come first by the primary key. Two at once take different ones.
    private static final String OLDEST = """
            select id, ids
              from reprise_done
             where finished_at <= ?
             order by id
             limit 1
            {skip_locked}
            """;

    private Retention() {}

    static void keep(Session session, long finishedAt, List<Long> jobs) throws SQLException {
        if (!jobs.isEmpty()) {
            session.update("insert into reprise_done (finished_at, ids) values (?, ?)", finishedAt, array(jobs));
        }
    }

    private static long[] array(List<Long> jobs) {
        return jobs.stream().mapToLong(Long::longValue).toArray();
    }

    private record Batch(long id, List<Long> jobs) {}

    /** To be deleted in the same transaction: nothing remembers them any more. */
    static List<Long> takeOld(Session session, long before, int limit) throws SQLException {
        List<Long> old = new ArrayList<>();
        while (old.size() < limit) {
            List<Batch> found =
                    session.list(session.dialect().sql(OLDEST), row -> new Batch(row.number(), row.numbers()), before);
            if (found.isEmpty()) {
                break;
            }
            Batch batch = found.get(0);
            int taken = Math.min(limit - old.size(), batch.jobs.size());
            old.addAll(batch.jobs.subList(0, taken));
            if (taken == batch.jobs.size()) {
                session.update("delete from reprise_done where id = ?", batch.id);
            } else {
                List<Long> rest = batch.jobs.subList(taken, batch.jobs.size());
                session.update("update reprise_done set ids = ? where id = ?", array(rest), batch.id);
            }
        }
        return old;
    }
}
