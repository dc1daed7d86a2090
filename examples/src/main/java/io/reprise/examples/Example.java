// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples;

import io.reprise.jdbc.JdbcJobStore;
import io.reprise.store.JobStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Shared by the examples: a temporary store, a way to print, and a check that a claim is true. */
public final class Example {

    public static final Duration SOON = Duration.ofMinutes(2);

    private Example() {}

    public static JobStore store() {
        return JdbcJobStore.sqlite(temporaryFile());
    }

    /** Where a SQLite file can be; it goes with the process. */
    public static Path temporaryFile() {
        try {
            Path directory = Files.createTempDirectory("reprise-example");
            directory.toFile().deleteOnExit();
            for (String name : new String[] {"jobs.db", "jobs.db-wal", "jobs.db-shm"}) {
                directory.resolve(name).toFile().deleteOnExit();
            }
            return directory.resolve("jobs.db");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public static void say(String format, @Nullable Object... values) {
        System.out.println(String.format(Locale.ROOT, format, values));
    }

    /** Ends the example with an error, and so the program with a non-zero exit code, unless it is so. */
    public static void check(boolean isSo, String claim) {
        if (!isSo) {
            throw new IllegalStateException("This did not happen: " + claim);
        }
        say("  as it should be: %s", claim);
    }
}
