// SPDX-License-Identifier: Apache-2.0
package io.reprise.settings;

import io.reprise.retry.Limit;
import io.reprise.retry.RetryPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Finds policies that ask for more than the ceilings allow. Such a policy works, but within the ceiling. */
final class CeilingLint {

    /** Takes a limit above its ceiling. The value is null if the policy asks for no limit. */
    private interface Sink {
        void found(String field, @Nullable Object value, String branch, Object ceiling);
    }

    private CeilingLint() {}

    /**
     * Returns a sentence for each policy that a ceiling cuts, with the name of the policy.
     *
     * @param running policies of code by what they are of, such as {@code type 'bill'}
     */
    static List<String> of(FleetSettings fleet, Map<String, RetryPolicy> running) {
        Map<String, RetryPolicy> named = new TreeMap<>(running);
        fleet.types().forEach((name, type) -> named.put("type '" + name + "'", type.policy()));
        fleet.resources().forEach((name, resource) -> named.put("resource '" + name + "'", resource.policy()));
        named.put("defaults", fleet.defaults().policy());
        List<String> warnings = new ArrayList<>();
        named.forEach(
                (name, policy) -> add(warnings, name, policy, fleet.defaults().ceilings()));
        fleet.queues()
                .forEach((name, queue) -> add(warnings, "queue '" + name + "'", queue.policy(), fleet.ceilings(name)));
        return warnings;
    }

    private static void add(List<String> warnings, String name, RetryPolicy policy, Ceilings ceilings) {
        compare(policy, ceilings, (field, value, branch, ceiling) -> {
            String none = field.equals("deadline") ? "none" : "unlimited";
            warnings.add("The ceiling " + field + " " + ceiling + " is below the policy of " + name
                    + ", which asks for " + (value == null ? none : value) + branch + ": jobs get " + ceiling);
        });
    }

    /**
     * Returns a sentence for each policy that names a number above its ceiling. A policy that asks for unlimited
     * attempts or no deadline is not among them: it asks for as much as the ceiling allows.
     *
     * <p>Jobs of a type, of a resource or with a named policy may be in any queue. So their policies are compared with
     * the highest ceiling of any queue.
     *
     * @param named further policies by what they are, such as {@code policy 'gold'}
     */
    static List<String> contradictions(FleetSettings fleet, Map<String, RetryPolicy> named) {
        Map<String, RetryPolicy> anywhere = new TreeMap<>(named);
        anywhere.put("defaults: policy", fleet.defaults().policy());
        fleet.types().forEach((name, type) -> anywhere.put("types/" + name + ": policy", type.policy()));
        fleet.resources()
                .forEach((name, resource) -> anywhere.put("resources/" + name + ": policy", resource.policy()));
        List<String> found = new ArrayList<>();
        Ceilings highest = highest(fleet);
        anywhere.forEach((name, policy) -> refuse(found, name, policy, highest));
        fleet.queues()
                .forEach((name, queue) ->
                        refuse(found, "queues/" + name + ": policy", queue.policy(), fleet.ceilings(name)));
        return found;
    }

    private static void refuse(List<String> found, String name, RetryPolicy policy, Ceilings ceilings) {
        compare(policy, ceilings, (field, value, branch, ceiling) -> {
            if (value != null) {
                found.add(name + "." + field + " is " + value + branch + " but must be at most " + ceiling
                        + ", which is the ceiling");
            }
        });
    }

    private static Ceilings highest(FleetSettings fleet) {
        Integer attempts = fleet.defaults().ceilings().maxAttempts();
        Duration deadline = fleet.defaults().ceilings().deadline();
        for (QueueSettings queue : fleet.queues().values()) {
            attempts = higher(attempts, queue.ceilings().maxAttempts());
            deadline = higher(deadline, queue.ceilings().deadline());
        }
        return new Ceilings(attempts, deadline, null, null);
    }

    /** Without a ceiling of the fleet, queues without one of their own have none. */
    private static <T extends Comparable<T>> @Nullable T higher(@Nullable T highest, @Nullable T own) {
        return highest == null || own == null || own.compareTo(highest) <= 0 ? highest : own;
    }

    /** Only limits that the policy sets itself count, those of its branches too. */
    private static void compare(RetryPolicy policy, Ceilings ceilings, Sink sink) {
        compare("maxAttempts", policy.maxAttempts(), "", ceilings.maxAttempts(), sink);
        policy.branches()
                .forEach(branch -> compare(
                        "maxAttempts",
                        branch.retry().maxAttempts(),
                        " " + branch.name(),
                        ceilings.maxAttempts(),
                        sink));
        compare("deadline", policy.deadline(), "", ceilings.deadline(), sink);
    }

    private static <T extends Comparable<T>> void compare(
            String field, Limit<T> limit, String branch, @Nullable T ceiling, Sink sink) {
        if (ceiling != null && limit.isSet()) {
            T value = limit.toOptional().orElse(null);
            if (value == null || value.compareTo(ceiling) > 0) {
                sink.found(field, value, branch, ceiling);
            }
        }
    }
}
