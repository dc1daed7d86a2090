// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.servers;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A real PostgreSQL on a free port of the loopback interface, from binaries in a Maven artifact.
 *
 * <p>{@link #shared()} is the usual one: it is started once per JVM and stopped when the JVM exits. Test classes stay
 * separate by taking a {@link #freshDatabase()} each. A test that stops or kills the server starts one of its own. If a
 * server does not start, an {@link IllegalStateException} shows the server's log; a test is never skipped for that.
 *
 * <p>Thread-safe.
 */
public final class PostgresServer implements AutoCloseable {

    private static final Duration STARTUP_WAIT = Duration.ofMinutes(3);
    private static final int LOG_LINES = 40;
    private static final String USER = "postgres";
    private static final String STANDBY = "standby";

    private static final Map<String, String> FAST =
            Map.of("fsync", "off", "synchronous_commit", "off", "full_page_writes", "off");
    private static final Map<String, String> DURABLE =
            Map.of("fsync", "on", "synchronous_commit", "on", "full_page_writes", "on");

    private final Map<String, String> settings;
    private final boolean shared;
    private final Duration startupWait;
    private final Path log;
    private final Path data;
    private final Thread closer = new Thread(this::shutDown, "postgres-closer");
    private final AtomicInteger databases = new AtomicInteger();
    private @Nullable EmbeddedPostgres process;
    private int port;
    private boolean paused;

    private PostgresServer(Map<String, String> settings, boolean shared, Duration startupWait) {
        this.settings = settings;
        this.shared = shared;
        this.startupWait = startupWait;
        try {
            // Beside the library's own data directories, where it finds and removes those of killed JVMs.
            Path parent = Path.of(System.getProperty(
                    "ot.epg.working-dir",
                    Path.of(System.getProperty("java.io.tmpdir"), "embedded-pg").toString()));
            this.data = parent.resolve(UUID.randomUUID().toString());
            this.log = Files.createTempFile("reprise-postgres-", ".log");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the server that all test classes of this JVM share. The first call starts it. It cannot be stopped. */
    public static PostgresServer shared() {
        return Shared.get();
    }

    /** Starts a server of the caller's own, with fast settings that promise nothing after a crash. */
    public static PostgresServer start() {
        return start(Map.of());
    }

    /** Starts a server of the caller's own that keeps committed data when it is killed. */
    public static PostgresServer startDurable() {
        return start(DURABLE);
    }

    /** Starts a server of the caller's own. The settings, as in postgresql.conf, win over the fast ones. */
    public static PostgresServer start(Map<String, String> settings) {
        return start(settings, false, STARTUP_WAIT);
    }

    static PostgresServer start(Map<String, String> settings, boolean shared, Duration startupWait) {
        PostgresServer server = new PostgresServer(Map.copyOf(settings), shared, startupWait);
        Runtime.getRuntime().addShutdownHook(server.closer);
        try {
            server.launch(0);
            return server;
        } catch (RuntimeException e) {
            server.closeNow();
            throw e;
        }
    }

    /** Returns a new, empty database. Each connection is a new one to the server: wrap it in a pool if that matters. */
    public DataSource freshDatabase() {
        return dataSource(createDatabase());
    }

    /** Returns the JDBC URL, user included, of a new, empty database. Any process on this machine can connect to it. */
    public String freshDatabaseUrl() {
        return "jdbc:postgresql://127.0.0.1:" + port() + "/" + createDatabase() + "?user=" + USER;
    }

    /** The port stays the same through every stop and restart. */
    public synchronized int port() {
        return port;
    }

    /** Stops the server in an orderly way and cuts open connections. Does nothing when it is down. */
    public synchronized void stop() {
        refuseIfShared();
        if (process != null) {
            PostgresProcesses processes = PostgresProcesses.on(data);
            terminate(process);
            // The library waits only five seconds, and a checkpoint takes as long as the disk needs.
            processes.awaitEnd();
        }
    }

    /** Stops the server without a checkpoint. It recovers when it starts again. */
    public synchronized void stopImmediately() {
        refuseIfShared();
        quit();
    }

    private void quit() {
        if (process == null) {
            return;
        }
        PostgresProcesses.on(data).quit();
        terminate(process);
    }

    /** Ends the server as a power cut would: SIGKILL to all its processes. Does nothing when it is down. */
    public synchronized void kill() {
        refuseIfShared();
        if (process == null) {
            return;
        }
        PostgresProcesses.on(data).kill();
        paused = false;
        try {
            Files.deleteIfExists(data.resolve("postmaster.pid"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        terminate(process);
    }

    /** Freezes all its processes, as a suspended machine does. Clients wait. */
    public synchronized void pause() {
        refuseIfShared();
        PostgresProcesses.on(data).pause();
        paused = true;
    }

    /** Resumes the processes, as if no time had passed. */
    public synchronized void resume() {
        if (paused) {
            PostgresProcesses.on(data).resume();
            paused = false;
        }
    }

    /**
     * Starts a server that follows this one by streaming replication. It answers only reads until it is
     * {@linkplain #promote promoted}.
     */
    public PostgresServer startStandby() {
        PostgresServer standby = new PostgresServer(settings, false, startupWait);
        Runtime.getRuntime().addShutdownHook(standby.closer);
        try {
            standby.follow(this);
            return standby;
        } catch (RuntimeException e) {
            standby.closeNow();
            throw e;
        }
    }

    /** Deletes its data, if there is any, and starts on its old port as a standby of another server. */
    public synchronized void follow(PostgresServer primary) {
        refuseIfShared();
        stop();
        try (Connection connection = primary.dataSource(USER).getConnection()) {
            deleteTree(data);
            PostgresBackup.copy(connection, primary.data, data);
            Files.writeString(data.resolve("standby.signal"), "");
            Files.writeString(
                    data.resolve("postgresql.auto.conf"),
                    "primary_conninfo = 'host=127.0.0.1 port=" + primary.port() + " user=" + USER + " application_name="
                            + STANDBY + "'\nwal_retrieve_retry_interval = '100ms'\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (SQLException e) {
            throw new IllegalStateException("no copy of the primary: " + e.getMessage(), e);
        }
        launch(port);
    }

    /**
     * From now on a commit is acknowledged only when the standby has it on its disk; without a standby no commit is
     * acknowledged. For a server {@linkplain #startDurable started durable}.
     */
    public void commitWithStandby() {
        execute("alter system set synchronous_standby_names = '" + STANDBY + "'");
        execute("select pg_reload_conf()");
        // A connection that begins after the server has read the setting sees the new value.
        long end = System.nanoTime() + startupWait.toNanos();
        while (!value("show synchronous_standby_names").equals(STANDBY)) {
            if (System.nanoTime() - end > 0 || Thread.currentThread().isInterrupted()) {
                throw new IllegalStateException("PostgreSQL does not read its settings again\n" + logTail());
            }
        }
        // The process that makes commits wait reads the setting before it does this.
        execute("checkpoint");
    }

    /** Returns how many commits wait for the standby. A commit counts even if its client has given up. */
    public int waitingForStandby() {
        return Integer.parseInt(value("select count(*) from pg_stat_activity where wait_event = 'SyncRep'"));
    }

    /** Ends all sessions of clients except the caller's. */
    public void endSessions() {
        execute("""
                select pg_terminate_backend(pid)
                  from pg_stat_activity
                 where backend_type = 'client backend' and pid <> pg_backend_pid()
                """);
    }

    /** Makes a standby the primary, with everything that it received. Returns when it accepts writes. */
    public void promote() {
        if (!value("select pg_promote(true, 300)").equals("t")) {
            throw new IllegalStateException("PostgreSQL was not promoted. Its log ends with:\n" + logTail());
        }
    }

    /** Starts the server again on the same data and port, after it was stopped or killed. */
    public synchronized void restart() {
        refuseIfShared();
        stop();
        launch(port);
    }

    /** Stops the server and deletes its data. */
    @Override
    public void close() {
        refuseIfShared();
        closeNow();
    }

    private void closeNow() {
        Runtime.getRuntime().removeShutdownHook(closer);
        shutDown();
    }

    private synchronized void shutDown() {
        resume();
        // At once, and awaited: a running process would write into deleted directories.
        quit();
        try {
            deleteTree(data);
            Files.deleteIfExists(log);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private synchronized void launch(int wantedPort) {
        EmbeddedPostgres.Builder builder = EmbeddedPostgres.builder()
                .setDataDirectory(data)
                .setCleanDataDirectory(false)
                .setRegisterShutdownHook(false)
                .setPort(wantedPort)
                .setPGStartupWait(startupWait)
                .setLocaleConfig("locale", "C")
                .setOutputRedirector(Redirect.appendTo(log.toFile()))
                .setErrorRedirector(Redirect.appendTo(log.toFile()));
        Map<String, String> all = new HashMap<>(FAST);
        all.put("listen_addresses", "127.0.0.1");
        all.put("unix_socket_directories", "");
        all.putAll(settings);
        all.forEach(builder::setServerConfig);
        try {
            process = builder.start();
            port = process.getPort();
        } catch (IOException | RuntimeException | ExceptionInInitializerError e) {
            throw new IllegalStateException(
                    "PostgreSQL did not start on this machine: " + e.getMessage() + "\nIts log ends with:\n"
                            + logTail(),
                    e);
        }
    }

    private void terminate(EmbeddedPostgres running) {
        try {
            running.close();
            process = null;
        } catch (IOException e) {
            throw new UncheckedIOException("PostgreSQL did not stop. Its log ends with:\n" + logTail(), e);
        }
    }

    private String createDatabase() {
        String name = "test_" + databases.incrementAndGet();
        execute("create database " + name);
        return name;
    }

    private void execute(String sql) {
        try (Connection connection = dataSource(USER).getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(
                    "cannot " + sql + ": " + e.getMessage() + "\nThe server's log ends with:\n" + logTail(), e);
        }
    }

    private String value(String sql) {
        try (Connection connection = dataSource(USER).getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        } catch (SQLException e) {
            throw new IllegalStateException(
                    "cannot " + sql + ": " + e.getMessage() + "\nThe server's log ends with:\n" + logTail(), e);
        }
    }

    private DataSource dataSource(String database) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setServerNames(new String[] {"127.0.0.1"});
        source.setPortNumbers(new int[] {port()});
        source.setDatabaseName(database);
        source.setUser(USER);
        return source;
    }

    private void refuseIfShared() {
        if (shared) {
            throw new IllegalStateException("the shared server is not yours to stop: PostgresServer.start() one");
        }
    }

    private String logTail() {
        try {
            List<String> lines = Files.readAllLines(log);
            return String.join("\n", lines.subList(Math.max(0, lines.size() - LOG_LINES), lines.size()));
        } catch (IOException e) {
            return "(no log: " + e.getMessage() + ")";
        }
    }

    private static void deleteTree(Path root) throws IOException {
        if (!Files.exists(root)) {
            return;
        }
        try (Stream<Path> paths = Files.walk(root)) {
            for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        }
    }

    /** Tries once: if that fails, every test that needs the server fails at once, for the same reason. */
    private static final class Shared {

        private static @Nullable PostgresServer server;
        private static @Nullable String failure;

        static synchronized PostgresServer get() {
            if (failure != null) {
                throw new IllegalStateException(failure);
            }
            PostgresServer running = server;
            if (running == null) {
                try {
                    running = start(Map.of(), true, STARTUP_WAIT);
                } catch (IllegalStateException e) {
                    failure = e.getMessage();
                    throw e;
                }
                server = running;
            }
            return running;
        }
    }
}
