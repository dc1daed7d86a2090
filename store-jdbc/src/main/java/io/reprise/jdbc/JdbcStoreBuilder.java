// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.nio.file.Path;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.SQLException;
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

    /** How long MySQL lets a transaction wait for another's lock before it is run again. */
    private static final Duration LOCK_WAIT = Duration.ofSeconds(5);

    /** How often a resting connection is used, so that MySQL does not take it for a dead one. */
    private static final Duration KEEP_ALIVE = Duration.ofSeconds(30);

    private int pool = POOL;
    private int history = HISTORY;
    private Duration timeout = TIMEOUT;
    private boolean pollOnly;

    JdbcStoreBuilder() {}

    /**
     * Connections to the server, 2 to 100, {@value #POOL} unless told otherwise; one more listens for work on PostgreSQL,
     * or takes numbers on MySQL, and two more are for lists and counts, so that these never keep the engine waiting.
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
        HikariConfig config = pool();
        config.setDataSource(source);
        config.setExceptionOverride(new PostgresEviction());
        if (!pollOnly) {
            config.setConnectionInitSql(PostgresDatabase.settings(timeout));
        }
        PostgresDatabase database =
                new PostgresDatabase(new HikariDataSource(config), looks(config), (int) timeout.toSeconds(), pollOnly);
        Wakeups wakeups = pollOnly ? new Wakeups.Local() : new PostgresWakeups(source, database);
        return new JdbcJobStore(database, wakeups, Parts.postgres(database, history));
    }

    /** By the driver that knows the URL; it has to be on the class path. */
    public JdbcJobStore mysql(String jdbcUrl, @Nullable String user, @Nullable String password) {
        HikariConfig config = mysqlPool();
        config.setJdbcUrl(jdbcUrl);
        config.setUsername(user);
        config.setPassword(password);
        return mysql(config);
    }

    public JdbcJobStore mysql(DataSource source) {
        HikariConfig config = mysqlPool();
        config.setDataSource(source);
        return mysql(config);
    }

    private HikariConfig mysqlPool() {
        HikariConfig config = pool();
        config.setKeepaliveTime(KEEP_ALIVE.toMillis());
        // Nothing is cut off in silence, whatever the server's default; nobody waits for a lock for long; and who is
        // frozen or cut off in a transaction does not keep its locks, as each kind of server can tell it.
        config.setConnectionInitSql("set session sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION',"
                + " innodb_lock_wait_timeout = " + Math.max(1, Math.min(LOCK_WAIT.toSeconds(), timeout.toSeconds() / 2))
                + " /*M!100600 , idle_transaction_timeout = " + timeout.toSeconds() + " */"
                + " /*!80000 , wait_timeout = " + Math.max(2 * KEEP_ALIVE.toSeconds(), timeout.toSeconds()) + " */");
        return config;
    }

    private JdbcJobStore mysql(HikariConfig config) {
        MySqlDatabase database = MySqlDatabase.of(
                new HikariDataSource(config),
                looks(config),
                new HikariDataSource(like(config, "reprise-beside", 1)),
                (int) timeout.toSeconds());
        return new JdbcJobStore(database, new Wakeups.Local(), Parts.mysql(database, history));
    }

    /** Connections for those who look; opened when first used. */
    private static HikariDataSource looks(HikariConfig config) {
        HikariConfig looks = like(config, "reprise-looks", Database.LOOKS);
        looks.setConnectionTimeout(Math.min(config.getConnectionTimeout(), Database.LOOK_TIME.toMillis()));
        return new HikariDataSource(looks);
    }

    private static HikariConfig like(HikariConfig config, String name, int connections) {
        HikariConfig copy = new HikariConfig();
        config.copyStateTo(copy);
        copy.setPoolName(name);
        copy.setMaximumPoolSize(connections);
        copy.setMinimumIdle(0);
        return copy;
    }

    private HikariConfig pool() {
        HikariConfig config = new HikariConfig();
        config.setPoolName("reprise");
        config.setMaximumPoolSize(pool);
        config.setMinimumIdle(Math.min(pool, WARM));
        config.setConnectionTimeout(timeout.toMillis());
        config.setValidationTimeout(Math.min(5_000, timeout.toMillis()));
        config.setInitializationFailTimeout(-1);
        config.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
        return config;
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
        boolean mysql = url.startsWith("mysql:") || url.startsWith("mariadb:");
        if (!mysql && !url.startsWith("postgresql:")) {
            throw new IllegalArgumentException("Cannot open '" + withoutPassword(url)
                    + "': expected sqlite:<file>, or <kind>://<user>:<password>@<host>/<database> where the kind is"
                    + " postgresql, mysql or mariadb");
        }
        if (!mysql) {
            return postgresql(PostgresUrl.of(jdbcUrl).source(timeout, pollOnly));
        }
        Login login = Login.in(jdbcUrl);
        return mysql(driven(login.url()), login.user(), login.password());
    }

    /** MariaDB's driver speaks with MySQL too: it stands in where MySQL's own is not on the class path. */
    private static String driven(String jdbcUrl) {
        boolean known = DriverManager.drivers().anyMatch(driver -> accepts(driver, jdbcUrl));
        return known ? jdbcUrl : jdbcUrl.replaceFirst("^jdbc:mysql:", "jdbc:mariadb:");
    }

    private static boolean accepts(Driver driver, String jdbcUrl) {
        try {
            return driver.acceptsURL(jdbcUrl);
        } catch (SQLException e) {
            return false;
        }
    }

    private static String withoutPassword(String url) {
        return url.replaceAll("//[^@/]*@", "//…@");
    }
}
