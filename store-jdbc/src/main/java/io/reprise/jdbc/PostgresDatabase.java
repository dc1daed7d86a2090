// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;

/** A pool of connections. A transaction that fell victim to a deadlock is run again. */
final class PostgresDatabase implements Database {

    private static final int TRIES = 5;

    private final Dialect dialect = new PostgresDialect();
    private final HikariDataSource pool;
    private final int timeoutSeconds;
    private final boolean behindPooler;
    private final LongAdder repeats = new LongAdder();

    /**
     * A database on connections with {@link #limits}, unless they come from a pooler.
     *
     * @param behindPooler whether the server forgets settings of a session between two transactions
     */
    PostgresDatabase(HikariDataSource pool, int timeoutSeconds, boolean behindPooler) {
        this.pool = pool;
        this.timeoutSeconds = timeoutSeconds;
        this.behindPooler = behindPooler;
    }

    /**
     * Gives the limits of a session to the server. Who is frozen or cut off in a transaction must not keep its locks until
     * TCP gives up, which may take hours. And the server ends a statement that takes too long, but not a commit that waits
     * for a synchronous standby; see {@link PostgresDialect#limit}.
     */
    static String limits(Duration timeout) {
        return "set idle_in_transaction_session_timeout = " + timeout.toMillis() + "; set statement_timeout = "
                + timeout.toMillis();
    }

    @Override
    public Dialect dialect() {
        return dialect;
    }

    @Override
    public <T> T read(String what, Work<T> work) {
        return send(what, work);
    }

    @Override
    public <T> T send(String what, Work<T> work) {
        if (behindPooler) {
            return write(what, work);
        }
        return repeat(what, () -> {
            try (Connection connection = open()) {
                return work.on(new Session(connection, dialect, timeoutSeconds, Session.Use.POOLED));
            }
        });
    }

    @Override
    public <T> T write(String what, Work<T> work) {
        return repeat(what, () -> {
            try (Connection connection = open()) {
                connection.setAutoCommit(false);
                // The pool rolls back what was not committed when the connection comes back to it.
                T result = work.on(new Session(connection, dialect, timeoutSeconds, Session.Use.POOLED));
                connection.commit();
                return result;
            }
        });
    }

    /** Bounds the wait for a server that is gone, unless the source does. Sends nothing; the pool sets it back. */
    private Connection open() throws SQLException {
        Connection connection = pool.getConnection();
        try {
            if (connection.getNetworkTimeout() == 0) {
                // Beyond the statement timeout, so that it bites only when the server does not answer.
                connection.setNetworkTimeout(Runnable::run, (timeoutSeconds + 10) * 1_000);
            }
        } catch (SQLFeatureNotSupportedException ignored) {
            // A source that wraps its connections so must bound them itself.
        } catch (SQLException e) {
            connection.close();
            throw e;
        }
        return connection;
    }

    @Override
    public <T> T join(JdbcTransaction transaction, String what, Work<T> work) {
        try {
            Connection connection = transaction.connection(dialect);
            return work.on(new Session(connection, dialect, timeoutSeconds, Session.Use.JOINED));
        } catch (SQLException e) {
            throw SqlErrors.postgres(what + " in the caller's transaction", e);
        }
    }

    private interface Try<T> {
        T run() throws SQLException;
    }

    @Override
    public long repeats() {
        return repeats.sum();
    }

    private <T> T repeat(String what, Try<T> work) {
        for (int n = 1; ; n++) {
            try {
                return work.run();
            } catch (SQLException e) {
                if (n == TRIES || !SqlErrors.isRepeatable(e)) {
                    throw SqlErrors.postgres(what, e);
                }
                repeats.increment();
            }
        }
    }

    @Override
    public void close() {
        pool.close();
    }
}
