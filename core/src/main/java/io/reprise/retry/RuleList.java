// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import io.reprise.failure.Rule;
import io.reprise.text.Truncation;
import java.util.ArrayList;
import java.util.List;

/**
 * The place of a rule that is added to a policy.
 *
 * <p>Rules are asked in order. A rule that a user adds comes before the default rules, otherwise it could never
 * overrule them. Rules of {@code neverRetryOn} come before rules of {@code retryOn}.
 */
final class RuleList {

    private static final String NEVER = "neverRetryOn:";
    private static final String ONLY = "retryOn:";

    private RuleList() {}

    static List<Rule> with(List<Rule> rules, Rule added) {
        return inserted(rules, added, firstBuiltIn(rules));
    }

    static List<Rule> withNever(List<Rule> rules, Rule added) {
        int index = 0;
        while (index < firstBuiltIn(rules) && !rules.get(index).name().startsWith(ONLY)) {
            index++;
        }
        return inserted(rules, added, index);
    }

    /**
     * Adds a rule of {@code retryOn}, which means "only these". It removes the default rules, because they say what
     * else is retried.
     */
    static List<Rule> withOnly(List<Rule> rules, Rule added) {
        List<Rule> own = new ArrayList<>(rules);
        own.removeIf(DefaultRules.RULES::contains);
        own.add(added);
        return own;
    }

    static String never(String item) {
        return named(NEVER, item);
    }

    static String only(String item) {
        return named(ONLY, item);
    }

    private static String named(String prefix, String item) {
        return Truncation.cut(prefix + item, 200);
    }

    private static int firstBuiltIn(List<Rule> rules) {
        int index = 0;
        while (index < rules.size() && !DefaultRules.RULES.contains(rules.get(index))) {
            index++;
        }
        return index;
    }

    private static List<Rule> inserted(List<Rule> rules, Rule added, int index) {
        List<Rule> all = new ArrayList<>(rules);
        all.add(index, added);
        return all;
    }
}
