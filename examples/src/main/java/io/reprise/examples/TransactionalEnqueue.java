// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples;

import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.jdbc.JdbcJobStore;
import io.reprise.jdbc.JdbcTransaction;
import io.reprise.job.JobId;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;

/** An order and its job are stored in one transaction: both or neither. */
public final class TransactionalEnqueue {

    private static final JobType<Integer> CONFIRM = JobType.of("confirm-order", Integer.class);

    private TransactionalEnqueue() {}

    public static void main(String[] args) throws SQLException {
        Path file = Example.temporaryFile();
        try (Reprise reprise = Reprise.builder()
                        .store(JdbcJobStore.sqlite(file))
                        .handle(CONFIRM, (order, job) -> Example.say("Confirmed order %d", order))
                        .start();
                Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file)) {
            execute(connection, "create table orders (id integer primary key)");
            connection.setAutoCommit(false);

            JobId lost = order(reprise, connection, 1);
            connection.rollback();
            Example.check(reprise.find(lost).isEmpty(), "rolled back: neither the order nor the job is there");

            JobId id = order(reprise, connection, 2);
            Example.check(reprise.find(id).isEmpty(), "before the commit nobody sees the job");
            connection.commit();
            Example.check(reprise.await(id, Example.SOON).succeeded(), "committed: the job runs");
        }
    }

    // snippet:enqueue
    private static JobId order(Reprise reprise, Connection connection, int number) throws SQLException {
        execute(connection, "insert into orders values (" + number + ")");
        return reprise.enqueue(JdbcTransaction.of(connection), CONFIRM.job(number));
    }
    // end

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
