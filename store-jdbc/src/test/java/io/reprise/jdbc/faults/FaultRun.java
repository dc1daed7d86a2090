// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.faults;

import io.reprise.jdbc.JdbcJobStore;
import io.reprise.testkit.faults.Fleet;
import io.reprise.testkit.faults.Tempo;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** A fleet on a database with JDBC. */
final class FaultRun extends Fleet {

    private final String url;

    FaultRun(Path directory, String url) {
        super(
                directory,
                url,
                FaultWorker.class,
                JdbcJobStore.builder().timeout(Tempo.BRISK.call()).open(url),
                Tempo.BRISK);
        this.url = url;
        query("create table effect (job bigint not null)");
    }

    static String jdbcUrl(String url) {
        String jdbc = url.startsWith("jdbc:") ? url : "jdbc:" + url;
        if (jdbc.startsWith("jdbc:sqlite:")) {
            return jdbc + "?transaction_mode=IMMEDIATE&busy_timeout=5000";
        }
        // Seconds with the one driver, milliseconds with the other.
        String five = jdbc.startsWith("jdbc:mariadb:") ? "5000" : "5";
        return jdbc + "&socketTimeout=" + five + "&connectTimeout=" + five;
    }

    @Override
    protected List<Long> effects() {
        return query("select job from effect order by job");
    }

    /** Runs a statement and returns the numbers in its first column, if it has an answer. */
    private List<Long> query(String sql) {
        try (Connection connection = DriverManager.getConnection(jdbcUrl(url));
                Statement statement = connection.createStatement()) {
            List<Long> numbers = new ArrayList<>();
            if (statement.execute(sql)) {
                try (ResultSet rows = statement.getResultSet()) {
                    while (rows.next()) {
                        numbers.add(rows.getLong(1));
                    }
                }
            }
            return numbers;
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }
}
