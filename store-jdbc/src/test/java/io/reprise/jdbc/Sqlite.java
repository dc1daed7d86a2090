// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** Looks into a database file from outside the store. */
public final class Sqlite {

    private Sqlite() {}

    public static Connection connection(Path file) {
        try {
            return DriverManager.getConnection("jdbc:sqlite:" + file);
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    static void execute(Path file, String... statements) {
        try (Connection connection = connection(file);
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    /** First column of all rows. */
    static List<String> query(Path file, String sql) {
        try (Connection connection = connection(file);
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
}
