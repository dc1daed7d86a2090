// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.terminal;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.server.http.Json;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class CellsTest {

    @Test
    void a_count_that_may_be_higher_has_a_plus() {
        JsonNode stats = Json.parse("{\"counts\":{\"PENDING\":1100,\"RUNNING\":2},\"countsAtLeast\":[\"PENDING\"]}");
        assertThat(Cells.count(stats, "PENDING")).isEqualTo("1100+");
        assertThat(Cells.count(stats, "RUNNING")).isEqualTo("2");
    }
}
