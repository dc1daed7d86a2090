// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.job.RepriseException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
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
     * Copies all that was committed when it begins, into one file for its owner only. The copy has its name once it is whole: one that was cut
     * off is never taken for a backup.
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
        Path whole = copy.toAbsolutePath();
        Path part = whole.resolveSibling(whole.getFileName() + ".part");
        if (Files.exists(whole, LinkOption.NOFOLLOW_LINKS)) {
            throw new RepriseException(copy + " is there already, and nothing is overwritten: name another file");
        }
        Path directory = whole.getParent();
        if (directory == null || !Files.isDirectory(directory)) {
            throw new RepriseException("There is no directory " + directory + " to copy to: make it first");
        }
        try {
            // What is left of one that was killed.
            Files.deleteIfExists(part);
            copy(file, part);
            Files.move(part, whole);
        } catch (IOException | SQLException e) {
            remove(part);
            throw new RepriseException("Cannot copy " + file + " to " + copy + ": " + e.getMessage(), e);
        }
    }

    private static void copy(Path file, Path part) throws IOException, SQLException {
        if (part.getFileSystem().supportedFileAttributeViews().contains("posix")) {
            Files.createFile(part, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        } else {
            Files.createFile(part);
        }
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
                PreparedStatement vacuum = connection.prepareStatement("vacuum into ?")) {
            vacuum.setString(1, part.toString());
            vacuum.execute();
        }
        try (FileChannel channel = FileChannel.open(part, StandardOpenOption.WRITE)) {
            channel.force(true);
        }
    }

    private static void remove(Path part) {
        try {
            Files.deleteIfExists(part);
        } catch (IOException e) {
            // Its name says what it is.
        }
    }
}
