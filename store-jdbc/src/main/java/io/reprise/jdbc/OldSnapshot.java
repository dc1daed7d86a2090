// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.store.StoreException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether somebody holds an old snapshot of a PostgreSQL server open: a forgotten transaction, a long report, a standby.
 * As long as that lasts the server keeps every row version and index entry, so that to look through an index from the start
 * takes longer and longer. Thread-safe.
 */
final class OldSnapshot {

    private static final Logger log = LoggerFactory.getLogger(OldSnapshot.class);

    /** Nobody asks as long as looks are as quick as this. */
    static final long QUICK_NANOS = 2_000_000;

    private static final long KNOWN_NANOS = 5_000_000_000L;

    /** So many transactions later the entries they left are worth stepping over. */
    private static final int OLD = 500;

    // Of sessions of other users the server tells only members of pg_read_all_stats.
    private static final String AGE = """
            select coalesce(max(age), 0)
              from (
                select age(backend_xmin) from pg_stat_activity where pid <> pg_backend_pid()
                union all
                select age(xmin) from pg_replication_slots
                union all
                select age(transaction) from pg_prepared_xacts) as x (age)
            """;

    private final Database database;
    private boolean held;
    private long askedNanos = System.nanoTime() - KNOWN_NANOS;

    OldSnapshot(Database database) {
        this.database = database;
    }

    /** To be asked after a look that took so long. */
    synchronized boolean isHeld(long tookNanos) {
        long now = System.nanoTime();
        if (now - askedNanos < KNOWN_NANOS) {
            return held;
        }
        if (tookNanos < QUICK_NANOS) {
            return false;
        }
        held = age() > OLD;
        askedNanos = now;
        return held;
    }

    /** In transactions; 0 if the server does not tell, since whoever asks only wants to be quick. */
    private long age() {
        try {
            return database.read("look for old snapshots", session -> session.one(AGE, Row::number));
        } catch (StoreException e) {
            log.debug("Cannot tell whether an old snapshot is held: {}", e.getMessage());
            return 0;
        }
    }
}
