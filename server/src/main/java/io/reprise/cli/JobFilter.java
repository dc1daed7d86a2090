// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli;

import io.reprise.server.client.ServerTarget;
import io.reprise.server.config.Durations;
import io.reprise.server.http.Json;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import tools.jackson.databind.node.ObjectNode;

/** Options that choose jobs. */
final class JobFilter {

    @Option(names = "--queue", paramLabel = "NAME", description = "Only of this queue.")
    @Nullable
    String queue;

    @Option(names = "--type", paramLabel = "NAME", description = "Only of this type.")
    @Nullable
    String type;

    @Option(names = "--resource", paramLabel = "NAME", description = "Only of this resource.")
    @Nullable
    String resource;

    @Option(names = "--tag", paramLabel = "NAME", description = "Only with this tag.")
    @Nullable
    String tag;

    @Option(
            names = "--fingerprint",
            paramLabel = "HEX",
            description = "Only those that last failed of this error; see 'reprise dead groups'.")
    @Nullable
    String fingerprint;

    @Option(names = "--schedule", paramLabel = "NAME", description = "Only those this schedule created.")
    @Nullable
    String schedule;

    @Option(
            names = "--since",
            paramLabel = "TIME",
            description = "Only those created then or later: 2026-11-16T05:00:00Z, or 2h for two hours ago.")
    @Nullable
    String since;

    @Option(names = "--before", paramLabel = "TIME", description = "Only those created before; as --since.")
    @Nullable
    String before;

    boolean isEmpty() {
        return values().isEmpty();
    }

    ServerTarget on(ServerTarget target) {
        ServerTarget filtered = target;
        for (Map.Entry<String, String> each : values().entrySet()) {
            filtered = filtered.with(each.getKey(), each.getValue());
        }
        return filtered;
    }

    ObjectNode json() {
        ObjectNode object = Json.object();
        values().forEach(object::put);
        return object;
    }

    private Map<String, String> values() {
        Map<String, String> values = new LinkedHashMap<>();
        put(values, "queue", queue);
        put(values, "type", type);
        put(values, "resource", resource);
        put(values, "tag", tag);
        put(values, "fingerprint", fingerprint);
        put(values, "schedule", schedule);
        put(values, "since", since == null ? null : time(since));
        put(values, "before", before == null ? null : time(before));
        return values;
    }

    private static void put(Map<String, String> values, String name, @Nullable String value) {
        if (value != null) {
            values.put(name, value);
        }
    }

    /** A duration means that long ago. The API checks any other text. */
    private static String time(String text) {
        try {
            return InstantSource.system().instant().minus(Durations.parse(text)).toString();
        } catch (IllegalArgumentException e) {
            return text;
        }
    }
}
