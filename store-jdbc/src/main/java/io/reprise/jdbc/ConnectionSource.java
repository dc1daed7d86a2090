// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

/** Returns the connection of the caller's current transaction each time it is asked. */
@FunctionalInterface
public interface ConnectionSource {
    Connection current() throws SQLException;
}
