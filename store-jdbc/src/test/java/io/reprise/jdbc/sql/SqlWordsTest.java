// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class SqlWordsTest {

    private static final Map<String, String> COLUMNS = Map.of("spec", "queue, type", "spec_new", "a = {new.a}");

    private static String text(SqlWords.Product product, String template) {
        return new SqlWords(product, COLUMNS).once(template);
    }

    @Test
    void a_word_has_its_text_on_each_database() {
        String template = "update t {by primary} set x = {now} where id {in :ids}";
        assertThat(text(SqlWords.Product.POSTGRESQL, template))
                .isEqualTo("update t  set x = reprise_now() where id = any (:ids)");
        assertThat(text(SqlWords.Product.MYSQL, template))
                .startsWith("update t force index (primary) set x = timestampdiff(")
                .endsWith("where id in (:ids...)");
        assertThat(text(SqlWords.Product.SQLITE, template)).endsWith("where id in (select value from json_each(:ids))");
    }

    @Test
    void a_word_can_stand_for_other_words() {
        assertThat(text(SqlWords.Product.POSTGRESQL, "{on_conflict (k, l)} {spec_new}"))
                .isEqualTo("on conflict (k, l) do update set a = excluded.a");
        assertThat(text(SqlWords.Product.MYSQL, "{on_conflict (k, l)} {spec_new}"))
                .isEqualTo("on duplicate key update a = values(a)");
        assertThat(text(SqlWords.Product.SQLITE, "select {clock}")).contains("unixepoch");
        assertThat(text(SqlWords.Product.SQLITE, "{base l.queue}")).endsWith("instr(l.queue, '@needs:') - 1 end)");
    }

    @Test
    void an_unknown_word_is_refused_and_empty_braces_are_text() {
        assertThatThrownBy(() -> text(SqlWords.Product.SQLITE, "select {nonsense}"))
                .hasMessageContaining("{nonsense}");
        assertThat(text(SqlWords.Product.POSTGRESQL, "'{}'::bigint[]")).isEqualTo("'{}'::bigint[]");
    }

    /**
     * A statement outside an insert's list of values binds at most four values by position. With more, or with one value
     * in two places, a reader has to count question marks: such a statement has names.
     */
    @Test
    void a_statement_with_many_values_names_them() throws IOException {
        Pattern block = Pattern.compile("\"\"\"(.*?)\"\"\"", Pattern.DOTALL);
        try (Stream<Path> files = Files.walk(Path.of("src/main/java"))) {
            List<String> counted = files.filter(file -> file.toString().endsWith(".java"))
                    .flatMap(file -> block.matcher(read(file)).results().map(found -> found.group(1)))
                    .filter(sql -> marks(sql.replaceAll("values \\([^\\n]*", "")) > 4)
                    .toList();
            assertThat(counted).isEmpty();
        }
    }

    private static long marks(String sql) {
        Matcher mark = Pattern.compile("\\?").matcher(sql);
        return mark.results().count();
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
