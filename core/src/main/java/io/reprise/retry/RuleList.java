// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import java.util.ArrayList;
import java.util.List;

/**
 * Where a rule added to a policy goes.
 *
 * <p>Rules are asked in order. What a user adds comes before the rules every policy starts with, or it could never
 * overrule them; what is never retried comes before what is.
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

    /** "Only these": the rules every policy starts with say what else to retry, so they go. */
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
