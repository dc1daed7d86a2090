// SPDX-License-Identifier: Apache-2.0
package io.reprise.settings;

import io.reprise.job.JobSpec;
import io.reprise.job.JobSpec.Needs;
import io.reprise.retry.RetryPolicy;
import io.reprise.text.Bounds;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BinaryOperator;

/**
 * Settings of the whole fleet, above those of code and file. {@link SettingsBook} keeps them in the store. Every worker
 * follows a change within 5 seconds.
 *
 * <p>Layers are joined field by field: job, type, resource, queue, default. Within each layer the store comes before
 * the file of the server, and the file before code. A job keeps the policy that was joined when it was enqueued.
 * Immutable.
 *
 * @param defaults settings for every job and worker
 * @param types settings by job type
 * @param queues settings by queue
 * @param resources settings by resource
 * @since 0.1.0
 */
public record FleetSettings(
        DefaultSettings defaults,
        Map<String, TypeSettings> types,
        Map<String, QueueSettings> queues,
        Map<String, ResourceSettings> resources) {

    /** Names of one kind at most. */
    public static final int MAX_NAMES = 1_000;

    /** Sets nothing. */
    public static final FleetSettings NONE = new FleetSettings(DefaultSettings.NONE, Map.of(), Map.of(), Map.of());

    /**
     * Checks the names.
     *
     * @throws IllegalArgumentException if a name does not have the form of {@link JobSpec#requireName}, or there are
     *     more than {@value #MAX_NAMES}
     */
    public FleetSettings {
        types = named("types", types);
        queues = named("queues", queues);
        resources = named("resources", resources);
    }

    private static <T> Map<String, T> named(String kind, Map<String, T> values) {
        Bounds.integer("the number of " + kind, values.size(), 0, MAX_NAMES);
        values.keySet().forEach(name -> JobSpec.requireName(kind, name));
        // Sorted, so that equal settings give equal text.
        return Collections.unmodifiableMap(new TreeMap<>(values));
    }

    /**
     * Reads settings.
     *
     * @throws IllegalArgumentException naming the field, its value and its bounds
     */
    public static FleetSettings fromJson(String json) {
        return SettingsJson.read(json);
    }

    /** Writes the settings. Equal settings give equal text, and {@link #fromJson} reads it. */
    public String toJson() {
        return SettingsJson.write(this);
    }

    /**
     * Returns a sentence for each policy that a ceiling cuts, for each limit or weight of a queue that another limit
     * makes useless, and for each burst of a resource, which has no effect.
     *
     * @param running further policies by what they are of, such as {@code type 'bill'}
     */
    public List<String> warnings(Map<String, RetryPolicy> running) {
        List<String> warnings = new ArrayList<>(CeilingLint.of(this, running));
        queues.forEach((name, queue) -> warnings.addAll(queue.rules().warnings(name)));
        resources.forEach((name, resource) -> {
            if (resource.hasUselessBurst()) {
                warnings.add("The rate of resource '" + name
                        + "' has a burst, which has no effect: calls are evenly spaced, but for half a second's worth."
                        + " Leave it out");
            }
        });
        return warnings;
    }

    /** Joins these settings with those below, field by field. */
    public FleetSettings orElse(FleetSettings below) {
        return new FleetSettings(
                defaults.orElse(below.defaults),
                joined(types, below.types, TypeSettings::orElse),
                joined(queues, below.queues, QueueSettings::orElse),
                joined(resources, below.resources, ResourceSettings::orElse));
    }

    /**
     * Returns the ceilings of a queue: its own, then those of the queue that its jobs name, if they have needs, then those
     * of the fleet.
     */
    public Ceilings ceilings(String queue) {
        return queues.getOrDefault(queue, QueueSettings.NONE)
                .ceilings()
                .orElse(queues.getOrDefault(Needs.base(queue), QueueSettings.NONE)
                        .ceilings())
                .orElse(defaults.ceilings());
    }

    /** Returns whether any ceiling is set. */
    public boolean hasCeilings() {
        return !defaults.ceilings().equals(Ceilings.NONE)
                || queues.values().stream().anyMatch(queue -> !queue.ceilings().equals(Ceilings.NONE));
    }

    private static <T> Map<String, T> joined(Map<String, T> above, Map<String, T> below, BinaryOperator<T> join) {
        Map<String, T> all = new TreeMap<>(below);
        above.forEach((name, value) -> all.merge(name, value, (lower, upper) -> join.apply(upper, lower)));
        return all;
    }
}
