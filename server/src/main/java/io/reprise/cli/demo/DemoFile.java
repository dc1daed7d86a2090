// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.demo;

import io.reprise.cli.base.BadInput;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The database of a demo: the user's file, or one in a temporary directory that is deleted when the demo ends. */
record DemoFile(Path path, @Nullable Path temporary) implements AutoCloseable {

    static DemoFile of(@Nullable Path given) throws IOException {
        if (given == null) {
            Path directory = Files.createTempDirectory("reprise-demo");
            return new DemoFile(directory.resolve("demo.db"), directory);
        }
        Path parent = given.toAbsolutePath().getParent();
        if (Files.isDirectory(given) || parent == null || !Files.isDirectory(parent)) {
            throw new BadInput("Invalid value for option '--db': " + given
                    + (Files.isDirectory(given) ? " is a directory" : " is in a directory that does not exist"));
        }
        return new DemoFile(given, null);
    }

    @Override
    public void close() throws IOException {
        if (temporary != null) {
            List<Path> files;
            try (Stream<Path> all = Files.walk(temporary)) {
                files = all.sorted(Comparator.reverseOrder()).toList();
            }
            for (Path file : files) {
                Files.deleteIfExists(file);
            }
        }
    }
}
