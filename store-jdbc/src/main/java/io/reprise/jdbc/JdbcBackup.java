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
     * @throws RepriseException if the copy exists already or cannot be made
     */
    public static void sqlite(Path file, Path copy) {
        try {
            if (copy.getFileSystem().supportedFileAttributeViews().contains("posix")) {
                Files.createFile(
                        copy, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            } else {
                Files.createFile(copy);
            }
            try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
                    PreparedStatement vacuum = connection.prepareStatement("vacuum into ?")) {
                vacuum.setString(1, copy.toString());
                vacuum.execute();
            }
        } catch (IOException | SQLException e) {
            throw new RepriseException("Cannot copy " + file + " to " + copy + ": " + e.getMessage(), e);
        }
    }
}
