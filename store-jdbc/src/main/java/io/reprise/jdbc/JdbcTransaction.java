// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.Transaction;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;

/**
 * A caller's open JDBC transaction. Reprise writes on its connection and never commits, rolls back, closes it or changes
 * its autocommit mode. As thread-safe as the connection.
 */
public final class JdbcTransaction implements Transaction {

    private final ConnectionSource source;

    private JdbcTransaction(ConnectionSource source) {
        this.source = source;
    }

    /** The transaction of a connection with autocommit off, to the database the store uses. */
    public static JdbcTransaction of(Connection connection) {
        Objects.requireNonNull(connection, "connection");
        return new JdbcTransaction(() -> connection);
    }

    /** For frameworks that bind a connection to the thread. */
    public static JdbcTransaction of(ConnectionSource source) {
        return new JdbcTransaction(Objects.requireNonNull(source, "source"));
    }

    /**
     * The connection as it is now.
     *
     * @throws IllegalArgumentException if it cannot carry a transaction of such a database
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
