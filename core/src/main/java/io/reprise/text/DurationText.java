// SPDX-License-Identifier: Apache-2.0
package io.reprise.text;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.DateTimeException;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Durations as people write them, in policies, settings, commands and requests: {@code 500ms}, {@code 1m30s},
 * {@code 1.5h}, {@code 1d}, or ISO-8601 such as {@code PT1M30S}.
 */
public final class DurationText {

    private static final String NUMBER = "(\\d{1,12}(?:\\.\\d{1,9})?)";
    private static final Pattern PARTS = Pattern.compile("(?:" + NUMBER + "d)?(?:" + NUMBER + "h)?(?:" + NUMBER
            + "m(?!s))?(?:" + NUMBER + "s)?(?:" + NUMBER + "ms)?");
    private static final long[] UNIT_NANOS = {
        86_400_000_000_000L, 3_600_000_000_000L, 60_000_000_000L, 1_000_000_000L, 1_000_000L
    };
    private static final BigDecimal SECOND = BigDecimal.valueOf(1_000_000_000L);

    private DurationText() {}

    /**
     * Reads a duration. The units {@code d}, {@code h}, {@code m}, {@code s} and {@code ms} stand in this order, each at
     * most once and each with a fraction if wanted; a part below one nanosecond is cut off. {@code 0} needs no unit.
     *
     * @return empty if the text is no duration
     */
    public static Optional<Duration> parse(String text) {
        try {
            if (text.startsWith("P") || text.startsWith("p")) {
                return Optional.of(Duration.parse(text));
            }
            Matcher parts = PARTS.matcher(text);
            if (!text.isEmpty() && parts.matches()) {
                return Optional.of(sum(parts));
            }
        } catch (DateTimeException | ArithmeticException e) {
            return Optional.empty();
        }
        return text.equals("0") ? Optional.of(Duration.ZERO) : Optional.empty();
    }

    private static Duration sum(Matcher parts) {
        BigDecimal nanos = BigDecimal.ZERO;
        for (int i = 0; i < UNIT_NANOS.length; i++) {
            String number = parts.group(i + 1);
            if (number != null) {
                nanos = nanos.add(new BigDecimal(number).multiply(BigDecimal.valueOf(UNIT_NANOS[i])));
            }
        }
        BigDecimal whole = nanos.setScale(0, RoundingMode.DOWN);
        BigDecimal[] split = whole.divideAndRemainder(SECOND);
        return Duration.ofSeconds(split[0].longValueExact(), split[1].longValueExact());
    }
}
