// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.history;

/**
 * Something that must not happen, and did.
 *
 * @param rule a short name for the rule that was broken
 * @param sentence what was seen, for people
 */
public record Violation(String rule, String sentence) {

    @Override
    public String toString() {
        return rule + ": " + sentence;
    }
}
