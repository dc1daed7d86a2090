// SPDX-License-Identifier: Apache-2.0
package io.reprise.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every command, with nothing on the class path but what is packaged: a library that only tests have would be missed. */
class PackagedIT {

    private static final Path JAR = Path.of(System.getProperty("reprise.jar"));

    @TempDir
    static Path directory;

    private static URLClassLoader packaged;

    @BeforeAll
    static void load() throws IOException {
        // The libraries are named in the manifest.
        packaged = new URLClassLoader(new URL[] {JAR.toUri().toURL()}, ClassLoader.getPlatformClassLoader());
        Files.createFile(directory.resolve("jobs.db"));
    }

    @AfterAll
    static void unload() throws IOException {
        packaged.close();
    }

    private static int run(StringWriter output, String... args) throws Exception {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(packaged);
        try {
            Constructor<?> terminal =
                    packaged.loadClass("io.reprise.cli.terminal.Terminal").getDeclaredConstructors()[0];
            terminal.setAccessible(true);
            Method run = packaged.loadClass("io.reprise.cli.Main")
                    .getDeclaredMethod("run", terminal.getDeclaringClass(), String[].class);
            run.setAccessible(true);
            PrintWriter writer = new PrintWriter(output, true);
            Object all = terminal.newInstance(InputStream.nullInputStream(), writer, writer, false, false);
            return (int) run.invoke(null, all, args);
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    /** With the driver of the program: another one would be registered first, and be of no use to it. */
    private static void make(Path file) throws Exception {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(packaged);
        try {
            Class<?> type = packaged.loadClass("io.reprise.jdbc.JdbcJobStore");
            try (AutoCloseable store =
                    (AutoCloseable) type.getMethod("sqlite", Path.class).invoke(null, file)) {
                type.getMethod("prepare").invoke(store);
            }
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--version",
                "--help",
                "serve --print-config",
                "demo --help",
                "policy presets",
                "policy preview --preset conduit",
                "schema print --dialect postgresql",
                "schema print --dialect sqlite",
                "completion bash",
                "simulate jitter --help",
                "simulate chaos --seeds 1",
                "simulate recovery --help",
                "simulate outage --rows reprise --outage 1m --rate 5 --length 3m",
                "jobs list --store STORE",
                "jobs enqueue a --store STORE",
                "dead groups --store STORE",
                "dead replays --store STORE",
                "queues --store STORE",
                "resources --store STORE",
                "schedules --store STORE",
                "keys --store STORE",
                "stats --store STORE"
            })
    void every_command_starts(String command) throws Exception {
        StringWriter output = new StringWriter();
        Path file = directory.resolve("jobs.db");
        if (command.contains("STORE")) {
            // Commands that look at a store never make one.
            make(file);
        }
        String line = command.replace("STORE", "sqlite:" + file);
        assertThat(run(output, line.split(" ", -1))).as(output.toString()).isZero();
        assertThat(output.toString()).isNotBlank();
    }

    @ParameterizedTest
    @ValueSource(strings = {"org.sqlite.JDBC", "org.postgresql.Driver", "com.mongodb.client.MongoClients"})
    void the_drivers_of_all_stores_are_there(String driver) throws Exception {
        assertThat(packaged.loadClass(driver).getClassLoader()).isSameAs(packaged);
    }

    @Test
    void the_rehearsal_for_quick_starts_ends_well() throws Exception {
        Path output = directory.resolve("rehearsal.txt");
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        JAR.toString(),
                        "io.reprise.cli.Rehearsal",
                        Files.createDirectory(directory.resolve("rehearsal")).toString())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertThat(process.waitFor(5, TimeUnit.MINUTES)).isTrue();
            assertThat(process.exitValue()).as(Files.readString(output)).isZero();
        } finally {
            process.destroyForcibly();
        }
    }
}
