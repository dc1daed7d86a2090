// SPDX-License-Identifier: Apache-2.0
package io.reprise.fairness;

import io.reprise.job.JobSpec;
import java.util.Map;
import java.util.TreeMap;

/**
 * How the groups of a queue share it. Immutable: each method returns a copy.
 *
 * @param weights jobs per turn by the name of a group, 1 to 1000. A name that ends with {@code *} stands for all
 *     groups that begin with the text before it. An exact name wins over a beginning, and a longer beginning over a
 *     shorter one. Groups that no name fits have weight 1
 * @since 0.1.0
 */
public record GroupRules(Map<String, Integer> weights) {

    /** All groups have weight 1. */
    public static final GroupRules EQUAL = new GroupRules(Map.of());

    /** The greatest number of names with a weight of their own. */
    public static final int MAX_WEIGHTS = 1_000;

    private static final int MAX_WEIGHT = 1_000;

    private static final String ANY_END = "*";

    /**
     * Checks and copies the weights.
     *
     * @throws IllegalArgumentException if a weight is not 1 to 1000, a name is not the name or beginning of a group,
     *     or there are more than {@value #MAX_WEIGHTS} names
     */
    public GroupRules {
        if (weights.size() > MAX_WEIGHTS) {
            throw new IllegalArgumentException(
                    "a queue has weights for at most " + MAX_WEIGHTS + " names, not " + weights.size());
        }
        weights.forEach((name, weight) -> {
            if (!name.equals(ANY_END)) {
                JobSpec.requireName("group", beginning(name));
            }
            if (weight < 1 || weight > MAX_WEIGHT) {
                throw new IllegalArgumentException("weight of group '" + name + "' must be 1 to 1000, not " + weight);
            }
        });
        weights = Map.copyOf(weights);
    }

    /**
     * Sets the weight of a group, or of all groups that begin alike.
     *
     * @param name name of a group, or its beginning and {@code *}
     * @param weight jobs per turn, 1 to 1000
     * @throws IllegalArgumentException if the weight or the name is refused, or there are too many names
     */
    public GroupRules weight(String name, int weight) {
        Map<String, Integer> changed = new TreeMap<>(weights);
        changed.put(name, weight);
        return new GroupRules(changed);
    }

    /**
     * Returns how many jobs a turn of this group has.
     *
     * @param group name of the group; empty for the jobs without a group
     */
    public int weightOf(String group) {
        if (weights.isEmpty()) {
            return 1;
        }
        Integer exact = weights.get(group);
        for (int end = group.length(); exact == null && end >= 0; end--) {
            exact = weights.get(group.substring(0, end) + ANY_END);
        }
        return exact == null ? 1 : exact;
    }

    private static String beginning(String name) {
        return name.endsWith(ANY_END) ? name.substring(0, name.length() - 1) : name;
    }
}
