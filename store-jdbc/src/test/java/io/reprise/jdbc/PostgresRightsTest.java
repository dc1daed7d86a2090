// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** What a role is told that lacks a right; {@link PostgresJobStoreTest} shows which rights are enough. */
class PostgresRightsTest {

    @AutoClose
    private final Postgres owner = new Postgres();

    private final PostgresRole role = new PostgresRole(owner);

    @Test
    void who_may_not_create_tables_is_told_who_must() {
        String name = "empty_" + role.name();
        owner.execute("create database " + name);
        String url = role.url().replaceAll("/[^/]*$", "/" + name);
        try (JdbcJobStore without = JdbcJobStore.open(url)) {
            assertThatThrownBy(without::prepare)
                    .hasMessageContaining("may not create tables")
                    .hasMessageContaining("let their owner apply JdbcSchema.print");
        }
    }

    @Test
    void who_lacks_a_right_on_the_tables_is_told_which() {
        try (Postgres other = new Postgres();
                JdbcJobStore without = JdbcJobStore.open(role.url(other))) {
            assertThatThrownBy(without::prepare)
                    .hasMessageContaining("grant select, insert, update and delete on Reprise's tables");
        }
    }
}
