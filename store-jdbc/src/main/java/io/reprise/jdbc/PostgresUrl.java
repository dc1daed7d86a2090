// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import java.time.Duration;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import org.postgresql.Driver;
import org.postgresql.PGProperty;
import org.postgresql.ds.PGSimpleDataSource;

/** Where a PostgreSQL is, for the driver. May name several hosts, of which one is the primary. */
final class PostgresUrl {

    private static final int CONNECT_SECONDS = 10;

    private final String jdbc;
    private final @Nullable String user;
    private final @Nullable String password;

    /** A login, if given, wins over one in the URL's parameters. */
    PostgresUrl(String jdbc, @Nullable String user, @Nullable String password) {
        this.jdbc = jdbc;
        this.user = user;
        this.password = password;
    }

    /** From {@code jdbc:postgresql://user:password@host,host/database}; the login may be missing. */
    static PostgresUrl of(String url) {
        Login login = Login.in(url);
        return new PostgresUrl(login.url(), login.user(), login.password());
    }

    /**
     * Connections with the settings that suit the store, except where the URL has others.
     *
     * @throws IllegalArgumentException if the driver does not understand the URL
     */
    PGSimpleDataSource source(Duration timeout, boolean pollOnly) {
        Properties ours = new Properties();
        PGProperty.APPLICATION_NAME.set(ours, "reprise");
        PGProperty.TCP_KEEP_ALIVE.set(ours, true);
        PGProperty.CONNECT_TIMEOUT.set(ours, connectSeconds(timeout));
        // Beyond the statement timeout, so that it bites only when the server is gone.
        PGProperty.SOCKET_TIMEOUT.set(ours, (int) timeout.toSeconds() + 10);
        if (pollOnly) {
            // A pooler in transaction mode may hand the next statement to another server connection.
            PGProperty.PREPARE_THRESHOLD.set(ours, 0);
        } else {
            // Few statements, run again and again: each is worth preparing at once.
            PGProperty.PREPARE_THRESHOLD.set(ours, 1);
            // Written so that one plan fits all parameters: planning anew would cost as much as running.
            PGProperty.OPTIONS.set(ours, "-c plan_cache_mode=force_generic_plan");
        }
        Properties all = Driver.parseURL(jdbc, ours);
        if (all == null) {
            throw new IllegalArgumentException("Not a URL of a PostgreSQL database, or not complete: expected"
                    + " postgresql://<user>:<password>@<host>/<database>");
        }
        PGSimpleDataSource source = new PGSimpleDataSource();
        for (PGProperty property : PGProperty.values()) {
            String value = all.getProperty(property.getName());
            if (value != null) {
                source.setProperty(property, value);
            }
        }
        if (user != null) {
            source.setUser(user);
        }
        if (password != null) {
            source.setPassword(password);
        }
        return source;
    }

    /** Every host can be tried while a caller waits for a connection. */
    private int connectSeconds(Duration timeout) {
        int slash = jdbc.indexOf('/', jdbc.indexOf("//") + 2);
        long hosts = 1
                + jdbc.substring(0, Math.max(slash, 0))
                        .chars()
                        .filter(c -> c == ',')
                        .count();
        return (int) Math.max(1, Math.min(CONNECT_SECONDS, timeout.toSeconds() / hosts));
    }
}
