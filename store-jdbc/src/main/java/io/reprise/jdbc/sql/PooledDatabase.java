// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.sql;

import com.zaxxer.hikari.HikariDataSource;
import io.reprise.job.DuplicateKeyException;
import io.reprise.job.KeyReusedException;
import io.reprise.store.StoreException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Connections to a server from a pool. A transaction that lost a deadlock or a similar conflict is run again. */
public abstract class PooledDatabase implements Database {

    private static final Logger log = LoggerFactory.getLogger(PooledDatabase.class);

    private static final int TRIES = 5;

    private final HikariDataSource pool;
    private final HikariDataSource looks;
    private final int timeoutSeconds;
    private final LongAdder repeats = new LongAdder();

    /**
     * Creates a database on two pools.
     *
     * @param looks connections for {@link #look}
     */
    public PooledDatabase(HikariDataSource pool, HikariDataSource looks, int timeoutSeconds) {
        this.pool = pool;
        this.looks = looks;
        this.timeoutSeconds = timeoutSeconds;
    }

    /** Whether the transaction may be run again unchanged. */
    public abstract boolean isVictim(SQLException e);

    /** Returns the exception for callers. */
    public abstract StoreException failure(String what, SQLException e);

    @Override
    public final <T> T read(String what, Work<T> work) {
        return send(what, work);
    }

    @Override
    public <T> T send(String what, Work<T> work) {
        return repeat(what, () -> {
            try (Connection connection = open(pool)) {
                return work.on(session(connection, timeoutSeconds, Session.Use.POOLED));
            }
        });
    }

    /** Runs in a transaction, so that the driver can set the timeout behind a pooler too. */
    @Override
    public final <T> T look(String what, Work<T> work) {
        int seconds = Math.min(timeoutSeconds, (int) LOOK_TIME.toSeconds());
        return repeat(what, () -> {
            try (Connection connection = open(looks)) {
                connection.setAutoCommit(false);
                Session session = session(connection, seconds, Session.Use.POOLED);
                begin(session);
                return work.on(session);
            }
        });
    }

    @Override
    public final <T> T write(String what, Work<T> work) {
        return repeat(what, () -> {
            try (Connection connection = open(pool)) {
                connection.setAutoCommit(false);
                // When the connection returns, the pool rolls back uncommitted work.
                Session session = session(connection, timeoutSeconds, Session.Use.POOLED);
                try {
                    begin(session);
                    T result = work.on(session);
                    connection.commit();
                    return result;
                } catch (DuplicateKeyException | KeyReusedException | UniqueKeyTaken refused) {
                    connection.rollback();
                    session.confirm();
                    connection.commit();
                    throw refused;
                }
            }
        });
    }

    /** Sends the settings that each transaction needs. */
    public void begin(Session session) throws SQLException {}

    @Override
    public final <T> T join(CallersConnection transaction, String what, Work<T> work) {
        try {
            return work.on(session(transaction.open(dialect()), timeoutSeconds, Session.Use.JOINED));
        } catch (SQLException e) {
            throw failure(what + " in the caller's transaction", e);
        }
    }

    private Session session(Connection connection, int seconds, Session.Use use) {
        return new Session(connection, dialect(), seconds, use);
    }

    /** Limits the wait for a server that is gone, unless the data source does. It sends nothing; the pool resets it. */
    private Connection open(HikariDataSource pool) throws SQLException {
        Connection connection = pool.getConnection();
        try {
            if (connection.getNetworkTimeout() == 0) {
                // Longer than the statement timeout, so that it ends only calls that the server does not answer.
                connection.setNetworkTimeout(Runnable::run, (timeoutSeconds + 10) * 1_000);
            }
        } catch (SQLFeatureNotSupportedException ignored) {
            // A data source with such connections must limit them itself.
        } catch (SQLException e) {
            connection.close();
            throw e;
        }
        return connection;
    }

    private interface Try<T> {
        T run() throws SQLException;
    }

    private <T> T repeat(String what, Try<T> work) {
        for (int n = 1; ; n++) {
            try {
                return work.run();
            } catch (SQLException e) {
                if (n == TRIES || !isVictim(e)) {
                    throw failure(what, e);
                }
                repeats.increment();
                log.debug("Trying again to {}: {}", what, e.getMessage());
            }
        }
    }

    @Override
    public final long repeats() {
        return repeats.sum();
    }

    @Override
    public void close() {
        looks.close();
        pool.close();
    }
}
