// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import io.reprise.store.StoreException;
import java.sql.SQLException;
import java.time.Duration;

/** A PostgreSQL, or a pooler before one. */
final class PostgresDatabase extends PooledDatabase {

    private static final long IDLE_MILLIS = 5_000;

    private final Dialect dialect = new PostgresDialect();
    private final boolean behindPooler;

    /**
     * A database on connections with {@link #settings}, unless they come from a pooler.
     *
     * @param behindPooler whether the server forgets settings of a session between two transactions
     */
    PostgresDatabase(HikariDataSource pool, HikariDataSource looks, int timeoutSeconds, boolean behindPooler) {
        super(pool, looks, timeoutSeconds);
        this.behindPooler = behindPooler;
    }

    /**
     * What the server must know of a session. Who is frozen or cut off in a transaction must not keep its locks until TCP gives
     * up, which may take hours, nor as long as a slow statement may take: between two statements of ours there are
     * milliseconds. And the server ends a statement that takes too long, but not a commit that waits for a synchronous standby;
     * see {@link PostgresDialect#limit}. Ours read the first few entries of an index, in its order; where the planner knows
     * little it would rather collect all and sort them, and a bitmap is the way it does. To compile such a statement takes a
     * hundred times as long as to run it.
     */
    static String settings(Duration timeout) {
        return "set idle_in_transaction_session_timeout = " + Math.min(IDLE_MILLIS, timeout.toMillis())
                + "; set statement_timeout = "
                + timeout.toMillis() + "; set enable_bitmapscan = off; set jit = off";
    }

    @Override
    public Dialect dialect() {
        return dialect;
    }

    @Override
    public <T> T send(String what, Work<T> work) {
        return behindPooler ? write(what, work) : super.send(what, work);
    }

    /** A pooler forgets what was set for the session; with another level a claim would see less than its lock protects. */
    @Override
    void begin(Session session) throws SQLException {
        if (behindPooler) {
            session.update("set transaction isolation level read committed; set local jit = off");
        }
    }

    @Override
    boolean isVictim(SQLException e) {
        return SqlErrors.isRepeatable(e);
    }

    @Override
    StoreException failure(String what, SQLException e) {
        return SqlErrors.postgres(what, e);
    }
}
