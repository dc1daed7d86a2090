// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import io.reprise.text.Bounds;
import io.reprise.text.JsonText;
import java.util.Locale;

/**
 * The spread of a delay. Every kind draws evenly from a range. {@code raw} is the delay without jitter, {@code base}
 * the first delay of the curve.
 *
 * <p>As text, in JSON and for {@link #parse}: {@code none}, {@code full}, {@code equal}, {@code proportional:0.25},
 * {@code decorrelated}, {@code base-to-raw}. Immutable and thread-safe.
 *
 * @since 0.1.0
 */
public sealed interface Jitter {

    /** Returns no jitter: every delay is exactly {@code raw}. */
    static Jitter none() {
        return new None();
    }

    /**
     * Returns full jitter: 0 to {@code raw}. This is the default of a policy. It spreads jobs that failed together
     * best.
     */
    static Jitter full() {
        return new Full();
    }

    /** Returns equal jitter: {@code raw / 2} to {@code raw}. */
    static Jitter equal() {
        return new Equal();
    }

    /**
     * Returns decorrelated jitter: {@code base} to three times the previous delay. It does not use the curve beyond its
     * base, and a policy refuses it together with a table.
     */
    static Jitter decorrelated() {
        return new Decorrelated();
    }

    /** Returns jitter from {@code base} to {@code raw}. A policy refuses it together with a table. */
    static Jitter baseToRaw() {
        return new BaseToRaw();
    }

    /**
     * Returns jitter around the delay: {@code raw * (1 - ratio)} to {@code raw * (1 + ratio)}.
     *
     * @param ratio 0 to 1
     * @throws IllegalArgumentException if {@code ratio} is out of its bounds or not a number
     */
    static Jitter proportional(double ratio) {
        return new Proportional(ratio);
    }

    /** Exactly {@code raw}. */
    record None() implements Jitter {}

    /** From 0 to {@code raw}. */
    record Full() implements Jitter {}

    /** From {@code raw / 2} to {@code raw}. */
    record Equal() implements Jitter {}

    /**
     * From {@code raw * (1 - ratio)} to {@code raw * (1 + ratio)}.
     *
     * @param ratio 0 to 1
     */
    record Proportional(double ratio) implements Jitter {
        /**
         * Checks the ratio.
         *
         * @throws IllegalArgumentException if {@code ratio} is out of its bounds or not a number
         */
        public Proportional {
            ratio = Bounds.number("jitter ratio", ratio, 0, 1);
        }
    }

    /**
     * From {@code base} to three times the previous delay. Before the first retry the previous delay is {@code base}.
     */
    record Decorrelated() implements Jitter {}

    /** From {@code base} to {@code raw}. The first retry of a curve without offset is exactly {@code base}. */
    record BaseToRaw() implements Jitter {}

    /** Returns the text that {@link #parse} reads. Equal jitters have equal text. */
    default String text() {
        if (this instanceof Proportional proportional) {
            return "proportional:" + JsonText.number(proportional.ratio());
        }
        return this instanceof BaseToRaw
                ? "base-to-raw"
                : getClass().getSimpleName().toLowerCase(Locale.ROOT);
    }

    /**
     * Reads the text of a jitter. Case does not matter, and {@code _} may stand for {@code -}. An unknown text is
     * refused, because a misspelt jitter must not mean no jitter.
     *
     * @throws NullPointerException if {@code text} is null
     * @throws IllegalArgumentException if {@code text} names no jitter or its ratio is out of bounds
     */
    static Jitter parse(String text) {
        String name = text.toLowerCase(Locale.ROOT).replace('_', '-');
        return switch (name) {
            case "none" -> none();
            case "full" -> full();
            case "equal" -> equal();
            case "decorrelated" -> decorrelated();
            case "base-to-raw" -> baseToRaw();
            default -> proportional(text, name);
        };
    }

    private static Jitter proportional(String text, String name) {
        if (name.startsWith("proportional:")) {
            try {
                return proportional(Double.parseDouble(name.substring("proportional:".length())));
            } catch (NumberFormatException e) {
                throw unknown(text);
            }
        }
        throw unknown(text);
    }

    private static IllegalArgumentException unknown(String text) {
        return Bounds.refused(
                "jitter", '"' + text + '"', "one of none, full, equal, proportional:<0..1>, decorrelated, base-to-raw");
    }
}
