// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.client;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A path with its query, each part encoded. Immutable. */
public final class ServerTarget {

    private final String path;
    private final Map<String, String> query;

    private ServerTarget(String path, Map<String, String> query) {
        this.path = path;
        this.query = query;
    }

    /**
     * Returns a path of these parts, which may contain any characters:
     * {@code of("jobs", "17", "retry")} is /v1/jobs/17/retry.
     */
    public static ServerTarget of(String... parts) {
        StringBuilder path = new StringBuilder("/v1");
        for (String part : parts) {
            path.append('/').append(encode(part));
        }
        return new ServerTarget(path.toString(), Map.of());
    }

    /** Adds a parameter, unless it is null. */
    public ServerTarget with(String name, @Nullable Object value) {
        if (value == null) {
            return this;
        }
        Map<String, String> more = new LinkedHashMap<>(query);
        more.put(name, value.toString());
        return new ServerTarget(path, more);
    }

    @Nullable
    String parameter(String name) {
        return query.get(name);
    }

    @Override
    public String toString() {
        return query.isEmpty()
                ? path
                : path + "?"
                        + query.entrySet().stream()
                                .map(each -> encode(each.getKey()) + "=" + encode(each.getValue()))
                                .collect(Collectors.joining("&"));
    }

    private static String encode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
