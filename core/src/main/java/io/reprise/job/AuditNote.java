// SPDX-License-Identifier: Apache-2.0
package io.reprise.job;

import org.jspecify.annotations.Nullable;

/**
 * The author of a change by hand, and the reason. A store writes the note with the change, in the same transaction.
 *
 * @param by the person or program; 1 to 100 characters, not blank
 * @param why the reason, cut to 500 characters; null if none was given
 * @param detail what exactly changed, for a change of a document, cut to 2,000 characters; null if the action says it
 * @since 0.1.0
 */
public record AuditNote(
        String by, @Nullable String why, @Nullable String detail) {

    static final int MAX_TEXT = 500;
    static final int MAX_DETAIL = 2_000;

    /**
     * Checks {@code by} and cuts the other texts.
     *
     * @throws NullPointerException if {@code by} is null
     * @throws IllegalArgumentException if {@code by} is blank or has more than 100 characters
     */
    public AuditNote {
        if (by.isBlank() || by.length() > 100) {
            throw new IllegalArgumentException("by must have 1 to 100 characters");
        }
        why = cut(why, MAX_TEXT);
        detail = cut(detail, MAX_DETAIL);
    }

    /**
     * Creates a note without a detail.
     *
     * @throws NullPointerException if {@code by} is null
     * @throws IllegalArgumentException if {@code by} is blank or has more than 100 characters
     */
    public AuditNote(String by, @Nullable String why) {
        this(by, why, null);
    }

    /**
     * Returns this note with a detail.
     *
     * @param what what exactly changed, cut to 2,000 characters
     */
    public AuditNote changing(String what) {
        return new AuditNote(by, why, what);
    }

    private static @Nullable String cut(@Nullable String text, int most) {
        if (text == null || text.length() <= most) {
            return text;
        }
        // Half of a surrogate pair is not text, and databases refuse it.
        return text.substring(0, Character.isHighSurrogate(text.charAt(most - 1)) ? most - 1 : most);
    }
}
