// SPDX-License-Identifier: Apache-2.0
package io.reprise.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class JsonMergeTest {

    /** The examples of RFC 7396 whose target and patch are objects. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{\"a\":\"b\"}|{\"a\":\"c\"}|{\"a\":\"c\"}",
                "{\"a\":\"b\"}|{\"b\":\"c\"}|{\"a\":\"b\",\"b\":\"c\"}",
                "{\"a\":\"b\"}|{\"a\":null}|{}",
                "{\"a\":\"b\",\"b\":\"c\"}|{\"a\":null}|{\"b\":\"c\"}",
                "{\"a\":[\"b\"]}|{\"a\":\"c\"}|{\"a\":\"c\"}",
                "{\"a\":\"c\"}|{\"a\":[\"b\"]}|{\"a\":[\"b\"]}",
                "{\"a\":{\"b\":\"c\"}}|{\"a\":{\"b\":\"d\",\"c\":null}}|{\"a\":{\"b\":\"d\"}}",
                "{\"a\":[{\"b\":\"c\"}]}|{\"a\":[1]}|{\"a\":[1]}",
                "{\"e\":null}|{\"a\":1}|{\"e\":null,\"a\":1}",
                "{}|{\"a\":{\"bb\":{\"ccc\":null}}}|{\"a\":{\"bb\":{}}}"
            })
    void a_patch_changes_what_it_names(String target, String patch, String result) {
        assertThat(JsonMerge.apply(target, patch)).isEqualTo(result);
        assertThat(JsonMerge.apply(result, patch)).as("a second time").isEqualTo(result);
    }

    @Test
    void what_the_patch_does_not_name_stays_as_it_is_written() {
        String target =
                " { \"n\" : 9007199254740993123 , \"f\":1.10e+2, \"t\":\"a\\\"}b\", \"l\":[ {\"x\" : [1, 2]} ] } ";
        assertThat(JsonMerge.apply(target, "{\"city\":\"Oslo\",\"big\":12345678901234567890}"))
                .isEqualTo("{\"n\":9007199254740993123,\"f\":1.10e+2,\"t\":\"a\\\"}b\",\"l\":[ {\"x\" : [1, 2]} ],"
                        + "\"city\":\"Oslo\",\"big\":12345678901234567890}");
    }

    @Test
    void a_name_is_the_same_however_it_is_escaped() {
        assertThat(JsonMerge.apply("{\"\\u0061\":1}", "{\"a\":2}")).isEqualTo("{\"a\":2}");
    }

    @ParameterizedTest
    @ValueSource(strings = {"[1]", "\"text\"", "null", "7", "", "{\"a\":1", "{\"a\":1,\"a\":2}"})
    void what_is_no_object_is_neither_patched_nor_a_patch(String json) {
        assertThatThrownBy(() -> JsonMerge.apply(json, "{\"b\":1}")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> JsonMerge.apply("{}", json)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void a_patch_that_is_nested_too_deep_is_refused() {
        String deep = "{\"a\":".repeat(40) + "1" + "}".repeat(40);
        assertThatThrownBy(() -> JsonMerge.require(deep)).hasMessageContaining("nested deeper than 32");
        assertThat(JsonMerge.apply(deep, "{\"b\":1}")).endsWith(",\"b\":1}");
    }
}
