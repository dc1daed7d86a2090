// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ETagsTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\u0000',
            value = {
                "\"1\"          | true",
                "W/\"1\"        | true",
                "\"0\", \"1\"   | true",
                "\"0\",W/\"1\"  | true",
                "*              | true",
                "\"0\"          | false",
                "1              | false",
                "\"11\"         | false"
            })
    void a_condition_names_a_tag_or_not(String condition, boolean named) {
        assertThat(ETags.match(condition, "\"1\"")).isEqualTo(named);
        assertThat(ETags.match(null, "\"1\"")).isFalse();
    }
}
