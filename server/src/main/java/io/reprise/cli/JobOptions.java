// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli;

import io.reprise.cli.base.OptionText;
import io.reprise.server.http.Json;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import tools.jackson.databind.node.ObjectNode;

/** Options that describe a job to enqueue. */
final class JobOptions {

    @Option(names = "--payload", paramLabel = "JSON", description = "What the handler is given; {} unless given.")
    @Nullable
    String payload;

    @Option(names = "--queue", paramLabel = "NAME", description = "'default' unless given.")
    @Nullable
    String queue;

    @Option(names = "--priority", paramLabel = "N", description = "-9 to 9; higher runs first.")
    @Nullable
    Integer priority;

    @Option(names = "--delay", paramLabel = "TIME", description = "Due so long after it is stored, such as 10m.")
    @Nullable
    String delay;

    @Option(names = "--due-at", paramLabel = "TIME", description = "Due then, such as 2026-11-16T05:00:00Z.")
    @Nullable
    String dueAt;

    @Option(
            names = "--resource",
            paramLabel = "NAME",
            description = "What it calls: breaker and budget are kept for it.")
    @Nullable
    String resource;

    @Option(names = "--group", paramLabel = "NAME", description = "Takes turns with other groups of the queue.")
    @Nullable
    String group;

    @Option(names = "--tag", paramLabel = "NAME", description = "May be given several times.")
    @Nullable
    List<String> tags;

    @Option(names = "--payload-version", paramLabel = "N", description = "1 unless given.")
    @Nullable
    Integer version;

    @Option(names = "--unique-key", paramLabel = "KEY", description = "At most one live job holds it.")
    @Nullable
    String uniqueKey;

    @Option(
            names = "--key-rule",
            paramLabel = "RULE",
            description = "KEEP, REPLACE, REJECT or FOLLOW, if one does already.")
    @Nullable
    String keyRule;

    @Option(
            names = "--at-latest",
            paramLabel = "TIME",
            description = "Of REPLACE: due at the latest so long after the first with this key.")
    @Nullable
    String atLatest;

    @Option(
            names = "--needs",
            paramLabel = "LABEL",
            split = ",",
            description = "What the worker must offer, such as gpu.")
    @Nullable
    List<String> needs;

    @Option(names = "--timeout", paramLabel = "TIME", description = "How long one run may take.")
    @Nullable
    String timeout;

    @Option(
            names = "--policy",
            paramLabel = "NAME|JSON",
            description = "A preset, a stored policy, or the fields of one.")
    @Nullable
    String policy;

    @Option(names = "--max-attempts", paramLabel = "N", description = "Runs at most, the first one included.")
    @Nullable
    Integer maxAttempts;

    @Option(names = "--max-retries", paramLabel = "N", description = "Runs at most after the first.")
    @Nullable
    Integer maxRetries;

    ObjectNode json(String type) {
        ObjectNode job = Json.object();
        job.put("type", type);
        if (payload != null) {
            job.set("payload", OptionText.json("--payload", payload));
        }
        put(job, "queue", queue);
        put(job, "delay", delay);
        put(job, "dueAt", dueAt);
        put(job, "resource", resource);
        put(job, "group", group);
        if (needs != null) {
            job.set("needs", Json.tree(needs));
        }
        put(job, "key", uniqueKey);
        put(job, "keyRule", keyRule);
        put(job, "atLatest", atLatest);
        put(job, "timeout", timeout);
        if (priority != null) {
            job.put("priority", priority);
        }
        if (version != null) {
            job.put("version", version);
        }
        if (tags != null) {
            job.set("tags", Json.tree(tags));
        }
        if (policy != null) {
            job.set("policy", OptionText.policy("--policy", policy));
        }
        if (maxAttempts != null) {
            job.put("maxAttempts", maxAttempts);
        }
        if (maxRetries != null) {
            job.put("maxRetries", maxRetries);
        }
        return job;
    }

    private static void put(ObjectNode job, String name, @Nullable String value) {
        if (value != null) {
            job.put(name, value);
        }
    }
}
