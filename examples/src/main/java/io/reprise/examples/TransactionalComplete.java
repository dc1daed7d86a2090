// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples;

import io.reprise.JobContext;
import io.reprise.JobType;
import io.reprise.Outcome;
import io.reprise.Reprise;
import io.reprise.jdbc.JdbcJobStore;
import io.reprise.jdbc.JdbcTransaction;
import io.reprise.retry.RetryPolicy;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;

/** The change that a job makes to the database and its completion are one transaction: done exactly once. */
public final class TransactionalComplete {

    private static final JobType<Integer> DEPOSIT =
            JobType.of("deposit", Integer.class).retry(RetryPolicy.fixed(Duration.ofMillis(50)));

    private TransactionalComplete() {}

    public static void main(String[] args) throws SQLException {
        Path file = Example.temporaryFile();
        String url = "jdbc:sqlite:" + file;
        try (Reprise reprise = Reprise.builder()
                        .store(JdbcJobStore.sqlite(file))
                        .handle(DEPOSIT, (amount, job) -> deposit(url, amount, job))
                        .start();
                Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute("create table account as select 0 as balance");
            Outcome outcome = reprise.await(reprise.enqueue(DEPOSIT.job(100)), Example.SOON);
            try (ResultSet balance = statement.executeQuery("select balance from account")) {
                Example.check(outcome.job().attempts() == 2, "the first attempt was rolled back after its update");
                Example.check(balance.getInt(1) == 100, "the money came in once");
            }
        }
    }

    // snippet:complete
    private static void deposit(String url, int amount, JobContext job) throws Exception {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.executeUpdate("update account set balance = balance + " + amount);
            job.complete(JdbcTransaction.of(connection));
            if (job.attempt() == 1) {
                throw new IOException("something went wrong just before the commit");
            }
            connection.commit();
        }
    }
    // end
}
