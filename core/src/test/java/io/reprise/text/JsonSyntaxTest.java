// SPDX-License-Identifier: Apache-2.0
package io.reprise.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import org.junit.jupiter.api.Test;

class JsonSyntaxTest {

    @Test
    void json_is_accepted() {
        assertThat(List.of(
                        "null",
                        " true ",
                        "-0.5e+10",
                        "\"\"",
                        "\"\\u00e9\\n\\\"\"",
                        "{}",
                        "[]",
                        "[[],{}]",
                        "{\"a\":[1,{\"b\":null}],\"c\":\"d\"}",
                        "[ 1 , 2 ]",
                        "{ \"a\" : 1 }"))
                .allSatisfy(
                        json -> assertThat(JsonSyntax.require("value", json)).isEqualTo(json));
    }

    @Test
    void anything_else_is_refused_with_its_place() {
        List<String> texts = List.of(
                "",
                " ",
                "nul",
                "yes",
                "01",
                "1.",
                "+1",
                "NaN",
                "'a'",
                "\"a",
                "\"\\x\"",
                "\"\\u12g4\"",
                "\"a\nb\"",
                "[1,]",
                "[,1]",
                "[1 2]",
                "[1",
                "]",
                "{\"a\"}",
                "{\"a\":}",
                "{\"a\":1,}",
                "{a:1}",
                "{\"a\":1 \"b\":2}",
                "{\"a\":1",
                "[1}",
                "{} {}",
                "1 2");
        assertThat(texts)
                .allSatisfy(text -> assertThatIllegalArgumentException()
                        .isThrownBy(() -> JsonSyntax.require("value", text))
                        .withMessageMatching("value is not JSON: .+ at character \\d+"));
    }

    @Test
    void nothing_is_refused_and_depth_is_bounded_without_a_deep_stack() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> JsonSyntax.require("value", null))
                .withMessageContaining("value is missing");
        String deep = "[".repeat(1_000) + "]".repeat(1_000);
        assertThat(JsonSyntax.require("value", deep)).isEqualTo(deep);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> JsonSyntax.require("value", "[".repeat(1_000_000)))
                .withMessageContaining("nested deeper than 1000");
    }
}
