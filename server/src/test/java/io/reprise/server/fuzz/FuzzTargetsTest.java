// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.server.http.JsonTarget;
import io.reprise.server.net.HeaderTarget;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Every input that is kept for the targets of {@code server/fuzz}: seeds, and what fuzzing has found. The targets are for
 * Jazzer, which this test does not need.
 */
class FuzzTargetsTest {

    private record Target(Class<?> type, Consumer<byte[]> read) {}

    private static final List<Target> TARGETS = List.of(
            new Target(JsonTarget.class, JsonTarget::fuzzerTestOneInput),
            new Target(PolicyTarget.class, PolicyTarget::fuzzerTestOneInput),
            new Target(CronTarget.class, CronTarget::fuzzerTestOneInput),
            new Target(SearchTarget.class, SearchTarget::fuzzerTestOneInput),
            new Target(CursorTarget.class, CursorTarget::fuzzerTestOneInput),
            new Target(HeaderTarget.class, HeaderTarget::fuzzerTestOneInput),
            new Target(TokenTarget.class, TokenTarget::fuzzerTestOneInput));

    @TestFactory
    Stream<DynamicTest> what_was_found_stays_fixed() {
        return TARGETS.stream()
                .flatMap(target -> inputs(target).stream()
                        .map(input -> DynamicTest.dynamicTest(
                                target.type.getSimpleName() + " " + input.getFileName(),
                                () -> target.read.accept(Files.readAllBytes(input)))));
    }

    private static List<Path> inputs(Target target) {
        Path directory = Path.of("src", "test", "fuzz", target.type.getSimpleName());
        try (Stream<Path> files = Files.list(directory)) {
            List<Path> all = files.sorted().toList();
            assertThat(all).as(directory.toString()).isNotEmpty();
            return all;
        } catch (IOException e) {
            throw new AssertionError("no inputs in " + directory, e);
        }
    }
}
