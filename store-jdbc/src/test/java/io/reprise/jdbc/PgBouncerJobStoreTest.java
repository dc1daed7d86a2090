// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.store.JobStore;
import io.reprise.testkit.contract.JobStoreContract;
import io.reprise.testkit.servers.PostgresServer;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;

/**
 * The whole contract through a real PgBouncer in transaction mode, on a database whose transactions are REPEATABLE READ unless told
 * otherwise: what was set for a session before is not there any more. Where PgBouncer is not installed nothing is tested.
 */
@EnabledIf("isInstalled")
class PgBouncerJobStoreTest implements JobStoreContract {

    /** Debian's is not on everybody's path. */
    private static final List<Path> PROGRAMS = Stream.concat(
                    Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator)),
                    Stream.of("/usr/sbin"))
            .map(directory -> Path.of(directory, "pgbouncer"))
            .filter(Files::isExecutable)
            .toList();

    private static Process pooler;
    private static String direct;
    private static JdbcJobStore store;

    static boolean isInstalled() {
        return !PROGRAMS.isEmpty();
    }

    @BeforeAll
    static void start(@TempDir Path directory) throws Exception {
        direct = PostgresServer.shared().freshDatabaseUrl();
        String database = direct.replaceAll(".*/([^/?]+)\\?.*", "$1");
        execute("alter database " + database + " set default_transaction_isolation = 'repeatable read'");
        int port = InstalledPostgres.freePort();
        // It refuses to run as root, so another user must be able to read this.
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
        Path settings = Files.writeString(directory.resolve("pgbouncer.ini"), """
                [databases]
                * = host=127.0.0.1 port=%d user=postgres
                [pgbouncer]
                listen_addr = 127.0.0.1
                listen_port = %d
                unix_socket_dir =
                auth_type = any
                pool_mode = transaction
                default_pool_size = 10
                max_client_conn = 200
                ignore_startup_parameters = extra_float_digits
                """.formatted(
                        PostgresServer.shared().port(), port));
        List<String> command = new ArrayList<>(List.of(PROGRAMS.get(0).toString(), "-q"));
        if (InstalledPostgres.isRoot()) {
            command.addAll(List.of("-u", "nobody"));
        }
        command.add(settings.toString());
        pooler = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("log").toFile())
                .start();
        await(port);
        store = JdbcJobStore.builder()
                .pollOnly()
                .postgresql("jdbc:postgresql://127.0.0.1:" + port + "/" + database, "postgres", null);
        store.prepare();
    }

    private static void await(int port) {
        for (int looks = 0; looks < 6_000 && pooler.isAlive(); looks++) {
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                return;
            } catch (IOException e) {
                LockSupport.parkNanos(10_000_000);
            }
        }
        throw new AssertionError("PgBouncer does not listen");
    }

    @AfterAll
    static void stop() {
        if (store != null) {
            store.close();
        }
        if (pooler != null) {
            pooler.destroy();
        }
    }

    private static void execute(String sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection(direct);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    @BeforeEach
    void empty() throws SQLException {
        List<String> tables = new ArrayList<>();
        try (Connection connection = DriverManager.getConnection(direct);
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(
                        "select tablename from pg_tables where schemaname = 'public'"
                                + " and tablename like 'reprise%' and tablename not in ('reprise_migration', 'reprise_policy')")) {
            while (rows.next()) {
                tables.add(rows.getString(1));
            }
        }
        execute("truncate " + String.join(", ", tables));
    }

    @Override
    public JobStore store() {
        return store;
    }

    @Override
    public OpenTransaction begin() {
        try {
            Connection connection = DriverManager.getConnection(direct);
            connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
            return new CallerTransaction(connection);
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }
}
