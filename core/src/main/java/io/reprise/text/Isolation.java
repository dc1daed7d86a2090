// SPDX-License-Identifier: Apache-2.0
package io.reprise.text;

/** Puts text that a person or a program wrote into a sentence of ours, so that it does not turn the words beside it. */
public final class Isolation {

    private static final char FIRST_STRONG_ISOLATE = '\u2068';
    private static final char POP_ISOLATE = '\u2069';

    private Isolation() {}

    /**
     * Returns the text in one line, without characters that set a direction. If it has letters that run from right to
     * left, it is isolated from what follows.
     */
    public static String of(String text) {
        StringBuilder plain = new StringBuilder(text.length() + 2);
        boolean turns = false;
        for (int i = 0; i < text.length(); ) {
            int c = text.codePointAt(i);
            i += Character.charCount(c);
            turns |= isFromRight(c);
            plain.appendCodePoint(Character.isISOControl(c) || isLineEnd(c) || setsDirection(c) ? ' ' : c);
        }
        return turns ? FIRST_STRONG_ISOLATE + plain.toString() + POP_ISOLATE : plain.toString();
    }

    private static boolean isFromRight(int c) {
        byte direction = Character.getDirectionality(c);
        return direction == Character.DIRECTIONALITY_RIGHT_TO_LEFT
                || direction == Character.DIRECTIONALITY_RIGHT_TO_LEFT_ARABIC;
    }

    private static boolean isLineEnd(int c) {
        return Character.getType(c) == Character.LINE_SEPARATOR
                || Character.getType(c) == Character.PARAGRAPH_SEPARATOR;
    }

    /** Marks, embeddings, overrides and isolates. */
    private static boolean setsDirection(int c) {
        return c == 0x061C
                || c == 0x200E
                || c == 0x200F
                || (c >= 0x202A && c <= 0x202E)
                || (c >= 0x2066 && c <= 0x2069);
    }
}
