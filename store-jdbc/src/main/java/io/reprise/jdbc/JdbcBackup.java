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
 * Copies a SQLite file while other processes use it. The servers of other databases have their own programs for this.
 */
public final class JdbcBackup {

    private JdbcBackup() {}

    /**
     * Copies everything that was committed at the start into one file that only its owner can read.
     *
     * @param copy must not exist
     * @throws RepriseException if the copy fails
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
