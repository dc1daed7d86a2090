// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.postgres;

import io.reprise.jdbc.sql.Login;
import java.time.Duration;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import org.postgresql.Driver;
import org.postgresql.PGProperty;
import org.postgresql.ds.PGSimpleDataSource;

/** The address of a PostgreSQL server, for the driver. It may name several hosts, of which one is the primary. */
public final class PostgresUrl {

    private static final int CONNECT_SECONDS = 10;

    private final String jdbc;
    private final @Nullable String user;
    private final @Nullable String password;

    /** A login, if given, wins over one in the URL's parameters. */
    public PostgresUrl(String jdbc, @Nullable String user, @Nullable String password) {
        this.jdbc = jdbc;
        this.user = user;
        this.password = password;
    }

    /** Reads {@code jdbc:postgresql://user:password@host,host/database}. The login may be missing. */
    public static PostgresUrl of(String url) {
        Login login = Login.in(url);
        return new PostgresUrl(login.url(), login.user(), login.password());
    }

    /**
     * Returns a source of connections with the store's settings. Parameters in the URL win.
     *
     * @throws IllegalArgumentException if the driver cannot read the URL
     */
    public PGSimpleDataSource source(Duration timeout, boolean pollOnly) {
        Properties ours = new Properties();
        PGProperty.APPLICATION_NAME.set(ours, "reprise");
        PGProperty.TCP_KEEP_ALIVE.set(ours, true);
        PGProperty.CONNECT_TIMEOUT.set(ours, connectSeconds(timeout));
        // Longer than the statement timeout, so that it ends only calls that the server does not answer.
        PGProperty.SOCKET_TIMEOUT.set(ours, (int) timeout.toSeconds() + 10);
        if (pollOnly) {
            // A pooler in transaction mode may send the next statement to another server connection.
            PGProperty.PREPARE_THRESHOLD.set(ours, 0);
        } else {
            // There are few statements, and they run again and again: each is prepared at its first use.
            PGProperty.PREPARE_THRESHOLD.set(ours, 1);
            // The statements are written so that one plan fits all parameters. Planning again would
            // cost as much as running.
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

    /** Splits the timeout, so that every host can be tried while a caller waits for a connection. */
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
