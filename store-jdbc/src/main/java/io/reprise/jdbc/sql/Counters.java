// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.sql;

import io.reprise.job.JobState;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Counts the ended jobs of each queue by state in {@code reprise_counter}. Each transaction adds a row with its
 * change; the sum is the count.
 */
public final class Counters {

    private static final String ADD = """
            insert into reprise_counter (queue, state, n)
            values (?, ?, ?)
            """;

    private Counters() {}

    public record Change(String queue, JobState state, long n) {}

    public static Change change(SqlRow row) throws SQLException {
        return new Change(row.text(), JobState.valueOf(row.text()), row.number());
    }

    /** Replaces rows by their sums. Returns how many rows there were. */
    public static int fold(Session session, long newest) throws SQLException {
        Sums sums = new Sums();
        List<Change> changes = session.dialect().takeCounts(session, newest);
        changes.forEach(change -> sums.add(change.queue(), change.state(), change.n()));
        sums.write(session);
        return changes.size();
    }

    /** Changes of one transaction, written as one row per queue and state. Not thread-safe. */
    public static final class Sums {

        private final Map<String, Map<JobState, Long>> sums = new TreeMap<>();

        public void add(String queue, JobState state, long n) {
            sums.computeIfAbsent(queue, name -> new EnumMap<>(JobState.class)).merge(state, n, Long::sum);
        }

        public void write(Session session) throws SQLException {
            List<@Nullable Object[]> rows = new ArrayList<>();
            sums.forEach((queue, states) -> states.forEach((state, n) -> {
                if (n != 0) {
                    rows.add(new @Nullable Object[] {queue, state, n});
                }
            }));
            if (rows.size() == 1) {
                session.update(ADD, rows.get(0));
            } else if (!rows.isEmpty()) {
                session.updateEach(ADD, rows);
            }
        }
    }
}
