// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.job.Transaction;
import io.reprise.testkit.contract.TransactionContract.OpenTransaction;
import java.sql.Connection;
import java.sql.SQLException;

/** A transaction as an application opens it. */
final class CallerTransaction implements OpenTransaction {

    private final Connection connection;

    CallerTransaction(Connection connection) {
        this.connection = connection;
        run(() -> connection.setAutoCommit(false));
    }

    private interface Step {
        void run() throws SQLException;
    }

    private static void run(Step step) {
        try {
            step.run();
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public Transaction handle() {
        return JdbcTransaction.of(connection);
    }

    @Override
    public void commit() {
        run(connection::commit);
    }

    @Override
    public void rollback() {
        run(connection::rollback);
    }

    @Override
    public void close() {
        run(connection::rollback);
        run(connection::close);
    }
}
