// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.testkit.servers.MariaDbServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * A MariaDB database with the schema, to be emptied rather than created again for each test. If the environment variable
 * {@code REPRISE_TEST_MYSQL_URL} names a database, then that one, of which nothing else may be kept.
 */
public final class MariaDb implements ServerDatabase {

    /** What processes remember between tests: policies, and rows that are locked. */
    private static final Set<String> KEPT =
            Set.of("reprise_migration", "reprise_policy", "reprise_sequence", "reprise_queue_lock");

    private final String url;
    private final JdbcJobStore store;
    private final List<String> tables;

    public MariaDb() {
        String given = System.getenv("REPRISE_TEST_MYSQL_URL");
        url = given == null ? MariaDbServer.shared().freshDatabaseUrl() : given;
        store = JdbcJobStore.open(url);
        store.prepare();
        tables = query("select table_name from information_schema.tables where table_schema = database()"
                        + " and table_type = 'BASE TABLE' and table_name like 'reprise%'")
                .stream()
                .filter(table -> !KEPT.contains(table))
                .toList();
    }

    @Override
    public JdbcJobStore store() {
        return store;
    }

    String url() {
        return url;
    }

    @Override
    public JdbcJobStore open(JdbcStoreBuilder settings) {
        return settings.open(url);
    }

    @Override
    public Connection connection() {
        try {
            return DriverManager.getConnection(url);
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void empty() {
        try (Connection connection = connection();
                Statement statement = connection.createStatement()) {
            for (String table : tables) {
                statement.execute("delete from " + table);
            }
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    public void execute(String sql) {
        try (Connection connection = connection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public List<String> query(String sql) {
        try (Connection connection = connection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            List<String> values = new ArrayList<>();
            while (rows.next()) {
                values.add(rows.getString(1));
            }
            return values;
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() {
        store.close();
    }
}
