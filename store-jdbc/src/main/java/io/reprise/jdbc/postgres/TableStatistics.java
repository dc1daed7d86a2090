// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.postgres;

import io.reprise.jdbc.sql.Database;
import io.reprise.jdbc.sql.Database.Refusal;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.store.StoreException;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps PostgreSQL's statistics of reprise_job up to date. The server plans each statement once per connection, and
 * again only after new statistics; autovacuum takes a minute or more. If thousands of jobs come to an empty queue, each
 * settle would read all of them until then. So a claim runs ANALYZE when the table has grown. Thread-safe.
 */
final class TableStatistics {

    private static final Logger log = LoggerFactory.getLogger(TableStatistics.class);

    private static final Duration BETWEEN_LOOKS = Duration.ofSeconds(1);

    /** A user who may not analyze does not try more often than this. */
    private static final Duration AFTER_ANALYZE = Duration.ofSeconds(10);

    // Below 1,000 rows old statistics do no harm. pg_stat_get_live_tuples lags up to one second behind other sessions.
    private static final String ARE_OLD = """
            select pg_stat_get_live_tuples(oid) > 4 * greatest(reltuples, 1000)
              from pg_class
             where oid = to_regclass('reprise_job')
            """;

    // Skips the table if another session analyzes it.
    private static final String ANALYZE = "analyze (skip_locked) reprise_job";

    private final Database database;
    private long nextLook = System.nanoTime();

    TableStatistics(Database database) {
        this.database = database;
    }

    /** Checks the statistics at most once per {@code BETWEEN_LOOKS}, and renews them if they are old. */
    void keepUp() {
        if (isTimeToLook()) {
            renew();
        }
    }

    private synchronized boolean isTimeToLook() {
        long now = System.nanoTime();
        boolean time = now - nextLook >= 0;
        if (time) {
            nextLook = now + BETWEEN_LOOKS.toNanos();
        }
        return time;
    }

    /** Renews old statistics. Returns whether they were old. */
    boolean renew() {
        if (!database.read("look at statistics", session -> session.one(ARE_OLD, SqlRow::flag))) {
            return false;
        }
        later();
        try {
            database.send("analyze the table of jobs", Refusal.never(), session -> session.update(ANALYZE));
        } catch (StoreException e) {
            // Old statistics only make claims and settles slower.
            log.debug("Statistics stay old: {}", e.getMessage());
        }
        return true;
    }

    private synchronized void later() {
        nextLook = System.nanoTime() + AFTER_ANALYZE.toNanos();
    }
}
