// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import org.jspecify.annotations.Nullable;

/** Who did something to a job or queue by hand, and why. Written with the change, in the same transaction. */
public record Note(String by, @Nullable String why) {

    static final int MAX_TEXT = 500;

    public Note {
        if (by.isBlank() || by.length() > 100) {
            throw new IllegalArgumentException("by must have 1 to 100 characters");
        }
        if (why != null && why.length() > MAX_TEXT) {
            // Half a surrogate pair is no text, and databases refuse it.
            why = why.substring(0, Character.isHighSurrogate(why.charAt(MAX_TEXT - 1)) ? MAX_TEXT - 1 : MAX_TEXT);
        }
    }
}
