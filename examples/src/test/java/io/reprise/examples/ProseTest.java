// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Documents and comments are in plain English: STYLE.md has the rules. */
class ProseTest {

    private static final Path ROOT = Path.of("..");
    private static final int LONG = 30;
    private static final double MAX_LONG_SHARE = 0.08;

    private static final Pattern ODD_WORDS =
            Pattern.compile("(?i)\\b(whoever|lest|anew|shall|dear|thrice|in vain|to be had|in the midst"
                    + "|told of|tells of|goes by|go by)\\b");

    /** A tooltip shows the first words only: these say nothing there. */
    private static final Pattern EMPTY_START = Pattern.compile("/\\*\\*[\\s*]*(The same|What)\\b.*", Pattern.DOTALL);

    /** Comments, and texts in quotation marks, in which the beginning of a comment means nothing. */
    private static final Pattern COMMENT_OR_TEXT = Pattern.compile(
            "\"\"\"(?s:.*?)\"\"\"|\"(?:[^\"\\\\\\n]|\\\\.)*\"|'(?:[^'\\\\\\n]|\\\\.)*'|/\\*(?s:.*?)\\*/|//[^\\n]*");

    private static final Pattern COMMENT_LINE = Pattern.compile("\\s*(?:\\*|//) ([^@<\\s].*)");
    private static final Pattern LIST_ITEM = Pattern.compile("(?:[-*+]|\\d+\\.)\\s+(.*)");
    private static final Pattern SENTENCE_END = Pattern.compile("(?<=[.!?])[\")']*\\s+(?=[A-Z0-9\"(])");
    private static final Pattern WORD = Pattern.compile("\\S*[\\p{L}\\p{N}]\\S*");

    static List<Path> documents() throws IOException {
        return DocumentsTest.documents();
    }

    static List<String> modules() throws IOException {
        Pattern module = Pattern.compile("<module>([^<]+)</module>");
        return module.matcher(Files.readString(ROOT.resolve("pom.xml")))
                .results()
                .map(found -> found.group(1))
                .filter(name -> Files.isDirectory(ROOT.resolve(name).resolve("src")))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("documents")
    void a_document_has_no_odd_words(Path document) throws IOException {
        assertThat(oddWords(withoutCode(Files.readString(document)))).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("documents")
    void a_document_has_few_long_sentences(Path document) throws IOException {
        List<String> sentences = sentences(Files.readString(document));
        List<String> tooLong =
                sentences.stream().filter(sentence -> words(sentence) > LONG).toList();
        assertThat(tooLong.size())
                .as("of %d sentences, longer than %d words: %s", sentences.size(), LONG, String.join("\n", tooLong))
                .isLessThanOrEqualTo((int) (sentences.size() * MAX_LONG_SHARE));
    }

    @ParameterizedTest
    @MethodSource("modules")
    void comments_are_plain(String module) throws IOException {
        List<String> findings = new ArrayList<>();
        for (Path file : sources(module)) {
            findings(Files.readString(file)).stream()
                    .filter(finding ->
                            !isTest(file) || ODD_WORDS.matcher(finding).matches())
                    .forEach(finding -> findings.add(file.getFileName() + ": " + finding));
        }
        assertThat(findings).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("modules")
    void no_line_of_a_comment_was_cut_by_the_formatter(String module) throws IOException {
        List<String> findings = new ArrayList<>();
        for (Path file : sources(module)) {
            cutLines(Files.readAllLines(file)).forEach(line -> findings.add(file.getFileName() + ": " + line));
        }
        assertThat(findings).isEmpty();
    }

    /** The formatter breaks a long line and leaves its last words on a line of their own, before the rest of the text. */
    private static List<String> cutLines(List<String> lines) {
        List<String> cut = new ArrayList<>();
        for (int i = 1; i + 1 < lines.size(); i++) {
            var before = COMMENT_LINE.matcher(lines.get(i - 1));
            var line = COMMENT_LINE.matcher(lines.get(i));
            var after = COMMENT_LINE.matcher(lines.get(i + 1));
            if (before.matches()
                    && line.matches()
                    && after.matches()
                    && before.group(1).length() > 60
                    && line.group(1).matches("[^@<{].{0,20}[^.:;{}!?]|[^@<{.]")) {
                cut.add(lines.get(i).strip());
            }
        }
        return cut;
    }

    private static List<Path> sources(String module) throws IOException {
        try (Stream<Path> files = Files.walk(ROOT.resolve(module).resolve("src"))) {
            return files.filter(path -> path.toString().endsWith(".java"))
                    .sorted()
                    .toList();
        }
    }

    /** Only the words of a test's comments are judged: nobody reads their beginnings in a tooltip. */
    private static boolean isTest(Path file) {
        return !file.toString().contains("/src/main/");
    }

    @Test
    void the_check_finds_what_it_should() {
        String twelve = "one two three four five six seven eight nine ten eleven twelve ";
        String text = "# " + twelve.repeat(3) + "\n\n" + twelve.repeat(3)
                + "\nends. It is short.\n\n- An item\n  goes on.\n" + "\n| " + twelve.repeat(3) + " |\n\n```\n"
                + twelve.repeat(3) + "\n```\nSee [twelve words](" + twelve + ").";
        assertThat(sentences(text).stream().map(ProseTest::words)).containsExactly(37, 3, 4, 3);
        assertThat(oddWords("It is told of, anew\nand in the\nmidst."))
                .containsExactly("told of", "anew", "in the midst");
        assertThat(
                        findings(
                                "String s = \"// anew\"; // anew\n/** The same. */\n/** What it is. */\n/* What? */\n/**\n * Go\n * by it. */"))
                .hasSize(4);
    }

    @Test
    void the_check_finds_a_line_that_was_cut() {
        String longLine = "// " + "many words ".repeat(8);
        assertThat(cutLines(List.of(longLine, "// of it", "// go on here.", "int i;")))
                .containsExactly("// of it");
        assertThat(cutLines(List.of(longLine, "// end.", "// Another sentence.")))
                .isEmpty();
    }

    private static List<String> findings(String source) {
        List<String> findings = new ArrayList<>();
        for (MatchResult found : COMMENT_OR_TEXT.matcher(source).results().toList()) {
            String comment = found.group();
            if (comment.startsWith("/")) {
                findings.addAll(oddWords(comment.replaceAll("\\s*\\n\\s*(?:\\*|//)?\\s*", " ")));
                if (EMPTY_START.matcher(comment).matches()) {
                    findings.add(comment.lines().limit(2).map(String::strip).collect(Collectors.joining(" ")));
                }
            }
        }
        return findings;
    }

    private static List<String> oddWords(String text) {
        return ODD_WORDS
                .matcher(text.replaceAll("\\s+", " "))
                .results()
                .map(MatchResult::group)
                .toList();
    }

    private static String withoutCode(String markdown) {
        return markdown.replaceAll("(?s)```.*?```", "")
                .replaceAll("(?s)<!--.*?-->", "")
                .replaceAll("`[^`\n]*`", "Code");
    }

    /** Of paragraphs and items of lists; headings, tables and code are none. */
    private static List<String> sentences(String markdown) {
        List<StringBuilder> paragraphs = new ArrayList<>();
        boolean open = false;
        for (String line : withoutCode(markdown).lines().map(String::strip).toList()) {
            var item = LIST_ITEM.matcher(line);
            if (line.isEmpty() || line.startsWith("#") || line.startsWith("|") || line.startsWith("![")) {
                open = false;
            } else if (item.matches() || !open) {
                paragraphs.add(new StringBuilder(item.matches() ? item.group(1) : line));
                open = true;
            } else {
                paragraphs.get(paragraphs.size() - 1).append(' ').append(line);
            }
        }
        return paragraphs.stream()
                .map(paragraph -> paragraph
                        .toString()
                        .replaceAll("\\[([^\\]]*)\\]\\([^)]*\\)", "$1")
                        .replace("**", ""))
                .flatMap(paragraph -> Arrays.stream(SENTENCE_END.split(paragraph)))
                .filter(sentence -> words(sentence) > 2)
                .toList();
    }

    private static int words(String sentence) {
        return (int) WORD.matcher(sentence).results().count();
    }
}
