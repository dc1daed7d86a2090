// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.testkit.servers.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.List;

/** A role that may use the tables of a database and nothing else, as docs/stores.md grants it. */
final class PostgresRole {

    private static final String PASSWORD = "pw";

    private static final List<String> GRANTS = List.of(
            "grant usage on schema public to {role}",
            "grant select, insert, update, delete on all tables in schema public to {role}",
            "grant usage, select on all sequences in schema public to {role}");

    private final String name = "app_" + Long.toString(System.nanoTime(), 36);
    private final String address;

    PostgresRole(Postgres database) {
        database.execute("revoke create on schema public from public");
        database.execute("create role " + name + " login password '" + PASSWORD + "'");
        GRANTS.forEach(grant -> database.execute(grant.replace("{role}", name)));
        this.address = address(database);
    }

    private static String address(Postgres database) {
        try (Connection connection = database.connection()) {
            return "localhost:" + PostgresServer.shared().port() + "/" + connection.getCatalog();
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    String name() {
        return name;
    }

    /** The URL of its database, with its name and password. */
    String url() {
        return "postgresql://" + name + ":" + PASSWORD + "@" + address;
    }

    /** The URL of another database, on whose tables it has no rights. */
    String url(Postgres other) {
        return url().replace(address, address(other));
    }

    Connection connection() {
        try {
            return DriverManager.getConnection("jdbc:postgresql://" + address, name, PASSWORD);
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }
}
