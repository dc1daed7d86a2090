// SPDX-License-Identifier: Apache-2.0
package io.reprise.history;

/**
 * A broken rule.
 *
 * @param rule a short name of the rule
 * @param sentence what was seen, for people
 */
public record Violation(String rule, String sentence) {

    @Override
    public String toString() {
        return rule + ": " + sentence;
    }
}
