// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.reprise.store.JobStore;
import io.reprise.testkit.batches.BatchContract;
import io.reprise.testkit.batches.JoinContract;
import io.reprise.testkit.batches.KeyFollowerContract;
import io.reprise.testkit.contract.BulkContract;
import io.reprise.testkit.contract.ControlContract;
import io.reprise.testkit.contract.DeadLetterContract;
import io.reprise.testkit.contract.DocumentContract;
import io.reprise.testkit.contract.InsertContract;
import io.reprise.testkit.contract.InsightContract;
import io.reprise.testkit.contract.LeaseContract;
import io.reprise.testkit.contract.QueueContract;
import io.reprise.testkit.contract.RoleContract;
import io.reprise.testkit.contract.ScheduleContract;
import io.reprise.testkit.contract.UpkeepContract;
import io.reprise.testkit.contract.WorkerContract;
import io.reprise.testkit.servers.PostgresServer;
import io.reprise.testkit.steps.LogContract;
import io.reprise.testkit.steps.StepContract;
import io.reprise.testkit.turns.GroupContract;
import io.reprise.testkit.turns.LimitContract;
import io.reprise.testkit.turns.OrderContract;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The contract for a role that may use the tables and nothing else, as docs/stores.md grants it. */
class PostgresRightsTest
        implements InsertContract,
                LeaseContract,
                UpkeepContract,
                BulkContract,
                QueueContract,
                ScheduleContract,
                DeadLetterContract,
                RoleContract,
                ControlContract,
                InsightContract,
                WorkerContract,
                DocumentContract,
                GroupContract,
                StepContract,
                BatchContract,
                JoinContract,
                KeyFollowerContract,
                LogContract,
                LimitContract,
                OrderContract {

    private static final List<String> GRANTS = List.of(
            "grant usage on schema public to {role}",
            "grant select, insert, update, delete on all tables in schema public to {role}",
            "grant usage, select on all sequences in schema public to {role}");

    private static Postgres owner;
    private static String role;
    private static JdbcJobStore store;

    @BeforeAll
    static void open() throws SQLException {
        owner = new Postgres();
        role = "app_" + Long.toString(System.nanoTime(), 36);
        owner.execute("revoke create on schema public from public");
        owner.execute("create role " + role + " login password 'pw'");
        GRANTS.forEach(grant -> owner.execute(grant.replace("{role}", role)));
        store = JdbcJobStore.open(url(owner));
        store.prepare();
    }

    private static String url(Postgres database) throws SQLException {
        try (Connection connection = database.connection()) {
            return "postgresql://" + role + ":pw@localhost:"
                    + PostgresServer.shared().port() + "/" + connection.getCatalog();
        }
    }

    @AfterAll
    static void close() {
        store.close();
        owner.close();
    }

    @BeforeEach
    void empty() {
        owner.empty();
    }

    @Override
    public JobStore store() {
        return store;
    }

    @Test
    void who_may_not_create_tables_is_told_who_must() throws SQLException {
        try (Connection connection = owner.connection();
                Statement statement = connection.createStatement()) {
            String name = "empty_" + role;
            statement.execute("create database " + name);
            String url = url(owner).replaceAll("/[^/]*$", "/" + name);
            try (JdbcJobStore without = JdbcJobStore.open(url)) {
                assertThatThrownBy(without::prepare)
                        .hasMessageContaining("may not create tables")
                        .hasMessageContaining("let their owner apply JdbcSchema.print");
            }
        }
    }

    @Test
    void who_lacks_a_right_on_the_tables_is_told_which() throws SQLException {
        try (Postgres other = new Postgres();
                JdbcJobStore without = JdbcJobStore.open(url(other))) {
            assertThatThrownBy(without::prepare)
                    .hasMessageContaining("grant select, insert, update and delete on Reprise's tables");
        }
    }
}
