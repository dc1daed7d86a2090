// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.JobState;
import java.sql.SQLException;
import java.util.EnumMap;
import java.util.Map;
import java.util.TreeMap;

/** How many jobs of each queue are in which terminal state, as a sum of changes. */
final class Counters {

    private static final String ADD = """
            insert into reprise_counter (queue, state, n)
            values (?, ?, ?)
            """;

    private Counters() {}

    record Change(String queue, JobState state, long n) {}

    static Change change(Row row) throws SQLException {
        return new Change(row.text(), JobState.valueOf(row.text()), row.number());
    }

    static void fold(Session session) throws SQLException {
        Sums sums = new Sums();
        session.dialect().takeCounts(session).forEach(change -> sums.add(change.queue(), change.state(), change.n()));
        sums.write(session);
    }

    /** Changes of one transaction, to be written as one row per queue and state. Not thread-safe. */
    static final class Sums {

        private final Map<String, Map<JobState, Long>> sums = new TreeMap<>();

        void add(String queue, JobState state, long n) {
            sums.computeIfAbsent(queue, name -> new EnumMap<>(JobState.class)).merge(state, n, Long::sum);
        }

        void write(Session session) throws SQLException {
            for (Map.Entry<String, Map<JobState, Long>> queue : sums.entrySet()) {
                for (Map.Entry<JobState, Long> state : queue.getValue().entrySet()) {
                    if (state.getValue() != 0) {
                        session.update(ADD, queue.getKey(), state.getKey(), state.getValue());
                    }
                }
            }
        }
    }
}
