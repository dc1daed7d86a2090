// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.testkit.servers.PostgresServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** A PostgreSQL database with the schema, to be emptied rather than created again for each test. */
public final class Postgres implements ServerDatabase {

    private final DataSource source = PostgresServer.shared().freshDatabase();
    private final JdbcJobStore store = JdbcJobStore.postgresql(source);

    public Postgres() {
        store.prepare();
    }

    @Override
    public JdbcJobStore store() {
        return store;
    }

    public DataSource source() {
        return source;
    }

    @Override
    public JdbcJobStore open(JdbcStoreBuilder settings) {
        return settings.postgresql(source);
    }

    @Override
    public Connection connection() {
        try {
            return source.getConnection();
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void empty() {
        List<String> tables = query(
                "select tablename from pg_tables where schemaname = 'public'"
                        + " and tablename like 'reprise%' and tablename <> 'reprise_migration' and tablename <> 'reprise_policy'");
        execute("truncate " + String.join(", ", tables));
    }

    public void execute(String sql) {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public List<String> query(String sql) {
        try (Connection connection = source.getConnection();
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
