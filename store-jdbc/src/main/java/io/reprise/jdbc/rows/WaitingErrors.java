// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.rows;

import io.reprise.insight.WaitingError;
import io.reprise.jdbc.sql.Session;
import io.reprise.job.JobId;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Counts jobs that wait after a failure by their error. */
public final class WaitingErrors {

    // Only the lanes of jobs that ran before, parked or not: reprise_job_ready passes all others by.
    private static final String OF_QUEUE = """
            select j.fingerprint, min(j.error_type), min(j.error_message), count(*), max(j.id)
              from (select id, token, fingerprint, error_type, error_message
                      from reprise_job
                     where queue = ? and lane in (1, 2, 4, 5) and due_at is not null
                     limit ?) j
             where j.fingerprint is not null
               and not exists (select 1 from reprise_held h where h.id = j.id and j.token < h.token)
             group by j.fingerprint
            """;

    private WaitingErrors() {}

    public static List<WaitingError> of(Session session, @Nullable String queuePrefix, int rows) throws SQLException {
        Map<String, WaitingError> errors = new HashMap<>();
        long left = rows;
        for (String queue : QueueTable.live(session)) {
            if (left > 0 && (queuePrefix == null || queue.startsWith(queuePrefix))) {
                List<WaitingError> found = session.list(
                        OF_QUEUE,
                        row -> new WaitingError(
                                row.text(), row.text(), row.textOrNull(), row.number(), new JobId(row.number())),
                        queue,
                        left);
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
