// SPDX-License-Identifier: Apache-2.0
import org.jspecify.annotations.NullMarked;

/** Jobs in SQLite, PostgreSQL, MySQL or MariaDB. */
@NullMarked
module io.reprise.jdbc {
    requires static org.jspecify;
    requires transitive io.reprise.core;
    requires transitive java.sql;
    requires com.zaxxer.hikari;
    requires org.slf4j;
    requires org.xerial.sqlitejdbc;
    requires static org.postgresql.jdbc;

    exports io.reprise.jdbc;
}
