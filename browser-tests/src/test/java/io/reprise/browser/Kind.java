// SPDX-License-Identifier: Apache-2.0
package io.reprise.browser;

import io.reprise.jdbc.JdbcJobStore;
import io.reprise.store.JobStore;
import io.reprise.testkit.servers.PostgresServer;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;

/** The databases on which the dashboard is used. */
enum Kind {
    SQLITE {
        @Override
        JobStore open(Path folder) {
            return JdbcJobStore.sqlite(folder.resolve("jobs.db"));
        }

        @Override
        Duration processorTime() {
            return Duration.ZERO;
        }
    },
    POSTGRESQL {
        @Override
        JobStore open(Path folder) {
            return JdbcJobStore.open(PostgresServer.shared().freshDatabaseUrl());
        }

        @Override
        Duration processorTime() {
            return ServerProcess.FIRST
                    .children()
                    .map(process -> process.info().totalCpuDuration().orElse(Duration.ZERO))
                    .reduce(Duration.ZERO, Duration::plus);
        }
    };

    /** The process of PostgreSQL that starts one for each connection. */
    private static final class ServerProcess {
        private static final ProcessHandle FIRST = find();

        private static ProcessHandle find() {
            try (Connection connection = PostgresServer.shared().freshDatabase().getConnection();
                    Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery("select pg_backend_pid()")) {
                row.next();
                return ProcessHandle.of(row.getLong(1))
                        .flatMap(ProcessHandle::parent)
                        .orElseThrow();
            } catch (SQLException e) {
                throw new AssertionError(e);
            }
        }
    }

    /** Opens an empty store. */
    abstract JobStore open(Path folder);

    /** Returns the processor time that the database has used so far in processes of its own, as far as they live. */
    abstract Duration processorTime();
}
