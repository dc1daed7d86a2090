// SPDX-License-Identifier: Apache-2.0
package io.reprise.text;

/**
 * Finds half surrogate pairs. Such text has no form in UTF-8: each database refuses or replaces it in its own way, so two
 * different keys could become one.
 */
public final class SurrogatePairs {

    private SurrogatePairs() {}

    /** Whether every surrogate of the text has its other half. */
    public static boolean areWhole(CharSequence text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (Character.isHighSurrogate(c) && i + 1 < text.length() && Character.isLowSurrogate(text.charAt(i + 1))) {
                i++;
            } else if (Character.isSurrogate(c)) {
                return false;
            }
        }
        return true;
    }
}
