// SPDX-License-Identifier: Apache-2.0
package io.reprise.fairness;

import io.reprise.job.JobSpec;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * How groups and types of jobs share a queue. Immutable: each method returns a copy.
 *
 * @param weights jobs per turn by the name of a group, 1 to 1000. A name that ends with {@code *} stands for all
 *     groups that begin with the text before it. An exact name wins over a beginning, and a longer beginning over a
 *     shorter one. Groups that no name fits have weight 1
 * @param limits limits of each group, by the name of a group or a beginning, as for weights
 * @param types limits of job types within the queue, by the name of the type
 * @param most how many jobs of a type one claim may take, by the name of the type: what the worker has room for
 * @param ownRate how many jobs of the queue may start in a time, all groups together; {@link FlowLimit#NONE} for any
 *     number, null if these rules do not say
 * @param goal how soon jobs should start; null if that is not measured
 * @since 0.1.0
 */
public record GroupRules(
        Map<String, Integer> weights,
        Map<String, FlowLimit> limits,
        Map<String, FlowLimit> types,
        Map<String, Integer> most,
        @Nullable FlowLimit ownRate,
        @Nullable StartGoal goal) {

    /** All groups have weight 1, and nothing is limited. */
    public static final GroupRules EQUAL = new GroupRules(Map.of(), Map.of(), Map.of(), Map.of(), null, null);

    /** The greatest number of names with a weight of their own. */
    public static final int MAX_WEIGHTS = 1_000;

    private static final int MAX_WEIGHT = 1_000;

    private static final String ANY_END = "*";

    /**
     * Checks and copies the weights.
     *
     * @throws IllegalArgumentException if a weight is not 1 to 1000, a name is not the name or beginning of a group,
     *     there are more than {@value #MAX_WEIGHTS} names, or the rate limits what runs
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
        if (limits.size() > MAX_WEIGHTS) {
            throw new IllegalArgumentException(
                    "a queue has limits for at most " + MAX_WEIGHTS + " names, not " + limits.size());
        }
        limits.keySet().stream()
                .filter(name -> !name.equals(ANY_END))
                .forEach(name -> JobSpec.requireName("group", beginning(name)));
        if (types.size() > MAX_WEIGHTS) {
            throw new IllegalArgumentException(
                    "a queue has limits for at most " + MAX_WEIGHTS + " types, not " + types.size());
        }
        types.forEach((name, limit) -> {
            JobSpec.requireName("type", name);
            if (limit.ordered()) {
                throw new IllegalArgumentException("type '" + name + "' cannot be in order: only groups can");
            }
        });
        if (ownRate != null && ownRate.running() != null) {
            throw new IllegalArgumentException("the rate of a queue must not limit what runs: limit the queue itself");
        }
        weights = Map.copyOf(weights);
        limits = Map.copyOf(limits);
        types = Map.copyOf(types);
        most = Map.copyOf(most);
    }

    /** Creates rules without a goal for starts. */
    public GroupRules(
            Map<String, Integer> weights,
            Map<String, FlowLimit> limits,
            Map<String, FlowLimit> types,
            Map<String, Integer> most,
            @Nullable FlowLimit ownRate) {
        this(weights, limits, types, most, ownRate, null);
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
        return new GroupRules(changed, limits, types, most, ownRate, goal);
    }

    /**
     * Limits each group, or some of them. A second limit of the same name adds a rate to a number of running jobs, or
     * replaces one of the same kind.
     *
     * @param name name of a group, or its beginning and {@code *}; {@code *} for all groups
     * @throws IllegalArgumentException if the name is refused, or there are too many names
     */
    public GroupRules limit(String name, FlowLimit limit) {
        Map<String, FlowLimit> changed = new TreeMap<>(limits);
        changed.merge(name, limit, FlowLimit::with);
        return new GroupRules(weights, changed, types, most, ownRate, goal);
    }

    /**
     * Limits a job type within the queue. A second limit of the same type adds a rate to a number of running jobs, or
     * replaces one of the same kind.
     *
     * @param type name of the type
     * @throws IllegalArgumentException if the name is refused, or there are too many names
     */
    public GroupRules type(String type, FlowLimit limit) {
        Map<String, FlowLimit> changed = new TreeMap<>(types);
        changed.merge(type, limit, FlowLimit::with);
        return new GroupRules(weights, limits, changed, most, ownRate, goal);
    }

    /** Sets how many jobs of each of these types one claim may take. Other types may fill it. */
    public GroupRules taking(Map<String, Integer> atMost) {
        return new GroupRules(weights, limits, types, atMost, ownRate, goal);
    }

    /**
     * Returns a sentence for each limit or weight that another limit makes useless.
     *
     * @param queue name of the queue, used in the sentences
     */
    public List<String> warnings(String queue) {
        return FlowLint.of(queue, this);
    }

    /** Joins these rules with those below, name by name. {@link FlowLimit#NONE} takes a limit below away. */
    public GroupRules orElse(GroupRules below) {
        return new GroupRules(
                joined(weights, below.weights),
                joined(limits, below.limits),
                joined(types, below.types),
                joined(most, below.most),
                ownRate == null ? below.ownRate : ownRate,
                goal == null ? below.goal : goal);
    }

    private static <T> Map<String, T> joined(Map<String, T> above, Map<String, T> below) {
        Map<String, T> all = new TreeMap<>(below);
        all.putAll(above);
        return all;
    }

    /** Returns how many jobs of the queue may start in a time, all groups together; {@link FlowLimit#NONE} for any. */
    public FlowLimit rate() {
        return ownRate == null ? FlowLimit.NONE : ownRate;
    }

    /**
     * Limits how many jobs of the queue start in a time.
     *
     * @throws IllegalArgumentException if {@code limit} limits what runs
     */
    public GroupRules rate(FlowLimit limit) {
        return new GroupRules(weights, limits, types, most, limit, goal);
    }

    /**
     * Sets how soon jobs of the queue should start.
     *
     * @param startGoal null to measure nothing
     */
    public GroupRules goal(@Nullable StartGoal startGoal) {
        return new GroupRules(weights, limits, types, most, ownRate, startGoal);
    }

    /** Returns whether jobs that may start late come first within their priority. */
    public boolean isLateFirst() {
        return goal != null && goal.lateFirst();
    }

    /** Returns whether anything is limited, or jobs at risk come first: then a claim looks at single jobs. */
    public boolean isLimited() {
        return !limits.isEmpty() || isLimitedByType() || rate().isRate() || isLateFirst();
    }

    /** Returns whether some groups keep their order: see {@link FlowLimit#inOrder}. */
    public boolean isOrdered() {
        return limits.values().stream().anyMatch(FlowLimit::ordered);
    }

    /** Returns whether a limit or a claim's room depends on the type of a job. */
    public boolean isLimitedByType() {
        return !types.isEmpty() || !most.isEmpty();
    }

    /** Returns the limits of this type. */
    public FlowLimit limitOfType(String type) {
        FlowLimit limit = types.get(type);
        return limit == null ? FlowLimit.NONE : limit;
    }

    /** Returns the limits of this group: those of its name, else of the longest beginning that fits. */
    public FlowLimit limitOf(String group) {
        FlowLimit limit = limits.isEmpty() ? FlowLimit.NONE : found(limits, group);
        return limit == null ? FlowLimit.NONE : limit;
    }

    /**
     * Returns how many jobs a turn of this group has.
     *
     * @param group name of the group; empty for the jobs without a group
     */
    public int weightOf(String group) {
        Integer weight = weights.isEmpty() ? null : found(weights, group);
        return weight == null ? 1 : weight;
    }

    private static <T> @Nullable T found(Map<String, T> values, String group) {
        T found = values.get(group);
        for (int end = group.length(); found == null && end >= 0; end--) {
            found = values.get(group.substring(0, end) + ANY_END);
        }
        return found;
    }

    private static String beginning(String name) {
        return name.endsWith(ANY_END) ? name.substring(0, name.length() - 1) : name;
    }
}
