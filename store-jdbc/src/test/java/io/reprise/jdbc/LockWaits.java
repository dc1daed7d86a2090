// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;

/**
 * Sees whether somebody waits for a lock of InnoDB. Not by innodb_trx: that is a copy, which the server does not renew while it
 * is asked for more often than every 100 ms.
 */
final class LockWaits implements AutoCloseable {

    static final Duration LIMIT = Duration.ofMinutes(3);

    private final Connection connection;

    LockWaits(MariaDb database) {
        this.connection = database.connection();
    }

    /** Something that comes true while a task runs. */
    interface Condition {
        boolean holds() throws SQLException;
    }

    /** Until the task waits for a lock. */
    void await(Future<?> task) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            await(task, () -> {
                try (ResultSet rows =
                        statement.executeQuery("show global status like 'Innodb_row_lock_current_waits'")) {
                    return rows.next() && rows.getInt(2) > 0;
                }
            });
        }
    }

    static void await(Future<?> task, Condition condition) throws SQLException {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (!condition.holds()) {
            assertThat(task.isDone()).as("ended before it came to that").isFalse();
            assertThat(System.nanoTime() - end).as("time over").isNegative();
            LockSupport.parkNanos(1_000_000);
        }
    }

    @Override
    public void close() throws SQLException {
        connection.close();
    }
}
