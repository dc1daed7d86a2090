// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.mysql;

import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlRow;
import java.sql.SQLException;

/** The two kinds of server, with the SQL that they write differently. */
public enum MySqlServer {
    MYSQL("utf8mb4_0900_bin", "for share skip locked"),
    MARIADB("utf8mb4_nopad_bin", "lock in share mode skip locked");

    /** A binary collation that does not ignore trailing blanks. */
    private final String collation;

    private final String shareSkipLocked;

    MySqlServer(String collation, String shareSkipLocked) {
        this.collation = collation;
        this.shareSkipLocked = shareSkipLocked;
    }

    /** Asks the server itself, because a driver may report the other product's name. */
    static MySqlServer of(Session session) throws SQLException {
        return session.one("select version()", SqlRow::text).contains("MariaDB") ? MARIADB : MYSQL;
    }

    public String definition(String statement) {
        return statement.replace("{collation}", collation);
    }

    String shareSkipLocked() {
        return shareSkipLocked;
    }
}
