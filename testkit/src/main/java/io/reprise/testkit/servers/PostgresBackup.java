// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Set;

/** Copies the data of a running PostgreSQL by its low-level API, because the binaries have no pg_basebackup. */
final class PostgresBackup {

    private static final Set<String> NOT_COPIED = Set.of(
            "postmaster.pid", "postmaster.opts", "epg-lock", "standby.signal", "postgresql.auto.conf", "backup_label");

    /** Directories whose files the copy creates itself, or receives. */
    private static final Set<String> EMPTY = Set.of(
            "pg_wal",
            "pg_replslot",
            "pg_notify",
            "pg_serial",
            "pg_snapshots",
            "pg_stat_tmp",
            "pg_subtrans",
            "pg_dynshmem");

    private PostgresBackup() {}

    /** Copies the data directory of this connection's server to a directory that does not exist. */
    static void copy(Connection connection, Path from, Path to) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("select pg_backup_start('copy', true)");
            copyTree(from, to);
            try (ResultSet end = statement.executeQuery("select labelfile from pg_backup_stop(false)")) {
                end.next();
                Files.writeString(to.resolve("backup_label"), end.getString(1));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void copyTree(Path from, Path to) throws IOException {
        Files.walkFileTree(from, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes)
                    throws IOException {
                Files.copy(directory, to.resolve(from.relativize(directory)), StandardCopyOption.COPY_ATTRIBUTES);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Path name = from.relativize(file);
                if (!NOT_COPIED.contains(name.toString())
                        && !EMPTY.contains(name.getName(0).toString())) {
                    copyFile(file, to.resolve(name));
                }
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
                if (e instanceof NoSuchFileException) {
                    return FileVisitResult.CONTINUE;
                }
                throw e;
            }
        });
    }

    /** A file that is deleted during the copy is not needed: the log records that too. */
    private static void copyFile(Path from, Path to) throws IOException {
        try {
            Files.copy(from, to, StandardCopyOption.COPY_ATTRIBUTES);
        } catch (NoSuchFileException gone) {
            Files.deleteIfExists(to);
        }
    }
}
