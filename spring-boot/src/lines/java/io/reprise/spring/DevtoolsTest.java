// SPDX-License-Identifier: Apache-2.0
package io.reprise.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.spring.restarted.RestartedApplication;
import io.reprise.testkit.Slow;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A restart by Spring Boot's developer tools, which load the classes of the application again in the same process. */
@Slow
class DevtoolsTest {

    private static final long NANOS = 120_000_000_000L;

    @TempDir
    Path folder;

    @Test
    void a_job_that_a_restart_interrupts_runs_again_with_the_new_classes() throws Exception {
        Path application = application();
        Path log = folder.resolve("log");
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-cp",
                        application + File.pathSeparator + libraries(),
                        RestartedApplication.class.getName(),
                        "--spring.config.name=none",
                        "--spring.main.web-application-type=none",
                        "--spring.main.keep-alive=true",
                        "--spring.autoconfigure.exclude=" + Contexts.JPA + Contexts.MONGODB,
                        "--spring.datasource.url=" + Contexts.freshUrl(),
                        "--spring.devtools.restart.poll-interval=200ms",
                        "--spring.devtools.restart.quiet-period=100ms",
                        "--reprise.worker.stop-grace=100ms")
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        try {
            String first = await(process, log, "began hello by (\\d+)");
            Files.writeString(application.resolve("changed.txt"), "a change that the tools see");
            String second = await(process, log, "ended hello by (\\d+)");
            assertThat(second).as(Files.readString(log)).isNotEqualTo(first);
        } finally {
            process.destroy();
            if (!process.waitFor(60, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
            }
        }
    }

    /** The classes of the application alone, as a project of a user has them. */
    private Path application() throws Exception {
        Path target = folder.resolve("application");
        Path from = Path.of(RestartedApplication.class
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .toURI())
                .resolve("io/reprise/spring/restarted");
        Path to = Files.createDirectories(target.resolve("io/reprise/spring/restarted"));
        try (Stream<Path> classes = Files.list(from)) {
            for (Path file : classes.toList()) {
                Files.copy(file, to.resolve(file.getFileName()));
            }
        }
        // In this build some libraries are directories, which the tools would take for the application's own.
        Path settings = Files.createDirectories(target.resolve("META-INF")).resolve("spring-devtools.properties");
        Files.writeString(settings, "restart.exclude.libraries=.*/target/.*\n");
        return target;
    }

    private static String libraries() {
        return Stream.concat(
                        Stream.of(System.getProperty("devtools")),
                        Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                                .filter(entry -> !entry.endsWith("test-classes")))
                .collect(Collectors.joining(File.pathSeparator));
    }

    private static String await(Process process, Path log, String pattern) throws Exception {
        long end = System.nanoTime() + NANOS;
        while (true) {
            String text = Files.readString(log);
            Matcher found = Pattern.compile(pattern).matcher(text);
            if (found.find()) {
                return found.group(1);
            }
            assertThat(process.isAlive() && System.nanoTime() < end)
                    .as(pattern + " in " + text)
                    .isTrue();
            LockSupport.parkNanos(20_000_000);
        }
    }
}
