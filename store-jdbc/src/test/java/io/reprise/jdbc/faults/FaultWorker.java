// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.faults;

import ch.qos.logback.classic.Level;
import io.reprise.JobContext;
import io.reprise.jdbc.JdbcJobStore;
import io.reprise.jdbc.JdbcTransaction;
import io.reprise.store.JobStore;
import io.reprise.testkit.faults.FleetWorker;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A worker in a process of its own, on a database with JDBC. */
final class FaultWorker extends FleetWorker {

    private static final int HANDLER_SECONDS = 5;

    private FaultWorker(String[] args) {
        super(args);
    }

    public static void main(String[] args) throws InterruptedException {
        ((ch.qos.logback.classic.Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME)).setLevel(Level.WARN);
        new FaultWorker(args).work();
    }

    @Override
    protected JobStore open(String url, Duration timeout) {
        return JdbcJobStore.builder().timeout(timeout).poolSize(4).open(url);
    }

    @Override
    protected void complete(String url, JobContext job) throws SQLException {
        try (Connection connection = DriverManager.getConnection(FaultRun.jdbcUrl(url, HANDLER_SECONDS))) {
            connection.setAutoCommit(false);
            try (PreparedStatement effect = connection.prepareStatement("insert into effect (job) values (?)")) {
                effect.setLong(1, job.id().value());
                effect.executeUpdate();
            }
            job.complete(JdbcTransaction.of(connection));
            connection.commit();
        }
    }
}
