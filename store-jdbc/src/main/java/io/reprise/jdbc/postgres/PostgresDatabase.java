// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.postgres;

import io.reprise.jdbc.sql.Dialect;
import io.reprise.jdbc.sql.Pool;
import io.reprise.jdbc.sql.PooledDatabase;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlErrors;
import io.reprise.store.StoreException;
import java.sql.SQLException;
import java.time.Duration;

/** Connections to PostgreSQL, directly or through a pooler. */
public final class PostgresDatabase extends PooledDatabase {

    private static final long IDLE_MILLIS = 5_000;

    /** Savepoint after the settings of a transaction. */
    private static final String BEGUN = "reprise_begun";

    private final Dialect dialect = new PostgresDialect();
    private final long idleMillis;
    private final boolean behindPooler;

    /**
     * Creates a database on connections with {@link #settings}, unless they come from a pooler or an application.
     *
     * @param behindPooler whether session settings are lost between two transactions
     */
    public PostgresDatabase(Pool pool, Pool looks, int timeoutSeconds, boolean behindPooler) {
        super(pool, looks, timeoutSeconds);
        this.behindPooler = behindPooler || pool.isBorrowed();
        this.idleMillis = idleMillis(Duration.ofSeconds(timeoutSeconds));
    }

    private static long idleMillis(Duration timeout) {
        return Math.min(IDLE_MILLIS, timeout.toMillis());
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
     * <p>enable_seqscan: with old statistics the planner takes a table for small that has grown since, and reads all of it. Every
     * statement has an index, except those that want all rows, and they still read the table.
     *
     * <p>jit: compiling such a statement takes a hundred times as long as running it.
     */
    public static String settings(Duration timeout) {
        return "set idle_in_transaction_session_timeout = " + idleMillis(timeout)
                + "; set statement_timeout = "
                + timeout.toMillis() + "; set enable_bitmapscan = off; set enable_seqscan = off; set jit = off";
    }

    @Override
    public Dialect dialect() {
        return dialect;
    }

    @Override
    public <T> T send(String what, Refusal<T> refusal, Work<T> work) {
        return behindPooler ? write(what, refusal, work) : super.send(what, refusal, work);
    }

    /**
     * A pooler loses session settings. At a higher isolation level a claim would not see the
     * leases that its lock protects.
     */
    @Override
    public void begin(Session session) throws SQLException {
        if (behindPooler) {
            session.update("set transaction isolation level read committed; set local enable_bitmapscan = off;"
                    + " set local enable_seqscan = off; set local jit = off;"
                    + " set local idle_in_transaction_session_timeout = " + idleMillis + "; savepoint " + BEGUN);
        }
    }

    /**
     * Behind a pooler the next transaction may be on another server, and a confirmation there would say nothing about
     * what this one refused.
     */
    @Override
    public void undo(Session session) throws SQLException {
        if (behindPooler) {
            session.update("rollback to savepoint " + BEGUN);
        } else {
            super.undo(session);
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
