// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.faults;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;

/** A small file system in memory, mounted on a directory. Needs the superuser. Closing unmounts it. */
public final class SmallDisk implements AutoCloseable {

    private static final int COMMAND_SECONDS = 120;
    private static final int BLOCK = 4_096;

    private final Path directory;

    private SmallDisk(Path directory) {
        this.directory = directory;
    }

    /**
     * Mounts it.
     *
     * @throws IllegalStateException with the reason, if this user or machine may not
     */
    public static SmallDisk mount(Path directory, int kibibytes) {
        run("mount", "-t", "tmpfs", "-o", "size=" + kibibytes + "k", "reprise-test", directory.toString());
        return new SmallDisk(directory);
    }

    public Path directory() {
        return directory;
    }

    /** Takes all the room that is left. */
    public void fill() {
        byte[] block = new byte[BLOCK];
        try (var out = Files.newOutputStream(
                filler(), StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.APPEND)) {
            while (true) {
                out.write(block);
            }
        } catch (IOException e) {
            // The disk is full.
        }
    }

    /** Frees the room that {@link #fill()} took. */
    public void free() {
        try {
            Files.deleteIfExists(filler());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Makes it read-only or writable. No file on it may be open for writing. */
    public void readOnly(boolean wanted) {
        run("mount", "-o", "remount," + (wanted ? "ro" : "rw"), directory.toString());
    }

    @Override
    public void close() {
        run("umount", "-l", directory.toString());
    }

    private Path filler() {
        return directory.resolve("filler");
    }

    private static void run(String... command) {
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (!process.waitFor(COMMAND_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
                throw new IllegalStateException(String.join(" ", command) + ": " + said.strip());
            }
        } catch (IOException e) {
            throw new IllegalStateException(e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
