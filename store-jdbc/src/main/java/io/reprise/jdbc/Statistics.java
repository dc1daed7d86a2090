// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.store.StoreException;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What PostgreSQL's planner believes of the table of jobs. It plans our statements once for each connection, and again only
 * when statistics are new, for which autovacuum takes a minute or more: after jobs came in thousands to a queue that had been
 * empty, each settle would read all of them until then. So who claims has the table analyzed when it has grown. Thread-safe.
 */
final class Statistics {

    private static final Logger log = LoggerFactory.getLogger(Statistics.class);

    private static final Duration BETWEEN_LOOKS = Duration.ofSeconds(1);

    /** Whoever may not analyze is not asked to all the time. */
    private static final Duration AFTER_ANALYZE = Duration.ofSeconds(10);

    // Of a thousand it does not matter. What others do not tell of has not happened yet, by a second.
    private static final String ARE_OLD = """
            select pg_stat_get_live_tuples(oid) > 4 * greatest(reltuples, 1000)
              from pg_class
             where oid = to_regclass('reprise_job')
            """;

    // Not if somebody is at it already.
    private static final String ANALYZE = "analyze (skip_locked) reprise_job";

    private final Database database;
    private long nextLook = System.nanoTime();

    Statistics(Database database) {
        this.database = database;
    }

    /** Brings them up to date if that is needed, and nobody looked a moment ago. */
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

    /** Returns whether there was need to. */
    boolean renew() {
        if (!database.read("look at statistics", session -> session.one(ARE_OLD, Row::flag))) {
            return false;
        }
        later();
        try {
            database.send("analyze the table of jobs", session -> session.update(ANALYZE));
        } catch (StoreException e) {
            // It is slower without, and nothing else.
            log.debug("Statistics stay old: {}", e.getMessage());
        }
        return true;
    }

    private synchronized void later() {
        nextLook = System.nanoTime() + AFTER_ANALYZE.toNanos();
    }
}
