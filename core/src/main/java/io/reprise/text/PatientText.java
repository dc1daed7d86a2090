// SPDX-License-Identifier: Apache-2.0
package io.reprise.text;

import java.util.regex.Pattern;

/**
 * Text that can be read only a limited number of times.
 *
 * <p>Message patterns come from configuration. A pattern with catastrophic backtracking would otherwise hold a worker
 * for hours. When the limit is reached, the pattern counts as no match.
 */
public final class PatientText implements CharSequence {

    private static final int STEPS = 1_000_000;

    private static final class OutOfPatience extends RuntimeException {
        private static final long serialVersionUID = 1L;

        OutOfPatience() {
            super(null, null, false, false);
        }
    }

    private final String text;
    private int steps = STEPS;

    private PatientText(String text) {
        this.text = text;
    }

    public static boolean contains(String text, Pattern pattern) {
        try {
            return pattern.matcher(new PatientText(text)).find();
        } catch (OutOfPatience | StackOverflowError tooHard) {
            return false;
        }
    }

    @Override
    public char charAt(int index) {
        if (--steps < 0) {
            throw new OutOfPatience();
        }
        return text.charAt(index);
    }

    @Override
    public int length() {
        return text.length();
    }

    @Override
    public CharSequence subSequence(int start, int end) {
        return text.subSequence(start, end);
    }

    @Override
    public String toString() {
        return text;
    }
}
