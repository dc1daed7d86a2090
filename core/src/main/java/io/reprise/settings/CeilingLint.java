// SPDX-License-Identifier: Apache-2.0
package io.reprise.settings;

import io.reprise.retry.RetryPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Finds policies that ask for more than the ceilings allow. Such a policy works, but within the ceiling.
 *
 * @since 0.1.0
 */
public final class CeilingLint {

    private CeilingLint() {}

    /**
     * Returns a sentence for each policy that a ceiling cuts, with the name of the policy.
     *
     * @param running policies of code by what they are of, such as {@code type 'bill'}
     */
    public static List<String> of(FleetSettings fleet, Map<String, RetryPolicy> running) {
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
        Integer attempts = ceilings.maxAttempts();
        if (attempts != null && policy.maxAttempts().isSet()) {
            policy.maxAttempts()
                    .toOptional()
                    .ifPresentOrElse(
                            asked -> {
                                if (asked > attempts) {
                                    warnings.add(text("maxAttempts", name, asked, attempts));
                                }
                            },
                            () -> warnings.add(text("maxAttempts", name, "unlimited", attempts)));
        }
        Duration longest = ceilings.deadline();
        if (longest != null && policy.deadline().isSet()) {
            policy.deadline()
                    .toOptional()
                    .ifPresentOrElse(
                            asked -> {
                                if (asked.compareTo(longest) > 0) {
                                    warnings.add(text("deadline", name, asked, longest));
                                }
                            },
                            () -> warnings.add(text("deadline", name, "none", longest)));
        }
    }

    private static String text(String field, String name, Object asked, Object ceiling) {
        return "The ceiling " + field + " " + ceiling + " is below the policy of " + name + ", which asks for " + asked
                + ": jobs get " + ceiling;
    }
}
