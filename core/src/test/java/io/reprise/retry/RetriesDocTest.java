// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.retry.RetryPlan.Step;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.DecimalFormat;
import java.text.DecimalFormatSymbols;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The tables of docs/retries.md are the same data as the code. */
class RetriesDocTest {

    private static final Path DOC = Path.of("..", "docs", "retries.md");

    @Test
    void the_delays_of_the_default_are_those_of_the_code() throws IOException {
        List<List<String>> rows = table("default-delays");
        assertThat(rows).hasSize(21);
        for (List<String> row : rows) {
            int retry = Integer.parseInt(row.get(0));
            if (retry <= 10_000) {
                Step step = RetryPlan.of(RetryPolicy.DEFAULT, retry).steps().get(retry - 1);
                assertThat(row)
                        .containsExactly(
                                row.get(0),
                                seconds(step.raw()),
                                seconds(step.min()),
                                seconds(step.max()),
                                seconds(step.mean()),
                                seconds(step.cumulativeMax()));
            } else {
                Delay drawn = RetryPolicy.DEFAULT.draw(retry, null, new SplittableRandom(1));
                assertThat(row.get(1)).isEqualTo(seconds(drawn.raw()));
            }
        }
    }

    @Test
    void the_list_of_presets_is_that_of_the_code() throws IOException {
        List<List<String>> rows = table("presets");
        assertThat(rows).extracting(row -> row.get(0)).containsExactlyElementsOf(Presets.names());
        for (List<String> row : rows) {
            Limit<Integer> attempts = Presets.get(row.get(0)).maxAttempts();
            assertThat(row.get(1))
                    .isEqualTo(attempts.toOptional().map(String::valueOf).orElse("unlimited"));
            assertThat(row.get(2)).isEqualTo(Presets.describe(row.get(0)));
        }
    }

    @Test
    void the_delays_of_the_presets_are_those_of_the_code() throws IOException {
        List<List<String>> rows = table("preset-delays");
        assertThat(rows).hasSizeGreaterThan(20);
        for (List<String> row : rows) {
            List<String> cells = RetryPlan.of(Presets.get(row.get(0)), 10).steps().stream()
                    .map(RetriesDocTest::range)
                    .toList();
            assertThat(row.subList(1, row.size())).as(row.get(0)).isEqualTo(cells);
        }
    }

    @Test
    void every_warning_code_is_documented() throws IOException {
        Path retry = Path.of("src", "main", "java", "io", "reprise", "retry");
        String source =
                Files.readString(retry.resolve("PolicyLint.java")) + Files.readString(retry.resolve("BranchLint.java"));
        Matcher code = Pattern.compile("(?:warn|Warning)\\(\\s*\"([a-z-]+)\"").matcher(source);
        Set<String> codes = new HashSet<>();
        while (code.find()) {
            codes.add(code.group(1));
        }
        assertThat(codes).hasSize(19);
        String doc = Files.readString(DOC);
        assertThat(codes).allSatisfy(each -> assertThat(doc).contains("| `" + each + "` |"));
    }

    @Test
    void the_json_example_is_a_policy() throws IOException {
        Matcher json = Pattern.compile("```json\n(.*?)```", Pattern.DOTALL).matcher(Files.readString(DOC));
        assertThat(json.find()).isTrue();
        assertThat(RetryPolicy.fromJson(json.group(1)).deadline().isNone()).isTrue();
    }

    private static String range(Step step) {
        return step.min().equals(step.max())
                ? seconds(step.min())
                : seconds(step.min()) + "\u2013" + seconds(step.max());
    }

    private static String seconds(Duration duration) {
        return new DecimalFormat("0.###", DecimalFormatSymbols.getInstance(Locale.ROOT))
                .format(duration.toNanos() / 1e9);
    }

    /** The body of the table after the comment with this name, cells without back-quotes. */
    private static List<List<String>> table(String name) throws IOException {
        String doc = Files.readString(DOC);
        String marker = "<!-- " + name + " -->\n";
        assertThat(doc).contains(marker);
        return doc.substring(doc.indexOf(marker) + marker.length())
                .lines()
                .takeWhile(line -> line.startsWith("|"))
                .skip(2)
                .map(line -> Arrays.stream(line.substring(1, line.length() - 1).split("\\|"))
                        .map(cell -> cell.trim().replace("`", ""))
                        .toList())
                .toList();
    }
}
