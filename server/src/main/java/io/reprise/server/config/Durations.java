// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.config;

import io.reprise.text.DurationText;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;

/** Durations in messages, tables and requests. {@link DurationText} reads them. */
public final class Durations {

    private static final int MAX_SHOWN = 100;
    private static final BigDecimal SECOND = BigDecimal.valueOf(1_000_000_000L);

    private Durations() {}

    /**
     * Reads a duration as {@link DurationText} does.
     *
     * @throws IllegalArgumentException with a message for people, if the text is no duration
     */
    public static Duration parse(String text) {
        return DurationText.parse(text.strip())
                .orElseThrow(() -> new IllegalArgumentException(
                        "'" + (text.length() <= MAX_SHOWN ? text : text.substring(0, MAX_SHOWN) + "…")
                                + "' is not a duration: write for example 500ms, 30s, 1m30s, 1.5h, 1d or PT1M30S"));
    }

    /** Returns a short text that {@link #parse} reads: three decimals below a minute, whole seconds from an hour on. */
    public static String text(Duration duration) {
        if (duration.isZero()) {
            return "0s";
        }
        if (duration.compareTo(Duration.ofSeconds(1)) < 0) {
            return decimal(BigDecimal.valueOf(duration.toNanos(), 6), 3) + "ms";
        }
        if (duration.compareTo(Duration.ofMinutes(1)) < 0) {
            return decimal(BigDecimal.valueOf(duration.toNanos(), 9), 3) + "s";
        }
        boolean coarse = duration.compareTo(Duration.ofHours(1)) >= 0;
        Duration rest = duration.minusDays(duration.toDays());
        BigDecimal seconds = BigDecimal.valueOf(rest.toSecondsPart()).add(BigDecimal.valueOf(rest.toNanosPart(), 9));
        return part(duration.toDays(), "d")
                + part(rest.toHours(), "h")
                + part(rest.toMinutesPart(), "m")
                + (seconds.signum() == 0 ? "" : nonZero(decimal(seconds, coarse ? 0 : 1), "s"));
    }

    /** Returns milliseconds, with a fraction only if there is one. */
    public static BigDecimal millis(Duration duration) {
        BigDecimal millis = BigDecimal.valueOf(duration.getSeconds())
                .multiply(SECOND)
                .add(BigDecimal.valueOf(duration.getNano()))
                .movePointLeft(6)
                .stripTrailingZeros();
        return millis.scale() < 0 ? millis.setScale(0) : millis;
    }

    private static String part(long amount, String unit) {
        return amount == 0 ? "" : amount + unit;
    }

    private static String nonZero(String number, String unit) {
        return number.equals("0") ? "" : number + unit;
    }

    /** Cuts instead of rounding: 59.9996 must not become 60. */
    private static String decimal(BigDecimal value, int digits) {
        return value.setScale(digits, RoundingMode.DOWN).stripTrailingZeros().toPlainString();
    }
}
