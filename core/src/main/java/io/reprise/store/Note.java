// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import org.jspecify.annotations.Nullable;

/**
 * Who did something to a job or queue by hand, and why. Written with the change, in the same transaction.
 *
 * @param detail what exactly changed, for the log of a change to a document; null if that is plain from the action
 */
public record Note(
        String by, @Nullable String why, @Nullable String detail) {

    static final int MAX_TEXT = 500;
    static final int MAX_DETAIL = 2_000;

    public Note {
        if (by.isBlank() || by.length() > 100) {
            throw new IllegalArgumentException("by must have 1 to 100 characters");
        }
        why = cut(why, MAX_TEXT);
        detail = cut(detail, MAX_DETAIL);
    }

    public Note(String by, @Nullable String why) {
        this(by, why, null);
    }

    /** The same about a change. */
    public Note changing(String what) {
        return new Note(by, why, what);
    }

    private static @Nullable String cut(@Nullable String text, int most) {
        if (text == null || text.length() <= most) {
            return text;
        }
        // Half a surrogate pair is no text, and databases refuse it.
        return text.substring(0, Character.isHighSurrogate(text.charAt(most - 1)) ? most - 1 : most);
    }
}
