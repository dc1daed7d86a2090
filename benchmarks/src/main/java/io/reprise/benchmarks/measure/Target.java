// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.measure;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** One empty database for one system and one workload. */
public record Target(StoreKind store, String jdbcUrl) {

    private static final String SQLITE = "jdbc:sqlite:";

    public Connection connect() throws SQLException {
        return DriverManager.getConnection(jdbcUrl);
    }

    /** Returns the file of a SQLite database. */
    Path file() {
        return Path.of(jdbcUrl.substring(SQLITE.length()));
    }

    public void execute(String... statements) throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        }
    }

    public long number(String query) throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            row.next();
            return row.getLong(1);
        }
    }

    /** Does what an idle database would have done since the load: takes statistics, writes pages. */
    public void tidy() throws SQLException {
        switch (store) {
            case POSTGRESQL -> execute("vacuum analyze", "checkpoint");
            case MARIADB -> analyzeTables();
            case SQLITE -> execute("pragma wal_checkpoint(truncate)");
        }
    }

    private void analyzeTables() throws SQLException {
        List<String> tables = new ArrayList<>();
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("show full tables where table_type = 'BASE TABLE'")) {
            while (rows.next()) {
                tables.add(rows.getString(1));
            }
        }
        execute("analyze table " + String.join(", ", tables));
    }

    /** Returns the bytes of write-ahead log that the whole server has written so far. */
    public long walBytes() throws SQLException {
        return number("select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint");
    }
}
