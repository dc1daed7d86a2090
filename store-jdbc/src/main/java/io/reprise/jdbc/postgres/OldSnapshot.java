// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.postgres;

import io.reprise.jdbc.sql.Database;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.store.StoreException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether an old snapshot is open on a PostgreSQL server: a forgotten transaction, a long report, a standby. Until
 * it ends, the server keeps every row version and index entry. So a scan of an index from the start takes longer
 * and longer. Thread-safe.
 */
final class OldSnapshot {

    private static final Logger log = LoggerFactory.getLogger(OldSnapshot.class);

    /** While scans are quicker than this, the server is not asked. */
    static final long QUICK_NANOS = 2_000_000;

    private static final long KNOWN_NANOS = 5_000_000_000L;

    /** A snapshot this many transactions old leaves enough dead entries to matter. */
    private static final int OLD_TRANSACTIONS = 500;

    // The server shows sessions of other users only to members of pg_read_all_stats.
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

    /** Call this after a scan that took {@code tookNanos}. */
    synchronized boolean isHeld(long tookNanos) {
        long now = System.nanoTime();
        if (now - askedNanos < KNOWN_NANOS) {
            return held;
        }
        if (tookNanos < QUICK_NANOS) {
            return false;
        }
        held = age() > OLD_TRANSACTIONS;
        askedNanos = now;
        return held;
    }

    /** Returns the age in transactions. Returns 0 if the server does not tell: the answer only serves speed. */
    private long age() {
        try {
            return database.read("look for old snapshots", session -> session.one(AGE, SqlRow::number));
        } catch (StoreException e) {
            log.debug("Cannot tell whether an old snapshot is held: {}", e.getMessage());
            return 0;
        }
    }
}
