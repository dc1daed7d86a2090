// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/** A PostgreSQL of this machine, with its own pg_dump: the one that tests bring along has none. */
public final class InstalledPostgres implements AutoCloseable {

    private static final List<String> PROGRAMS = List.of("initdb", "postgres", "pg_dump", "pg_restore");
    private static final Path DEBIAN = Path.of("/usr/lib/postgresql");
    private static final String NOBODY = "nobody";

    private final Path programs;
    private final Path home;
    private final int port;
    private final Process process;

    /** Starts one that keeps everything below this directory. */
    public InstalledPostgres(Path home) throws IOException, InterruptedException {
        this.programs = programs().orElseThrow();
        this.home = home;
        this.port = freePort();
        Path data = Files.createDirectory(home.resolve("data"));
        if (isRoot()) {
            // It refuses to run as root.
            Files.setPosixFilePermissions(home, PosixFilePermissions.fromString("rwxr-xr-x"));
            Files.setOwner(
                    data, data.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName(NOBODY));
        }
        run("initdb", "--auth=trust", "--username=postgres", "--encoding=UTF8", "--no-sync", "-D", data.toString());
        this.process = builder(
                        "postgres",
                        "-D",
                        data.toString(),
                        "-p",
                        Integer.toString(port),
                        "-c",
                        "listen_addresses=127.0.0.1",
                        "-c",
                        "unix_socket_directories=",
                        "-c",
                        "fsync=off")
                .start();
        await();
    }

    /** Where all programs are. Debian's pg_dump on the path is not one of these, but a script that looks for one. */
    public static Optional<Path> programs() {
        Stream<Path> onPath = Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
                .map(Path::of);
        try (Stream<Path> debian = Files.isDirectory(DEBIAN) ? Files.list(DEBIAN) : Stream.empty()) {
            return Stream.concat(debian.map(version -> version.resolve("bin")).toList().stream(), onPath)
                    .filter(directory ->
                            PROGRAMS.stream().allMatch(program -> Files.isExecutable(directory.resolve(program))))
                    .findFirst();
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    static boolean isRoot() {
        return System.getProperty("user.name").equals("root");
    }

    static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private void await() {
        for (int looks = 0; looks < 12_000 && process.isAlive(); looks++) {
            try (Connection connection = DriverManager.getConnection(url("postgres"))) {
                return;
            } catch (SQLException e) {
                LockSupport.parkNanos(10_000_000);
            }
        }
        throw new AssertionError("PostgreSQL does not answer: " + log());
    }

    public String url(String database) {
        return "jdbc:postgresql://127.0.0.1:" + port + "/" + database + "?user=postgres";
    }

    /** As the page on backups says. */
    public void dumpAndRestore(String from, String to) {
        String dump = home.resolve("data").resolve("jobs.dump").toString();
        client("pg_dump", "--format=custom", "--file=" + dump, from);
        client("pg_restore", "--no-owner", "--exit-on-error", "--dbname=" + to, dump);
    }

    private void client(String program, String... more) {
        List<String> all = new ArrayList<>(List.of("--host=127.0.0.1", "--port=" + port, "--username=postgres"));
        all.addAll(List.of(more));
        try {
            run(program, all.toArray(String[]::new));
        } catch (IOException e) {
            throw new AssertionError(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }

    private void run(String program, String... more) throws IOException, InterruptedException {
        Process started = builder(program, more).start();
        if (!started.waitFor(5, TimeUnit.MINUTES) || started.exitValue() != 0) {
            started.destroyForcibly();
            throw new AssertionError(program + " failed: " + log());
        }
    }

    private ProcessBuilder builder(String program, String... more) {
        List<String> command = new ArrayList<>();
        if (isRoot()) {
            command.addAll(List.of("setpriv", "--reuid=" + NOBODY, "--regid=nogroup", "--clear-groups"));
        }
        command.add(programs.resolve(program).toString());
        command.addAll(List.of(more));
        return new ProcessBuilder(command)
                .directory(home.resolve("data").toFile())
                .redirectErrorStream(true)
                .redirectOutput(
                        ProcessBuilder.Redirect.appendTo(home.resolve("log").toFile()));
    }

    private String log() {
        try {
            return Files.readString(home.resolve("log"));
        } catch (IOException e) {
            return "no log: " + e.getMessage();
        }
    }

    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(1, TimeUnit.MINUTES)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
