// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Packages stay small, and a class name means one thing. */
class RoomsTest {

    private static final Path ROOT = Path.of("..");
    private static final int MAX_FILES = 30;
    private static final int MAX_USER_TYPES = 24;

    /** Each module's program is called so. */
    private static final Set<String> SHARED_NAMES = Set.of("Main", "package-info", "module-info");

    private static final Pattern PUBLIC_TYPE = Pattern.compile(
            "^public (?:(?:abstract|final|sealed|non-sealed) )*(?:class|interface|record|enum|@interface) ",
            Pattern.MULTILINE);

    @Test
    void no_package_has_more_files_than_a_reader_can_survey() throws IOException {
        Map<Path, Long> files = sources()
                .filter(file -> !SHARED_NAMES.contains(name(file)))
                .collect(Collectors.groupingBy(Path::getParent, TreeMap::new, Collectors.counting()));
        assertThat(files)
                .hasSizeGreaterThan(50)
                .allSatisfy((folder, count) ->
                        assertThat(count).as(folder.toString()).isLessThanOrEqualTo(MAX_FILES));
    }

    @Test
    void a_class_name_stands_in_one_package() throws IOException {
        Map<String, Set<String>> packages = sources()
                .filter(file -> !SHARED_NAMES.contains(name(file)))
                .collect(Collectors.groupingBy(
                        RoomsTest::name,
                        TreeMap::new,
                        Collectors.mapping(
                                file -> file.getParent().toString(), Collectors.toCollection(TreeSet::new))));
        assertThat(packages)
                .hasSizeGreaterThan(500)
                .allSatisfy((name, places) -> assertThat(places).as(name).hasSize(1));
    }

    @Test
    void a_user_finds_few_types_at_the_entrance() throws IOException {
        try (Stream<Path> files = Files.list(ROOT.resolve("core/src/main/java/io/reprise"))) {
            List<Path> types = files.filter(Files::isRegularFile)
                    .filter(RoomsTest::isPublic)
                    .toList();
            assertThat(types).hasSizeBetween(10, MAX_USER_TYPES);
        }
    }

    private static boolean isPublic(Path file) {
        try {
            return PUBLIC_TYPE.matcher(Files.readString(file)).find();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static String name(Path file) {
        return file.getFileName().toString().replace(".java", "");
    }

    /** Main code of all modules. */
    private static Stream<Path> sources() throws IOException {
        List<Path> roots;
        try (Stream<Path> folders = Files.walk(ROOT, 5)) {
            roots = folders.filter(folder -> folder.endsWith(Path.of("src", "main", "java")))
                    .filter(folder -> !folder.toString().contains("target"))
                    .toList();
        }
        List<Path> all = new ArrayList<>();
        for (Path root : roots) {
            try (Stream<Path> files = Files.walk(root)) {
                files.filter(file -> file.toString().endsWith(".java")).forEach(all::add);
            }
        }
        return all.stream();
    }
}
