// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Optional;
import java.util.stream.Stream;

/** Stops servers whose JVM was killed, and deletes their files. */
final class Leftovers {

    private static final String OWNER = "owner";

    private Leftovers() {}

    /** Notes that a directory, and the server whose program is in it, belong to this JVM. */
    static void own(Path home) throws IOException {
        Files.writeString(
                home.resolve(OWNER), Long.toString(ProcessHandle.current().pid()));
    }

    /**
     * Removes the servers of dead JVMs.
     *
     * @param pattern pattern of the names of their directories
     */
    static void remove(Path parent, String pattern) {
        try (DirectoryStream<Path> homes = Files.newDirectoryStream(parent, pattern)) {
            for (Path home : homes) {
                Optional<Long> owner = number(home.resolve(OWNER));
                if (owner.isPresent() && ProcessHandle.of(owner.get()).isEmpty()) {
                    endServer(home);
                    delete(home);
                }
            }
        } catch (IOException | UncheckedIOException ignored) {
            // Another process is doing the same. This must not prevent a start.
        }
    }

    private static void endServer(Path home) {
        number(home.resolve("pid"))
                .flatMap(ProcessHandle::of)
                .filter(process -> process.info()
                        .command()
                        .filter(command -> command.startsWith(home.toString()))
                        .isPresent())
                .filter(ProcessHandle::destroyForcibly)
                .ifPresent(process -> process.onExit().join());
    }

    private static Optional<Long> number(Path file) {
        try {
            return Optional.of(Long.parseLong(Files.readString(file).strip()));
        } catch (IOException | NumberFormatException e) {
            return Optional.empty();
        }
    }

    static void delete(Path directory) throws IOException {
        try (Stream<Path> paths = Files.walk(directory)) {
            for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        }
    }
}
