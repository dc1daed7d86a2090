// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.terminal;

import tools.jackson.core.StreamWriteFeature;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.json.JsonMapper;

/** How commands write JSON: members in the order they are declared, numbers never in scientific notation. */
public final class JsonOutput {

    private static final JsonMapper MAPPER = JsonMapper.builder()
            .disable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
            .enable(StreamWriteFeature.WRITE_BIGDECIMAL_AS_PLAIN)
            .build();

    private JsonOutput() {}

    public static String write(Object value) {
        return MAPPER.writeValueAsString(value);
    }

    public static JsonMapper mapper() {
        return MAPPER;
    }
}
