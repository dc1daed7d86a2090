// SPDX-License-Identifier: Apache-2.0
package io.reprise.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.testkit.Slow;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An application as Spring's ahead-of-time processing makes it: generated, compiled and run on the JVM. */
@Slow
class AotTest {

    private static final String CLASSES = System.getProperty("java.class.path");

    @TempDir
    Path folder;

    @Test
    void annotated_methods_are_handlers_in_an_application_that_was_processed_ahead_of_time() throws Exception {
        List<String> settings = List.of(
                "--spring.config.name=none",
                "--spring.main.web-application-type=none",
                "--spring.main.banner-mode=off",
                "--logging.level.root=warn",
                "--spring.autoconfigure.exclude=" + Contexts.JPA + Contexts.MONGODB,
                "--spring.datasource.url=" + Contexts.freshUrl());
        List<String> process = new ArrayList<>(List.of(
                "org.springframework.boot.SpringApplicationAotProcessor",
                AotApplication.class.getName(),
                folder.resolve("sources").toString(),
                folder.resolve("classes").toString(),
                folder.resolve("classes").toString(),
                "io.reprise",
                "aot"));
        process.addAll(settings);
        java(CLASSES, process);
        compile();
        try (Stream<Path> hints = Files.walk(folder.resolve("classes/META-INF/native-image"))) {
            String text = hints.filter(Files::isRegularFile)
                    .map(AotTest::read)
                    .reduce("", String::concat)
                    .replace("\\/", "/");
            assertThat(text)
                    .contains("AotApplication$Greeting")
                    .contains("AotApplication$Answer")
                    .contains("\"greet\"")
                    .contains("io/reprise/jdbc/");
        }
        List<String> run = new ArrayList<>(List.of("-Dspring.aot.enabled=true", AotApplication.class.getName()));
        run.addAll(settings);
        assertThat(java(folder.resolve("classes") + File.pathSeparator + CLASSES, run))
                .contains("generated=true schedule=true hello ada");
    }

    private void compile() throws Exception {
        List<String> arguments = new ArrayList<>(List.of(
                "-nowarn",
                "-proc:none",
                "-cp",
                folder.resolve("classes") + File.pathSeparator + CLASSES,
                "-d",
                folder.resolve("classes").toString()));
        try (Stream<Path> sources = Files.walk(folder.resolve("sources"))) {
            sources.map(Path::toString).filter(name -> name.endsWith(".java")).forEach(arguments::add);
        }
        assertThat(ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments.toArray(String[]::new)))
                .isZero();
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private String java(String classes, List<String> arguments) throws Exception {
        Path log = Files.createTempFile(folder, "java", ".log");
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                classes));
        command.addAll(arguments);
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        int code = process.waitFor();
        String output = Files.readString(log);
        assertThat(code).as(output).isZero();
        return output;
    }
}
