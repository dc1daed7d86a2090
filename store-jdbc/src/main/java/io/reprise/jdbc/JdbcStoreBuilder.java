// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.nio.file.Path;
import java.time.Duration;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Settings of a {@link JdbcJobStore}. Not thread-safe. */
public final class JdbcStoreBuilder {

    private static final int POOL = 8;

    /** Connections kept open while there is little to do: what a worker that becomes busy uses first. */
    private static final int WARM = 3;

    private static final int SQLITE_READERS = 3;
    private static final int HISTORY = 25;
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private int pool = POOL;
    private int history = HISTORY;
    private Duration timeout = TIMEOUT;
    private boolean pollOnly;

    JdbcStoreBuilder() {}

    /**
     * Connections to PostgreSQL, 2 to 100, {@value #POOL} unless told otherwise; one more listens for work.
     *
     * @throws IllegalArgumentException if out of bounds
     */
    public JdbcStoreBuilder poolSize(int connections) {
        this.pool = within("poolSize", connections, 2, 100);
        return this;
    }

    /**
     * Attempts kept per job, 1 to 1000, {@value #HISTORY} unless told otherwise.
     *
     * @throws IllegalArgumentException if out of bounds
     */
    public JdbcStoreBuilder keepAttempts(int attempts) {
        this.history = within("keepAttempts", attempts, 1, 1_000);
        return this;
    }

    /**
     * How long a statement, or the wait for a connection or for SQLite's write lock, may take: 1 second to 1 hour, 30
     * seconds unless told otherwise.
     *
     * @throws IllegalArgumentException if out of bounds
     */
    public JdbcStoreBuilder timeout(Duration timeout) {
        within("timeout in seconds", (int) Math.min(Integer.MAX_VALUE, timeout.toSeconds()), 1, 3_600);
        this.timeout = timeout;
        return this;
    }

    /** Neither LISTEN nor NOTIFY, as a pooler in transaction mode such as PgBouncer requires; workers poll. */
    public JdbcStoreBuilder pollOnly() {
        this.pollOnly = true;
        return this;
    }

    private static int within(String what, int value, int min, int max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(what + " must be " + min + " to " + max + ", not " + value);
        }
        return value;
    }

    public JdbcJobStore sqlite(Path file) {
        return sqlite(new SqliteDatabase(file, timeout, SQLITE_READERS));
    }

    JdbcJobStore sqlite(SqliteDatabase database) {
        return new JdbcJobStore(database, new Wakeups.Local(), Parts.sqlite(database, history));
    }

    public JdbcJobStore postgresql(String jdbcUrl, @Nullable String user, @Nullable String password) {
        return postgresql(new PostgresUrl(jdbcUrl, user, password).source(timeout, pollOnly));
    }

    public JdbcJobStore postgresql(DataSource source) {
        HikariConfig config = new HikariConfig();
        config.setDataSource(source);
        config.setPoolName("reprise");
        config.setMaximumPoolSize(pool);
        config.setMinimumIdle(Math.min(pool, WARM));
        config.setConnectionTimeout(timeout.toMillis());
        config.setValidationTimeout(Math.min(5_000, timeout.toMillis()));
        config.setInitializationFailTimeout(-1);
        config.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
        config.setExceptionOverride(new PostgresEviction());
        if (!pollOnly) {
            config.setConnectionInitSql(PostgresDatabase.limits(timeout));
        }
        PostgresDatabase database =
                new PostgresDatabase(new HikariDataSource(config), (int) timeout.toSeconds(), pollOnly);
        Wakeups wakeups = pollOnly ? new Wakeups.Local() : new PostgresWakeups(source, database);
        return new JdbcJobStore(database, wakeups, Parts.postgres(database, history));
    }

    public JdbcJobStore open(String url) {
        if (url.startsWith("jdbc:")) {
            return open(url.substring("jdbc:".length()), url);
        }
        return open(url, "jdbc:" + url);
    }

    private JdbcJobStore open(String url, String jdbcUrl) {
        if (url.startsWith("sqlite:")) {
            return sqlite(Path.of(url.substring("sqlite:".length())));
        }
        if (!url.startsWith("postgresql:")) {
            throw new IllegalArgumentException("Cannot open '" + withoutPassword(url)
                    + "': expected sqlite:<file> or postgresql://<user>:<password>@<host>/<database>");
        }
        return postgresql(PostgresUrl.of(jdbcUrl).source(timeout, pollOnly));
    }

    private static String withoutPassword(String url) {
        return url.replaceAll("//[^@/]*@", "//…@");
    }
}
