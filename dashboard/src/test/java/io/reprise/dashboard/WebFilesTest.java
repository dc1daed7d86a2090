// SPDX-License-Identifier: Apache-2.0
package io.reprise.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class WebFilesTest {

    private static final Path WEB = Path.of("src/main/web");
    private static final int OWN_CODE = 80_000;

    private final WebFiles files = new WebFiles("", "/ui/");

    @Test
    void every_file_of_the_folder_is_served() throws IOException {
        try (Stream<Path> list = Files.list(WEB)) {
            List<String> names =
                    list.map(file -> file.getFileName().toString()).sorted().toList();
            assertThat(Stream.concat(WebFiles.NAMES.stream(), Stream.of("index.html"))
                            .filter(name -> !name.equals("lit-html.js"))
                            .sorted())
                    .containsExactlyElementsOf(names);
        }
    }

    @Test
    void the_only_foreign_code_is_the_one_we_know() {
        byte[] lit = file("lit-html").content();
        assertThat(HexFormat.of().formatHex(WebFiles.sha256(lit)))
                .isEqualTo("b878e7f95dec8a9b6e9b217faca6b6a11bad82ebc44c0caa77419ed83edd81f2");
    }

    @Test
    void our_own_code_stays_small() {
        int own = files.files().entrySet().stream()
                .filter(file -> !file.getKey().startsWith("lit-html"))
                .mapToInt(file -> file.getValue().zipped().length)
                .sum();
        assertThat(own).isBetween(10_000, OWN_CODE);
    }

    @Test
    void the_page_names_files_by_their_hash_and_nothing_elsewhere() {
        assertThat(files.page()).doesNotContain("@").contains("importmap").doesNotContain("http:", "https:");
        files.files().keySet().stream()
                .filter(name -> name.endsWith(".js"))
                .forEach(name -> assertThat(files.page()).contains("/ui/" + name));
    }

    @Test
    void a_page_below_a_path_knows_the_path() {
        WebFiles below = new WebFiles("/admin/jobs", "/ui/");
        assertThat(below.page()).contains("data-base=\"/admin/jobs\"").contains("\"/admin/jobs/ui/app-");
        assertThat(files.page()).contains("data-base=\"\"");
    }

    @Test
    void the_policy_allows_no_inline_code_but_the_import_map() {
        assertThat(files.contentSecurityPolicy())
                .startsWith("default-src 'none'; script-src 'self' 'sha256-")
                .doesNotContain("unsafe");
    }

    @Test
    void no_file_sets_a_style_or_a_handler_in_markup_or_writes_html_as_text() {
        // The policy forbids inline styles; innerHTML and the like would run what a caller wrote.
        Pattern bad =
                Pattern.compile("\\sstyle=|\\son[a-z]+=\"|innerHTML|outerHTML|insertAdjacentHTML|unsafeHTML|eval\\(");
        files.files().entrySet().stream()
                .filter(file -> file.getKey().endsWith(".js") && !file.getKey().startsWith("lit-html"))
                .forEach(file -> assertThat(
                                new String(file.getValue().content(), java.nio.charset.StandardCharsets.UTF_8))
                        .as(file.getKey())
                        .doesNotContainPattern(bad));
    }

    private WebFiles.WebFile file(String start) {
        return files.files().entrySet().stream()
                .filter(file -> file.getKey().startsWith(start))
                .map(Map.Entry::getValue)
                .findFirst()
                .orElseThrow();
    }
}
