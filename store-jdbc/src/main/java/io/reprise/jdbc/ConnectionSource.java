// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

/**
 * A source of the connection of the caller's current transaction. Frameworks that bind a connection to the thread
 * implement it; see {@link JdbcTransaction#of(ConnectionSource)}.
 *
 * @since 0.1.0
 */
@FunctionalInterface
public interface ConnectionSource {
    /**
     * Returns the connection of the current transaction. It is called on each use and must return an open connection
     * with autocommit off. The store does not close it.
     *
     * @throws SQLException if there is no connection; the store reports it as a StoreException
     */
    Connection current() throws SQLException;
}
