// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.postgres;

import com.zaxxer.hikari.HikariDataSource;
import io.reprise.jdbc.sql.Dialect;
import io.reprise.jdbc.sql.PooledDatabase;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlErrors;
import io.reprise.store.StoreException;
import java.sql.SQLException;
import java.time.Duration;

/** Connections to PostgreSQL, directly or through a pooler. */
public final class PostgresDatabase extends PooledDatabase {

    private static final long IDLE_MILLIS = 5_000;

    private final Dialect dialect = new PostgresDialect();
    private final boolean behindPooler;

    /**
     * Creates a database on connections with {@link #settings}, unless they come from a pooler.
     *
     * @param behindPooler whether session settings are lost between two transactions
     */
    public PostgresDatabase(HikariDataSource pool, HikariDataSource looks, int timeoutSeconds, boolean behindPooler) {
        super(pool, looks, timeoutSeconds);
        this.behindPooler = behindPooler;
    }

    /**
     * Returns the statements that set up a session.
     *
     * <p>idle_in_transaction_session_timeout: a process that is frozen or cut off in a transaction must not keep its
     * locks until TCP gives up, which can take hours. Between two of our statements there are milliseconds.
     *
     * <p>statement_timeout: the server ends a slow statement, but not a commit that waits for a synchronous standby;
     * see {@link PostgresDialect#limit}.
     *
     * <p>enable_bitmapscan: our statements read the first entries of an index in its order. With poor statistics the
     * planner would rather collect all entries in a bitmap and sort them.
     *
     * <p>jit: compiling such a statement takes a hundred times as long as running it.
     */
    public static String settings(Duration timeout) {
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

    /**
     * A pooler loses session settings. At a higher isolation level a claim would not see the
     * leases that its lock protects.
     */
    @Override
    public void begin(Session session) throws SQLException {
        if (behindPooler) {
            session.update("set transaction isolation level read committed; set local jit = off");
        }
    }

    @Override
    public boolean isVictim(SQLException e) {
        return SqlErrors.isRepeatable(e);
    }

    @Override
    public StoreException failure(String what, SQLException e) {
        return SqlErrors.postgres(what, e);
    }
}
