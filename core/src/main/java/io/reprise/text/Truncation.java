// SPDX-License-Identifier: Apache-2.0
package io.reprise.text;

/** Cuts text to a length, says how much was cut, and never leaves half a surrogate pair. */
public final class Truncation {

    public static final int MESSAGE = 2_000;
    public static final int TRACE = 16_000;

    private static final int ROOM_FOR_NOTE = 40;

    private Truncation() {}

    public static String cut(String text, int max) {
        return text.length() <= max ? text : cut(text, text.length(), max);
    }

    /** Cuts a text of which only the beginning is present but the length is known. */
    public static String cut(CharSequence beginning, long length, int max) {
        if (length <= max) {
            return beginning.toString();
        }
        int keep = max - ROOM_FOR_NOTE;
        if (Character.isHighSurrogate(beginning.charAt(keep - 1))) {
            keep--;
        }
        return beginning.subSequence(0, keep) + "... (" + (length - keep) + " more characters)";
    }
}
