// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.reprise.jdbc.mysql.MySqlDatabase;
import io.reprise.jdbc.mysql.MySqlWakeups;
import io.reprise.jdbc.postgres.PostgresDatabase;
import io.reprise.jdbc.postgres.PostgresEviction;
import io.reprise.jdbc.postgres.PostgresUrl;
import io.reprise.jdbc.postgres.PostgresWakeups;
import io.reprise.jdbc.sql.Database;
import io.reprise.jdbc.sql.Login;
import io.reprise.jdbc.sql.Pool;
import io.reprise.jdbc.sql.StoreWakeups;
import io.reprise.jdbc.sqlite.SqliteDatabase;
import io.reprise.store.StoreException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Settings of a {@link JdbcJobStore}. A method that opens a store can be called more than once; each call opens a new
 * store with the settings of that moment. If a setting is set twice, the last call wins. Not thread-safe.
 *
 * @since 0.1.0
 */
public final class JdbcStoreBuilder {

    private static final Logger log = LoggerFactory.getLogger("io.reprise");

    /** Words in the class names of connection pools. */
    private static final List<String> POOLS = List.of("hikari", "pool", "dbcp", "c3p0", "agroal");

    private static final int POOL = 8;

    /** Connections that stay open while there is little to do. A worker that becomes busy uses them first. */
    private static final int MIN_IDLE_CONNECTIONS = 3;

    private static final int SQLITE_READERS = 3;
    private static final int HISTORY = 25;
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    /** How long a transaction waits for a lock in MySQL before it is run again. */
    private static final Duration LOCK_WAIT = Duration.ofSeconds(5);

    /** How often an idle connection is used, so that MySQL does not close it as a dead one. */
    private static final Duration KEEP_ALIVE = Duration.ofSeconds(30);

    private int pool = POOL;
    private int history = HISTORY;
    private Duration timeout = TIMEOUT;
    private boolean pollOnly;

    JdbcStoreBuilder() {}

    /**
     * Sets the number of connections to the server. SQLite ignores it. One more connection listens for work
     * (PostgreSQL) or takes numbers (MySQL). Two more serve lists and counts, so that these never keep the engine
     * waiting. Default: {@value #POOL}.
     *
     * @param connections 2 to 100
     * @return this builder
     * @throws IllegalArgumentException if {@code connections} is out of its bounds
     */
    public JdbcStoreBuilder poolSize(int connections) {
        this.pool = within("poolSize", connections, 2, 100);
        return this;
    }

    /**
     * Sets the number of attempts that are kept per job. Older ones are deleted. Default: {@value #HISTORY}.
     *
     * @param attempts 1 to 1,000
     * @return this builder
     * @throws IllegalArgumentException if {@code attempts} is out of its bounds
     */
    public JdbcStoreBuilder keepAttempts(int attempts) {
        this.history = within("keepAttempts", attempts, 1, 1_000);
        return this;
    }

    /**
     * Sets the longest time that a statement, the wait for a connection, or the wait for SQLite's write lock may take.
     * Lists and counts get at most 5 seconds of it. Default: 30 seconds.
     *
     * @param timeout 1 second to 1 hour
     * @return this builder
     * @throws NullPointerException if {@code timeout} is null
     * @throws IllegalArgumentException if {@code timeout} is out of its bounds
     */
    public JdbcStoreBuilder timeout(Duration timeout) {
        within("timeout in seconds", (int) Math.max(-1, Math.min(Integer.MAX_VALUE, timeout.toSeconds())), 1, 3_600);
        this.timeout = timeout;
        return this;
    }

    /**
     * Uses neither LISTEN nor NOTIFY of PostgreSQL; workers poll. A pooler in transaction mode, such as PgBouncer,
     * requires it. Prepared statements on the server are off too. Other databases ignore it. Default: off. A second
     * call changes nothing, and no call undoes it.
     *
     * @return this builder
     */
    public JdbcStoreBuilder pollOnly() {
        this.pollOnly = true;
        return this;
    }

    static int within(String what, int value, int min, int max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(what + " must be " + min + " to " + max + ", not " + value);
        }
        return value;
    }

    /**
     * Returns a store in an SQLite file. The store opens the file when it is first used, and creates it if it does not
     * exist. The directory must exist. Several processes of one machine may share the file. Do not use a network file
     * system.
     */
    public JdbcJobStore sqlite(Path file) {
        return sqlite(new SqliteDatabase(file, timeout, SQLITE_READERS));
    }

    JdbcJobStore sqlite(SqliteDatabase database) {
        return new JdbcJobStore(database, new StoreWakeups.Local(), Parts.sqlite(database, history));
    }

    /**
     * Opens a store in PostgreSQL 14 or newer. The driver {@code org.postgresql:postgresql} must be on the class path.
     * The store connects when it is first used.
     *
     * @param jdbcUrl URL that begins with {@code jdbc:postgresql:}; it may name several hosts. Its parameters win over
     *     settings of the store
     * @param user name of the database user; null if the URL has it or none is needed
     * @param password password of the user; null if the URL has it or none is needed
     * @throws IllegalArgumentException if the driver does not understand the URL
     * @throws IllegalStateException if the driver is not on the class path
     */
    public JdbcJobStore postgresql(String jdbcUrl, @Nullable String user, @Nullable String password) {
        return postgresql(driver(() -> new PostgresUrl(jdbcUrl, user, password).source(timeout, pollOnly)));
    }

    private static DataSource driver(Supplier<DataSource> source) {
        try {
            return source.get();
        } catch (NoClassDefFoundError e) {
            throw new IllegalStateException("No JDBC driver for PostgreSQL found: add org.postgresql:postgresql", e);
        }
    }

    /**
     * Opens a store in PostgreSQL 14 or newer on connections of a source. The store pools them itself and keeps one to
     * listen for work, so pass a source of plain connections, not a pool. The store does not close the source.
     */
    public JdbcJobStore postgresql(DataSource source) {
        HikariConfig config = pool();
        config.setDataSource(plain(source));
        config.setExceptionOverride(new PostgresEviction());
        if (!pollOnly) {
            config.setConnectionInitSql(PostgresDatabase.settings(timeout));
        }
        PostgresDatabase database = new PostgresDatabase(
                Pool.own(new HikariDataSource(config)), looks(config), (int) timeout.toSeconds(), pollOnly);
        StoreWakeups wakeups = pollOnly ? new StoreWakeups.Local() : new PostgresWakeups(source, database);
        return new JdbcJobStore(database, wakeups, Parts.postgres(database, history));
    }

    /**
     * Opens a store in MySQL 8.0.19, MariaDB 10.6 or newer. It uses the driver that knows the URL: that of MariaDB for
     * {@code jdbc:mariadb:}, that of MySQL for {@code jdbc:mysql:}. The store connects when it is first used.
     *
     * @param jdbcUrl URL that begins with {@code jdbc:mariadb:} or {@code jdbc:mysql:}; its driver must be on the class
     *     path
     * @param user name of the database user; null if the URL has it or none is needed
     * @param password password of the user; null if the URL has it or none is needed
     * @throws IllegalStateException if no driver for the URL is on the class path
     */
    public JdbcJobStore mysql(String jdbcUrl, @Nullable String user, @Nullable String password) {
        if (!isDriven(jdbcUrl)) {
            // Names only the kind of URL, because the rest may hold a password.
            throw new IllegalStateException("No JDBC driver for " + jdbcUrl.replaceFirst("(?s)^(jdbc:\\w+:)?.*", "$1…")
                    + " found: add org.mariadb.jdbc:mariadb-java-client for jdbc:mariadb:, or"
                    + " com.mysql:mysql-connector-j for jdbc:mysql:");
        }
        HikariConfig config = mysqlPool();
        config.setJdbcUrl(jdbcUrl);
        config.setUsername(user);
        config.setPassword(password);
        return mysql(config);
    }

    /**
     * Opens a store in MySQL 8.0.19, MariaDB 10.6 or newer on connections of a source. The store pools them itself, so
     * pass a source of plain connections, not a pool. They must count the rows that an update matches, as both drivers
     * do by default. The store does not close the source.
     */
    public JdbcJobStore mysql(DataSource source) {
        HikariConfig config = mysqlPool();
        config.setDataSource(plain(source));
        return mysql(config);
    }

    /**
     * Opens a store on the pool of an application, in the database that the pool leads to. The store opens no pool of
     * its own. It changes no setting of a session, gives each connection back as it was, and does not close the pool.
     * On PostgreSQL it keeps one connection to listen for work, unless {@link #pollOnly} is set. {@link #poolSize} does
     * not matter. SQLite has connections of its own to the same file, because it has only one writer.
     *
     * <p>A transaction of the application that enqueues a job may need a second connection for a moment: give the pool
     * more connections than threads that enqueue in transactions.
     *
     * @param pool leads to PostgreSQL 14, MySQL 8.0.19, MariaDB 10.6, SQLite, or newer
     * @throws StoreException if the pool gives no connection
     * @throws IllegalArgumentException if the database is of another kind, or an SQLite database in memory
     */
    public JdbcJobStore pooled(DataSource pool) {
        String product;
        String url;
        try (Connection connection = pool.getConnection()) {
            product = connection.getMetaData().getDatabaseProductName();
            url = connection.getMetaData().getURL();
        } catch (SQLException e) {
            throw new StoreException(
                    "The data source gives no connection, so Reprise cannot store jobs: " + e.getMessage(), e);
        }
        int seconds = (int) timeout.toSeconds();
        Pool borrowed = Pool.borrowed(pool);
        return switch (product) {
            case "PostgreSQL" -> {
                PostgresDatabase database = new PostgresDatabase(borrowed, borrowed, seconds, pollOnly);
                StoreWakeups wakeups = pollOnly ? new StoreWakeups.Local() : new PostgresWakeups(pool, database);
                yield new JdbcJobStore(database, wakeups, Parts.postgres(database, history));
            }
            case "MySQL", "MariaDB" -> {
                MySqlDatabase database = MySqlDatabase.of(borrowed, borrowed, borrowed, seconds);
                yield new JdbcJobStore(database, new MySqlWakeups(database), Parts.mysql(database, history));
            }
            case "SQLite" -> sqlite(file(url));
            default ->
                throw new IllegalArgumentException("Reprise cannot store jobs in " + product
                        + ": use a data source for PostgreSQL, MySQL, MariaDB or SQLite");
        };
    }

    private static Path file(String url) {
        String file = url.replaceFirst("^jdbc:sqlite:(file:)?", "").replaceFirst("\\?.*$", "");
        if (file.isEmpty() || file.contains(":memory:")) {
            throw new IllegalArgumentException(
                    "Reprise cannot store jobs in an SQLite database in memory: name a file, as in jdbc:sqlite:jobs.db");
        }
        return Path.of(file);
    }

    /** Says so if the source is a pool: a pool on a pool holds connections of the caller's at rest. */
    private static DataSource plain(DataSource source) {
        String name = source.getClass().getName().toLowerCase(Locale.ROOT);
        if (POOLS.stream().anyMatch(name::contains)) {
            log.warn(
                    "{} is a pool of connections, and Reprise makes a pool of its own on it: open the store with"
                            + " pooled(...), or give it the URL or a source of plain connections",
                    source.getClass().getName());
        }
        return source;
    }

    private HikariConfig mysqlPool() {
        HikariConfig config = pool();
        config.setKeepaliveTime(KEEP_ALIVE.toMillis());
        // Strict mode refuses a value that is too long instead of cutting it. No statement waits long for a lock. The
        // server ends a session that is silent within a transaction, so that it does not keep its locks: MariaDB by
        // idle_transaction_timeout, MySQL by wait_timeout.
        config.setConnectionInitSql("set session sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION',"
                + " innodb_lock_wait_timeout = " + Math.max(1, Math.min(LOCK_WAIT.toSeconds(), timeout.toSeconds() / 2))
                + " /*M!100600 , idle_transaction_timeout = " + timeout.toSeconds() + " */"
                + " /*!80000 , wait_timeout = " + Math.max(2 * KEEP_ALIVE.toSeconds(), timeout.toSeconds()) + " */");
        return config;
    }

    private JdbcJobStore mysql(HikariConfig config) {
        MySqlDatabase database = MySqlDatabase.of(
                Pool.own(new HikariDataSource(config)),
                looks(config),
                Pool.own(new HikariDataSource(like(config, "reprise-beside", 1))),
                (int) timeout.toSeconds());
        return new JdbcJobStore(database, new MySqlWakeups(database), Parts.mysql(database, history));
    }

    /** A pool for lists and counts. Its connections are opened when they are first used. */
    private static Pool looks(HikariConfig config) {
        HikariConfig looks = like(config, "reprise-looks", Database.SEARCH_CONNECTIONS);
        looks.setConnectionTimeout(Math.min(config.getConnectionTimeout(), Database.LOOK_TIME.toMillis()));
        return Pool.own(new HikariDataSource(looks));
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
        config.setMinimumIdle(Math.min(pool, MIN_IDLE_CONNECTIONS));
        config.setConnectionTimeout(timeout.toMillis());
        config.setValidationTimeout(Math.min(5_000, timeout.toMillis()));
        config.setInitializationFailTimeout(-1);
        config.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
        return config;
    }

    /**
     * Opens a store by URL. Write the characters {@code @ / : %} of a user name or password with percent signs, as
     * {@code %40 %2F %3A %25}. If MySQL's driver is not on the class path, MariaDB's driver is used for {@code mysql:}
     * too.
     *
     * @param url {@code sqlite:jobs.db}, {@code postgresql://user:password@host:5432/database} or
     *     {@code postgres://…}, {@code mariadb://…}, {@code mysql://…}, or the JDBC URL of one of them
     * @throws NullPointerException if {@code url} is null
     * @throws IllegalArgumentException if the URL is of another kind or not complete
     */
    public JdbcJobStore open(String url) {
        if (url.startsWith("postgres:")) {
            return open("postgresql" + url.substring("postgres".length()));
        }
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
            return postgresql(driver(() -> PostgresUrl.of(jdbcUrl).source(timeout, pollOnly)));
        }
        Login login = Login.in(jdbcUrl);
        return mysql(driven(login.url()), login.user(), login.password());
    }

    /**
     * The URL for a driver that is present. MariaDB's driver also speaks with MySQL, so it is used if MySQL's driver is
     * not on the class path.
     */
    private static String driven(String jdbcUrl) {
        return isDriven(jdbcUrl) ? jdbcUrl : jdbcUrl.replaceFirst("^jdbc:mysql:", "jdbc:mariadb:");
    }

    private static boolean isDriven(String jdbcUrl) {
        return DriverManager.drivers().anyMatch(driver -> accepts(driver, jdbcUrl));
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
