// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.jobs;

import io.reprise.jdbc.sql.Session;
import io.reprise.job.JobId;
import io.reprise.store.CountedAs;
import io.reprise.store.Settled;
import io.reprise.store.Settlement;
import io.reprise.store.Suspects;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToLongFunction;

/** Stores with how many others a suspect may run, in the column together. Null means alone. */
public final class SuspectGroups {

    private static final String KEEP = """
            update reprise_job {by primary}
               set together = ?
             where lane = 2 and id {in ?}
            """;

    private static final String READ = """
            select id, coalesce(together, 1)
              from reprise_job {by primary}
             where id {in ?}
            """;

    private SuspectGroups() {}

    /** Suspects that may be claimed together, and how many suspects may run beside the strictest of them. */
    public record Group<T>(List<T> jobs, int together) {}

    /** Stores the group sizes, in the transaction that made these jobs suspects. */
    static void keep(Session session, List<Settlement> settlements, Settled settled) throws SQLException {
        Map<Integer, List<JobId>> groups = new TreeMap<>();
        for (Settlement settlement : settlements) {
            if (settlement.spent() == CountedAs.LOSS
                    && settlement.next() instanceof Settlement.Wait wait
                    && !settled.stale().contains(settlement.job())) {
                groups.computeIfAbsent(wait.together(), size -> new ArrayList<>())
                        .add(settlement.job());
            }
        }
        for (Map.Entry<Integer, List<JobId>> group : groups.entrySet()) {
            long[] ids =
                    group.getValue().stream().mapToLong(JobId::value).sorted().toArray();
            session.update(session.dialect().sql(KEEP), group.getKey(), ids);
        }
    }

    /** Returns the suspects, from the first on, that may be claimed together. */
    public static <T> Group<T> fitting(Session session, List<T> due, ToLongFunction<T> id, Suspects suspects)
            throws SQLException {
        long[] ids = due.stream().mapToLong(id).toArray();
        Map<Long, Integer> sizes = new HashMap<>();
        session.list(session.dialect().sql(READ), row -> sizes.put(row.number(), row.integer()), (Object) ids);
        int[] together = due.stream()
                .mapToInt(job -> sizes.getOrDefault(id.applyAsLong(job), 1))
                .toArray();
        int fitting = suspects.fitting(together);
        int least = Integer.MAX_VALUE;
        for (int i = 0; i < fitting; i++) {
            least = Math.min(least, together[i]);
        }
        return new Group<>(List.copyOf(due.subList(0, fitting)), least);
    }
}
