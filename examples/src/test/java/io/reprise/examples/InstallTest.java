// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.testkit.Slow;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a new user does: install everything into an empty local repository, and build a project elsewhere against it.
 * What Maven needs comes from the local repository of this build, so no network is used.
 */
@Slow
class InstallTest {

    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    @TempDir
    static Path folder;

    @BeforeAll
    static void install() throws Exception {
        Files.writeString(folder.resolve("settings.xml"), """
                <settings><mirrors><mirror>
                  <id>this-build</id><mirrorOf>*</mirrorOf><url>%s</url>
                </mirror></mirrors></settings>
                """.formatted(
                        Path.of(Objects.requireNonNull(System.getProperty("localRepository")))
                                .toUri()));
        maven(ROOT, "install", "-Dquick", "-Dmaven.test.skip=true");
    }

    private static void maven(Path directory, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                "mvn",
                "-B",
                "-ntp",
                "-q",
                "-s",
                folder.resolve("settings.xml").toString(),
                "-Dmaven.repo.local=" + folder.resolve("repository")));
        command.addAll(List.of(arguments));
        run(directory, command);
    }

    private static String run(Path directory, List<String> command) throws Exception {
        Path log = Files.createTempFile(folder, "run", ".log");
        Process process = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        int code = process.waitFor();
        String output = Files.readString(log);
        assertThat(code).as(command + "\n" + output).isZero();
        return output;
    }

    /** Copies a project out of the checkout, builds it, and runs its main. */
    private static String output(String project, String... properties) throws Exception {
        Path copy = Files.createTempDirectory(folder, project);
        Path original = Path.of("src/test/projects", project);
        try (Stream<Path> files = Files.walk(original)) {
            for (Path file : files.toList()) {
                Path target = copy.resolve(original.relativize(file).toString());
                if (Files.isRegularFile(file)) {
                    Files.copy(file, target);
                } else {
                    Files.createDirectories(target);
                }
            }
        }
        List<String> goals = new ArrayList<>(List.of(
                "compile",
                "org.apache.maven.plugins:maven-dependency-plugin:3.11.0:build-classpath",
                "-Dmdep.outputFile=classpath"));
        goals.addAll(List.of(properties));
        maven(copy, goals.toArray(String[]::new));
        return runMain(copy);
    }

    private static String runMain(Path project) throws Exception {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String classes =
                project.resolve("target/classes") + File.pathSeparator + Files.readString(project.resolve("classpath"));
        return run(project, List.of(java, "-cp", classes, "user.Main", "jobs.db"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"reprise-codec-jackson", "reprise-codec-jackson2"})
    void a_plain_project_runs_a_job(String codec) throws Exception {
        assertThat(output("plain", "-Dcodec=" + codec)).contains("SUCCEEDED");
    }

    @ParameterizedTest
    @ValueSource(strings = {"3.5.16", "4.0.8", "4.1.1"})
    void a_spring_boot_project_runs_a_job_with_its_own_versions(String version) throws Exception {
        assertThat(output("boot", "-Dspring-boot.version=" + version))
                .contains("SUCCEEDED")
                .contains("Spring Boot " + version + ", 1 meter");
    }
}
