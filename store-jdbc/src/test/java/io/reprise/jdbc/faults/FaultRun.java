// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.faults;

import io.reprise.jdbc.JdbcJobStore;
import io.reprise.testkit.faults.FaultFleet;
import io.reprise.testkit.faults.Insist;
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
final class FaultRun extends FaultFleet {

    private static final int PATIENCE_SECONDS = 300;

    private final String url;

    FaultRun(Path directory, String url) {
        this(directory, url, Tempo.BRISK);
    }

    FaultRun(Path directory, String url, Tempo tempo) {
        super(directory, url, FaultWorker.class, prepared(url, tempo), tempo);
        this.url = url;
        query("create table effect (job bigint not null)");
    }

    /** Tables are made without a limit that a slow disk could exceed. */
    private static JdbcJobStore prepared(String url, Tempo tempo) {
        try (JdbcJobStore patient = JdbcJobStore.open(url)) {
            Insist.on(() -> {
                patient.prepare();
                return true;
            });
        }
        return JdbcJobStore.builder().timeout(tempo.call()).open(url);
    }

    /** For a connection that waits so long for an answer, or for SQLite's lock. */
    static String jdbcUrl(String url, int seconds) {
        String jdbc = url.startsWith("jdbc:") ? url : "jdbc:" + url;
        if (jdbc.startsWith("jdbc:sqlite:")) {
            return jdbc + "?transaction_mode=IMMEDIATE&busy_timeout=" + seconds * 1_000;
        }
        // Seconds with the one driver, milliseconds with the other.
        int limit = jdbc.startsWith("jdbc:mariadb:") ? seconds * 1_000 : seconds;
        return jdbc + "&socketTimeout=" + limit + "&connectTimeout=" + limit;
    }

    @Override
    protected List<Long> effects() {
        return query("select job from effect order by job");
    }

    /** Runs a statement and returns the numbers in its first column, if it has an answer. */
    private List<Long> query(String sql) {
        try (Connection connection = DriverManager.getConnection(jdbcUrl(url, PATIENCE_SECONDS));
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
