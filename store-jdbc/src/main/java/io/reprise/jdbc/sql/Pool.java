// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.sql;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connections of a pool: one that the store opened, or one that belongs to the application. The second kind gets each
 * connection back as it was, and is never closed.
 */
public final class Pool implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Pool.class);

    private final DataSource source;
    private final boolean borrowed;

    /** Connections at the start, and how many of them are kept without work. */
    private final int size;

    private final int idle;

    private Pool(DataSource source, boolean borrowed, int size, int idle) {
        this.source = source;
        this.borrowed = borrowed;
        this.size = size;
        this.idle = idle;
    }

    /** Returns a pool that {@link #close} closes. It resets connections itself. */
    public static Pool own(HikariDataSource source) {
        return new Pool(source, false, source.getMaximumPoolSize(), source.getMinimumIdle());
    }

    /** Returns a pool of the application. */
    public static Pool borrowed(DataSource source) {
        return new Pool(source, true, 0, 0);
    }

    /**
     * Changes the number of connections; null for the number at the start. Connections beyond a lower number are closed
     * when their transaction has ended. A pool of the application stays as it is.
     */
    void resize(@Nullable Integer connections) {
        if (borrowed || !(source instanceof HikariDataSource own)) {
            return;
        }
        int most = connections == null ? size : connections;
        int before = own.getMaximumPoolSize();
        if (most == before) {
            return;
        }
        own.setMaximumPoolSize(most);
        own.setMinimumIdle(Math.min(idle, most));
        HikariPoolMXBean running = own.getHikariPoolMXBean();
        if (most < before && running != null) {
            // Without it, connections beyond the number would stay open for minutes. Those in use end when they return.
            running.softEvictConnections();
        }
        log.info("{} connections to the database at most, instead of {}", most, before);
    }

    public boolean isBorrowed() {
        return borrowed;
    }

    /** Takes a connection whose calls end after the timeout, even if the server is gone. */
    Loan take(int timeoutSeconds) throws SQLException {
        Connection connection = source.getConnection();
        try {
            boolean autoCommit = !borrowed || connection.getAutoCommit();
            return new Loan(connection, autoCommit, limit(connection, timeoutSeconds));
        } catch (SQLException e) {
            connection.close();
            throw e;
        }
    }

    /** Limits the wait for a server that is gone, unless the data source does. It sends nothing. */
    private static boolean limit(Connection connection, int timeoutSeconds) throws SQLException {
        try {
            if (connection.getNetworkTimeout() == 0) {
                // Longer than the statement timeout, so that it ends only calls that the server does not answer.
                connection.setNetworkTimeout(Runnable::run, (timeoutSeconds + 10) * 1_000);
                return true;
            }
        } catch (SQLFeatureNotSupportedException ignored) {
            // A data source with such connections must limit them itself.
        }
        return false;
    }

    /** Opens a connection beside the pool, if the pool is our own; the caller closes it. */
    Connection openPlain() throws SQLException {
        if (borrowed || !(source instanceof HikariDataSource own)) {
            return source.getConnection();
        }
        DataSource plain = own.getDataSource();
        return plain == null
                ? DriverManager.getConnection(own.getJdbcUrl(), own.getUsername(), own.getPassword())
                : plain.getConnection();
    }

    @Override
    public void close() {
        if (!borrowed && source instanceof HikariDataSource own) {
            own.close();
        }
    }

    /** A connection in use. */
    final class Loan implements AutoCloseable {
        private final Connection connection;
        private final boolean autoCommit;
        private final boolean limited;

        private Loan(Connection connection, boolean autoCommit, boolean limited) {
            this.connection = connection;
            this.autoCommit = autoCommit;
            this.limited = limited;
        }

        Connection connection() {
            return connection;
        }

        @Override
        public void close() throws SQLException {
            if (borrowed) {
                restore();
            }
            connection.close();
        }

        /** Not every pool of an application resets what we changed, and some hand out connections without autocommit. */
        private void restore() {
            try {
                if (!connection.getAutoCommit()) {
                    connection.rollback();
                }
                connection.setAutoCommit(autoCommit);
                if (limited) {
                    connection.setNetworkTimeout(Runnable::run, 0);
                }
            } catch (SQLException e) {
                log.debug("A connection is given up because it could not be restored: {}", e.getMessage());
                abort();
            }
        }

        private void abort() {
            try {
                connection.abort(Runnable::run);
            } catch (SQLException e) {
                log.debug("A connection could not be aborted: {}", e.getMessage());
            }
        }
    }
}
