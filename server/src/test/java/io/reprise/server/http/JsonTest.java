// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.JobState;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class JsonTest {

    private record Pair(int first, String second) {}

    @Test
    void what_views_are_made_of_is_written_as_the_mapper_writes_it() {
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("text", "quote \" and \u00e9 \u20ac \ud83d\ude00 \n");
        view.put("null", null);
        view.put("int", -1);
        view.put("long", Long.MAX_VALUE);
        view.put("double", 0.1);
        view.put("decimal", new BigDecimal("1.50"));
        view.put("flag", true);
        view.put("time", Instant.parse("2026-01-31T12:00:00.123456Z"));
        view.put("state", JobState.RUNNING);
        view.put("list", Arrays.asList(1, null, "x", List.of(), Map.of()));
        view.put("set", Set.of("a"));
        view.put("byState", Map.of(JobState.FAILED, 3L));
        view.put("raw", Json.raw("{\"a\": [1, 2]}"));
        view.put("node", Json.parse("{\"b\":{}}"));
        view.put("record", new Pair(1, "two"));
        view.put("array", new int[] {1, 2});
        assertThat(new String(Json.bytes(view), StandardCharsets.UTF_8)).isEqualTo(Json.text(view));
        assertThat(new String(Json.bytes(List.of()), StandardCharsets.UTF_8)).isEqualTo("[]");
    }
}
