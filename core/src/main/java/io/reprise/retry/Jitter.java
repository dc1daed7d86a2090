// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import java.util.Locale;

/**
 * How a delay is spread. Every kind draws uniformly from a range; {@code raw} is the delay without jitter.
 *
 * <p>As text: {@code none}, {@code full}, {@code equal}, {@code proportional:0.25}, {@code decorrelated},
 * {@code base-to-raw}.
 */
public sealed interface Jitter {

    static Jitter none() {
        return new None();
    }

    static Jitter full() {
        return new Full();
    }

    static Jitter equal() {
        return new Equal();
    }

    static Jitter decorrelated() {
        return new Decorrelated();
    }

    static Jitter baseToRaw() {
        return new BaseToRaw();
    }

    static Jitter proportional(double ratio) {
        return new Proportional(ratio);
    }

    /** Exactly {@code raw}. */
    record None() implements Jitter {}

    /** From 0 to {@code raw}. */
    record Full() implements Jitter {}

    /** From {@code raw / 2} to {@code raw}. */
    record Equal() implements Jitter {}

    /** From {@code raw * (1 - ratio)} to {@code raw * (1 + ratio)}. */
    record Proportional(double ratio) implements Jitter {
        public Proportional {
            ratio = Bounds.number("jitter ratio", ratio, 0, 1);
        }
    }

    /** From {@code base} to three times the previous delay; the backoff curve beyond its base is not used. */
    record Decorrelated() implements Jitter {}

    /** From {@code base} to {@code raw}; the first retry is exactly {@code base}. */
    record BaseToRaw() implements Jitter {}

    /** The canonical text, which {@link #parse} reads back. */
    default String text() {
        if (this instanceof Proportional proportional) {
            return "proportional:" + Json.number(proportional.ratio());
        }
        return this instanceof BaseToRaw
                ? "base-to-raw"
                : getClass().getSimpleName().toLowerCase(Locale.ROOT);
    }

    /**
     * Reads the canonical text; case does not matter and {@code _} may stand for {@code -}.
     *
     * @throws IllegalArgumentException for anything else, because a misspelt jitter must not silently mean none
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
