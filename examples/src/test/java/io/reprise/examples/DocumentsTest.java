// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The code in the documents is cut from the examples, and their links lead somewhere. */
class DocumentsTest {

    private static final Path ROOT = Path.of("..");
    private static final Path SOURCES = Path.of("src/main/java/io/reprise/examples");
    private static final Path SPRING = Path.of("spring-boot/src");

    /** {@code <!-- snippet: FirstJob:readme -->} stands before the block that equals that region of that example. */
    private static final Pattern SNIPPET =
            Pattern.compile("<!-- snippet: (\\w+):(\\w+) -->\\n```java\\n(.*?)```", Pattern.DOTALL);

    /** {@code <!-- python: worker:run -->} stands before the block that equals that region of the remote worker. */
    private static final Pattern PYTHON =
            Pattern.compile("<!-- python: (\\w+):(\\w+) -->\\n```python\\n(.*?)```", Pattern.DOTALL);

    private static final Pattern SETTING = Pattern.compile("(?m)^    public RepriseBuilder (\\w+)\\(");

    private static final Path REMOTE_WORKER = Path.of("remote-worker");
    private static final Pattern CLASS_LINK = Pattern.compile("\\[`\\w+`\\]\\(([^)]+\\.java)\\)");
    private static final Pattern TEST_CLASS = Pattern.compile("`(\\w+(?:Test|IT|Contract))[.`]");
    private static final Pattern TEST_NAME = Pattern.compile("`(\\w+(?:Test|IT|Contract))\\.(\\w+)`");

    /** The ids of docs/seeds.md: how many there are with each prefix. */
    private static final Map<String, Integer> SEED_ROWS =
            Map.of("OQ", 19, "ST", 9, "GO", 15, "MG", 12, "CD", 17, "F", 20);

    private static final Pattern MARKER = Pattern.compile("<!-- snippet:");
    private static final Pattern LINK = Pattern.compile("\\]\\((?!https?:|#)([^)#\\s]+)[^)]*\\)");

    static List<Path> documents() throws IOException {
        try (Stream<Path> root = Files.list(ROOT);
                Stream<Path> docs = Files.walk(ROOT.resolve("docs"))) {
            return Stream.concat(root, docs)
                    .filter(file -> file.toString().endsWith(".md"))
                    .sorted()
                    .toList();
        }
    }

    @Test
    void the_readme_shows_the_first_example_early_and_briefly() throws IOException {
        String readme = Files.readString(ROOT.resolve("README.md"));
        String region = region("FirstJob", "readme");
        assertThat(readme).contains("```java\n" + region + "```");
        assertThat(region.lines().filter(line -> !line.isBlank())).hasSizeLessThanOrEqualTo(15);
        assertThat(readme.substring(0, readme.indexOf("```java")).lines()).hasSizeLessThan(25);
        assertThat(readme.lines()).hasSizeLessThanOrEqualTo(200);
    }

    @ParameterizedTest
    @MethodSource("documents")
    void a_snippet_equals_its_example(Path document) throws IOException {
        String text = Files.readString(document);
        List<MatchResult> snippets = SNIPPET.matcher(text).results().toList();
        for (MatchResult snippet : snippets) {
            assertThat(snippet.group(3))
                    .as("%s in %s", snippet.group(2), snippet.group(1))
                    .isEqualTo(region(snippet.group(1), snippet.group(2)));
        }
        assertThat(snippets).as("well-formed markers").hasSize((int)
                MARKER.matcher(text).results().count());
    }

    @Test
    void the_server_document_shows_the_remote_worker() throws IOException {
        List<MatchResult> shown = PYTHON.matcher(Files.readString(ROOT.resolve("docs/server.md")))
                .results()
                .toList();
        assertThat(shown).isNotEmpty();
        for (MatchResult block : shown) {
            assertThat(block.group(3))
                    .isEqualTo(region(REMOTE_WORKER.resolve(block.group(1) + ".py"), "# ", block.group(2)));
        }
    }

    @Test
    void the_walk_from_enqueue_to_the_dead_letter_is_short_and_can_be_clicked() throws IOException {
        String text = Files.readString(ROOT.resolve("ARCHITECTURE.md"));
        int start = text.indexOf("## A walk");
        String walk = text.substring(start, text.indexOf("\n## ", start + 1));
        List<String> classes = CLASS_LINK
                .matcher(walk)
                .results()
                .map(link -> link.group(1))
                .distinct()
                .toList();
        assertThat(classes)
                .hasSizeBetween(10, 25)
                .allSatisfy(link -> assertThat(ROOT.resolve(link)).exists());
    }

    @Test
    void every_setting_of_a_worker_is_documented() throws IOException {
        String tables = Files.readString(ROOT.resolve("docs/operations.md"));
        List<String> settings = SETTING.matcher(
                        Files.readString(ROOT.resolve("core/src/main/java/io/reprise/RepriseBuilder.java")))
                .results()
                .map(setting -> setting.group(1))
                .distinct()
                .toList();
        assertThat(settings)
                .hasSizeGreaterThan(20)
                .allSatisfy(setting -> assertThat(tables).contains("`" + setting + "`"));
    }

    @ParameterizedTest
    @MethodSource("documents")
    void a_link_leads_to_a_file(Path document) throws IOException {
        Path directory = document.toAbsolutePath().getParent();
        assertThat(LINK.matcher(Files.readString(document)).results().map(link -> link.group(1)))
                .allSatisfy(link -> assertThat(directory.resolve(link)).exists());
    }

    @ParameterizedTest
    @CsvSource({"traps.md,30", "security.md,25", "seeds.md,100"})
    void every_trap_and_check_has_the_test_it_names(String document, int atLeast) throws IOException {
        List<MatchResult> named = TEST_NAME
                .matcher(Files.readString(ROOT.resolve("docs").resolve(document)))
                .results()
                .toList();
        assertThat(named).hasSizeGreaterThan(atLeast);
        try (Stream<Path> files = Files.walk(ROOT)) {
            List<Path> sources =
                    files.filter(file -> file.toString().endsWith(".java")).toList();
            for (MatchResult test : named) {
                Path source = sources.stream()
                        .filter(file -> file.endsWith(test.group(1) + ".java"))
                        .findFirst()
                        .orElseThrow(() -> new AssertionError("no class " + test.group(1)));
                assertThat(Files.readString(source)).contains("void " + test.group(2) + "(");
            }
        }
    }

    @Test
    void every_threat_has_a_test() throws IOException {
        List<String> rows = Files.readString(ROOT.resolve("docs/security.md"))
                .lines()
                .dropWhile(line -> !line.startsWith("| threat |"))
                .skip(2)
                .takeWhile(line -> line.startsWith("|"))
                .toList();
        assertThat(rows).hasSizeGreaterThan(80);
        Set<String> classes;
        try (Stream<Path> files = Files.walk(ROOT)) {
            classes = files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".java"))
                    .map(name -> name.substring(0, name.length() - ".java".length()))
                    .collect(Collectors.toSet());
        }
        for (String row : rows) {
            String[] cells = row.split(" \\| ", -1);
            assertThat(cells).as(row).hasSize(3);
            assertThat(TEST_CLASS.matcher(cells[2]).results().map(test -> test.group(1)))
                    .as(row)
                    .isNotEmpty()
                    .isSubsetOf(classes);
        }
    }

    @Test
    void every_behaviour_of_the_five_systems_has_a_test() throws IOException {
        String text = Files.readString(ROOT.resolve("docs/seeds.md"));
        List<String> wanted = new ArrayList<>();
        SEED_ROWS.forEach((prefix, count) -> IntStream.rangeClosed(1, count)
                .mapToObj(number -> String.format("%s-%02d", prefix, number))
                .forEach(wanted::add));
        Map<String, String> rows = text.lines()
                .filter(line -> line.matches("\\| [A-Z]+-\\d\\d \\|.*"))
                .collect(Collectors.toMap(line -> line.split(" ", 3)[1], line -> line));
        assertThat(rows.keySet()).containsExactlyInAnyOrderElementsOf(wanted);
        assertThat(rows)
                .allSatisfy((id, row) ->
                        assertThat(TEST_NAME.matcher(row).find()).as(row).isTrue());
    }

    private static String region(String example, String name) throws IOException {
        try (Stream<Path> files = Files.walk(SOURCES);
                Stream<Path> spring = Files.walk(SPRING)) {
            Path source = Stream.concat(files, spring)
                    .filter(file -> file.endsWith(example + ".java"))
                    .findFirst()
                    .orElseThrow(() -> new NoSuchFileException(example + ".java"));
            return region(source, "// ", name);
        }
    }

    private static String region(Path source, String comment, String name) throws IOException {
        List<String> lines = Files.readAllLines(source);
        int start = indexOf(lines, comment + "snippet:" + name, 0) + 1;
        List<String> region = lines.subList(start, indexOf(lines, comment + "end", start));
        return String.join("\n", region).stripIndent() + "\n";
    }

    private static int indexOf(List<String> lines, String mark, int from) {
        for (int i = from; i < lines.size(); i++) {
            if (lines.get(i).strip().equals(mark)) {
                return i;
            }
        }
        throw new AssertionError("no line " + mark);
    }
}
