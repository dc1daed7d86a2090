// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.jobs;

import io.reprise.insight.StoredBytes;
import io.reprise.jdbc.sql.Session;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Adds up the lengths of payloads, chains, results, steps and log lines, part by part along the primary keys: first live
 * jobs, then finished ones, then the steps of both, then their log lines.
 */
public final class TableSizes {

    // Only MySQL and MariaDB read the text to get its length.
    private static final String LIVE = """
            select queue, sum(octet_length(payload) + coalesce(octet_length(chain), 0)), max(id), count(*)
              from (select id, queue, payload, chain
                      from reprise_job
                     where id > ?
                     order by id
                     limit ?) p
             group by queue
            """;

    private static final String FINISHED = """
            select queue,
                   sum(octet_length(payload) + coalesce(octet_length(chain), 0) + coalesce(octet_length(result), 0)),
                   max(id), count(*)
              from (select id, queue, payload, chain, result
                      from {finished}
                     where id > ?
                     order by id
                     limit ?) p
             group by queue
            """;

    // A part ends between two jobs. The primary key gives the jobs in their order, without a sort.
    private static final String BESIDE = """
            select coalesce(j.queue, f.queue), sum(s.bytes), max(s.job_id), count(*)
              from (select job_id, sum(octet_length({text})) as bytes
                      from {table}
                     where job_id > ?
                     group by job_id
                     order by job_id
                     limit ?) s
              left join reprise_job j on j.id = s.job_id
              left join {finished} f on f.id = s.job_id
             group by coalesce(j.queue, f.queue)
            """;

    private static final String STEPS = BESIDE.replace("{text}", "value").replace("{table}", "reprise_step");

    private static final String LOGS = BESIDE.replace("{text}", "body").replace("{table}", "reprise_log");

    /** A job has ten steps or parts of a log or so. */
    private static final int ROWS_OF_A_JOB = 10;

    private static final String LIVE_AFTER = "live-";
    private static final String FINISHED_AFTER = "finished-";
    private static final String STEPS_AFTER = "steps-";
    private static final String LOGS_AFTER = "logs-";

    private TableSizes() {}

    private record Part(@Nullable String queue, long bytes, long last, long rows) {}

    public static StoredBytes read(Session session, @Nullable String cursor, int rows) throws SQLException {
        boolean apart = !session.dialect().sql("{finished}").equals("reprise_job");
        String from = cursor != null ? cursor : (apart ? LIVE_AFTER : FINISHED_AFTER) + 0;
        String table = from.substring(0, from.indexOf('-') + 1);
        long after = Long.parseLong(from.substring(table.length()));
        boolean several = table.equals(STEPS_AFTER) || table.equals(LOGS_AFTER);
        int most = several ? Math.max(1, rows / ROWS_OF_A_JOB) : rows;
        List<Part> parts = session.list(
                session.dialect().sql(sql(table)),
                row -> new Part(
                        row.textOrNull(),
                        Objects.requireNonNullElse(row.numberOrNull(), 0L),
                        row.number(),
                        row.number()),
                after,
                most);
        Map<String, Long> bytes = new HashMap<>();
        for (Part part : parts) {
            // A job that ended or was deleted between two parts has no queue here.
            if (part.queue != null && part.bytes > 0) {
                bytes.put(part.queue, part.bytes);
            }
        }
        boolean more = parts.stream().mapToLong(Part::rows).sum() == most;
        long last = parts.stream().mapToLong(Part::last).max().orElse(after);
        return new StoredBytes(bytes, more ? table + last : following(table));
    }

    private static String sql(String table) {
        return switch (table) {
            case LIVE_AFTER -> LIVE;
            case FINISHED_AFTER -> FINISHED;
            case STEPS_AFTER -> STEPS;
            default -> LOGS;
        };
    }

    private static @Nullable String following(String table) {
        return switch (table) {
            case LIVE_AFTER -> FINISHED_AFTER + 0;
            case FINISHED_AFTER -> STEPS_AFTER + 0;
            case STEPS_AFTER -> LOGS_AFTER + 0;
            default -> null;
        };
    }
}
