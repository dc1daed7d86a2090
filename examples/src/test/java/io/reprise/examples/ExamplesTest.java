// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every example runs to its end. They are found in the package, so that none is forgotten. */
class ExamplesTest {

    private static final Path SOURCES = Path.of("src/main/java/io/reprise/examples");
    private static final List<String> NOT_EXAMPLES = List.of("Example", "package-info");

    static List<String> examples() throws IOException {
        try (Stream<Path> files = Files.walk(SOURCES)) {
            return files.filter(file -> file.toString().endsWith(".java"))
                    .filter(file -> !NOT_EXAMPLES.contains(name(file)))
                    .filter(file -> !file.startsWith(SOURCES.resolve("seeds")))
                    .filter(file -> !file.startsWith(SOURCES.resolve("frameworks")))
                    .map(file -> SOURCES.relativize(file).toString().replace(".java", ""))
                    .sorted()
                    .toList();
        }
    }

    private static String name(Path file) {
        return file.getFileName().toString().replace(".java", "");
    }

    @ParameterizedTest
    @MethodSource("examples")
    @Timeout(600)
    void an_example_does_what_it_claims(String name) throws Throwable {
        try {
            Class.forName("io.reprise.examples." + name.replace('/', '.'))
                    .getMethod("main", String[].class)
                    .invoke(null, (Object) new String[0]);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    @ParameterizedTest
    @MethodSource("examples")
    void an_example_fits_on_a_screen(String name) throws IOException {
        try (Stream<String> lines = Files.lines(SOURCES.resolve(name + ".java"))) {
            assertThat(lines.filter(line -> !line.startsWith("import "))).hasSizeLessThanOrEqualTo(55);
        }
    }

    @Test
    void there_are_examples() throws IOException {
        assertThat(examples()).contains("FirstJob").hasSizeGreaterThan(20);
    }
}
