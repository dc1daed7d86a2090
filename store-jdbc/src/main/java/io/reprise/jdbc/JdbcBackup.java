// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.RepriseException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/**
 * Copies an SQLite file while other processes use it. The servers of other databases have backup programs of their own.
 * Thread-safe.
 *
 * @since 0.1.0
 */
public final class JdbcBackup {

    private JdbcBackup() {}

    /**
     * Copies everything that is committed when the call begins into one new file. Only its owner may read and write the
     * copy, where the file system supports that.
     *
     * @param file the SQLite file
     * @param copy the new file; it must not exist
     * @throws RepriseException if the file does not exist, or the copy exists already or cannot be made; then there is no
     *     new file
     */
    public static void sqlite(Path file, Path copy) {
        // SQLite would create the missing file and copy nothing.
        if (!Files.exists(file)) {
            throw new RepriseException("Cannot copy " + file + ": there is no such file");
        }
        try {
            create(copy);
        } catch (IOException e) {
            throw failed(file, copy, e);
        }
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
                PreparedStatement vacuum = connection.prepareStatement("vacuum into ?")) {
            vacuum.setString(1, copy.toString());
            vacuum.execute();
        } catch (SQLException e) {
            RepriseException failure = failed(file, copy, e);
            try {
                // Otherwise the next try would be refused, because the copy exists.
                Files.deleteIfExists(copy);
            } catch (IOException left) {
                failure.addSuppressed(left);
            }
            throw failure;
        }
    }

    private static void create(Path copy) throws IOException {
        if (copy.getFileSystem().supportedFileAttributeViews().contains("posix")) {
            Files.createFile(copy, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        } else {
            Files.createFile(copy);
        }
    }

    private static RepriseException failed(Path file, Path copy, Exception e) {
        return new RepriseException("Cannot copy " + file + " to " + copy + ": " + e.getMessage(), e);
    }
}
