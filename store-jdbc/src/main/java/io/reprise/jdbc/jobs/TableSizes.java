// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.jobs;

import io.reprise.insight.StoredBytes;
import io.reprise.jdbc.sql.Session;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Adds up the lengths of payloads, chains and results, part by part along the primary keys: first live
 * jobs, then finished ones.
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

    private static final String LIVE_AFTER = "live-";
    private static final String FINISHED_AFTER = "finished-";

    private TableSizes() {}

    private record Part(String queue, long bytes, long last, long rows) {}

    public static StoredBytes read(Session session, @Nullable String cursor, int rows) throws SQLException {
        boolean apart = !session.dialect().sql("{finished}").equals("reprise_job");
        String from = cursor != null ? cursor : (apart ? LIVE_AFTER : FINISHED_AFTER) + 0;
        boolean live = from.startsWith(LIVE_AFTER);
        long after = Long.parseLong(from.substring(from.indexOf('-') + 1));
        List<Part> parts = session.list(
                session.dialect().sql(live ? LIVE : FINISHED),
                row -> new Part(row.text(), row.number(), row.number(), row.number()),
                after,
                rows);
        Map<String, Long> bytes = new HashMap<>();
        parts.forEach(part -> bytes.put(part.queue, part.bytes));
        boolean more = parts.stream().mapToLong(Part::rows).sum() == rows;
        long last = parts.stream().mapToLong(Part::last).max().orElse(after);
        String next = more ? (live ? LIVE_AFTER : FINISHED_AFTER) + last : live ? FINISHED_AFTER + 0 : null;
        return new StoredBytes(bytes, next);
    }
}
