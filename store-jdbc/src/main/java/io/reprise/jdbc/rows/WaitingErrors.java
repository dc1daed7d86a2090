// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.rows;

import io.reprise.insight.WaitingError;
import io.reprise.jdbc.sql.Params;
import io.reprise.jdbc.sql.Session;
import io.reprise.job.JobId;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Counts jobs that wait after a failure by their error. */
public final class WaitingErrors {

    // Only the lanes of jobs that ran before, parked or not. The order is that of reprise_job_ready, so that it is read
    // and all other jobs are passed by, also if the statistics are old.
    private static final String OF_LANE = """
            select *
              from (select id, fingerprint, error_type, error_message
                      from reprise_job {by reprise_job_ready}
                     where queue = :queue and lane = {lane} and due_at is not null
                     order by priority desc, turn, due_at
                     limit :rows) lane{lane}
            """;

    private static final String OF_QUEUE = """
            select j.fingerprint, min(j.error_type), min(j.error_message), count(*), max(j.id)
              from ({lanes}) j
             where j.fingerprint is not null
             group by j.fingerprint
            """.replace(
                    "{lanes}",
                    IntStream.of(1, 2, 4, 5)
                            .mapToObj(lane -> OF_LANE.replace("{lane}", Integer.toString(lane)))
                            .collect(Collectors.joining("union all\n")));

    private WaitingErrors() {}

    public static List<WaitingError> of(Session session, @Nullable String queuePrefix, int rows) throws SQLException {
        Map<String, WaitingError> errors = new HashMap<>();
        long left = rows;
        for (String queue : QueueTable.live(session)) {
            if (left > 0 && (queuePrefix == null || queue.startsWith(queuePrefix))) {
                List<WaitingError> found = session.list(
                        session.dialect().sql(OF_QUEUE),
                        row -> new WaitingError(
                                row.text(), row.text(), row.textOrNull(), row.number(), new JobId(row.number())),
                        Params.of("queue", queue).and("rows", left));
                found.forEach(error -> errors.merge(error.fingerprint(), error, WaitingErrors::plus));
                left -= found.stream().mapToLong(WaitingError::jobs).sum();
            }
        }
        return errors.values().stream()
                .sorted(Comparator.comparingLong(WaitingError::jobs)
                        .reversed()
                        .thenComparing(WaitingError::fingerprint))
                .toList();
    }

    private static WaitingError plus(WaitingError one, WaitingError other) {
        WaitingError newer = one.latest().compareTo(other.latest()) < 0 ? other : one;
        return new WaitingError(
                newer.fingerprint(), newer.errorType(), newer.message(), one.jobs() + other.jobs(), newer.latest());
    }
}
