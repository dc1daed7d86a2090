// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.jdbc.sql.Dialect;
import io.reprise.job.Transaction;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;

/**
 * An open JDBC transaction of the caller. Reprise writes on its connection. It never commits, rolls back or closes the
 * connection, and never changes its autocommit mode. As thread-safe as the connection.
 *
 * <p>The store checks the connection on each use. It throws IllegalArgumentException if the connection is in autocommit
 * mode or leads to another kind of database.
 *
 * @since 0.1.0
 */
public final class JdbcTransaction implements Transaction {

    private final ConnectionSource source;

    private JdbcTransaction(ConnectionSource source) {
        this.source = source;
    }

    /**
     * Returns the transaction of a connection.
     *
     * @param connection a connection to the database of the store, with autocommit off
     * @throws NullPointerException if {@code connection} is null
     */
    public static JdbcTransaction of(Connection connection) {
        Objects.requireNonNull(connection, "connection");
        return new JdbcTransaction(() -> connection);
    }

    /**
     * Returns the current transaction of a framework that binds a connection to the thread. The source is asked on each
     * use.
     *
     * @throws NullPointerException if {@code source} is null
     */
    public static JdbcTransaction of(ConnectionSource source) {
        return new JdbcTransaction(Objects.requireNonNull(source, "source"));
    }

    /**
     * Returns the current connection.
     *
     * @throws IllegalArgumentException if it leads to another kind of database, or is in autocommit mode
     */
    Connection connection(Dialect dialect) throws SQLException {
        Connection connection = source.current();
        String product = connection.getMetaData().getDatabaseProductName();
        if (!dialect.isOf(product)) {
            throw new IllegalArgumentException(
                    "The transaction's connection is to " + product + ", but this store is in " + dialect.product()
                            + ": pass a connection to the store's own database");
        }
        if (connection.getAutoCommit()) {
            throw new IllegalArgumentException(
                    "The connection is in autocommit mode, so there is no transaction to take"
                            + " part in: call setAutoCommit(false) first, or enqueue without a transaction");
        }
        return connection;
    }
}
