// SPDX-License-Identifier: Apache-2.0
package io.reprise.text;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Durations as people write them in a policy: {@code 500ms}, {@code 1m30s}, {@code 2h}, or ISO-8601. */
public final class DurationText {

    private static final String WHOLE = "(\\d{1,9})";
    private static final Pattern PLAIN = Pattern.compile("(?:" + WHOLE + "d)?(?:" + WHOLE + "h)?(?:" + WHOLE
            + "m(?!s))?(?:(\\d{1,9}(?:\\.\\d{1,9})?)s)?(?:" + WHOLE + "ms)?");

    private DurationText() {}

    /** Reads a duration; empty if the text is not a duration. */
    public static Optional<Duration> parse(String text) {
        Matcher plain = PLAIN.matcher(text);
        if (!text.isEmpty() && plain.matches()) {
            String seconds = plain.group(4);
            return Optional.of(Duration.ofDays(whole(plain, 1))
                    .plusHours(whole(plain, 2))
                    .plusMinutes(whole(plain, 3))
                    .plus(seconds == null ? Duration.ZERO : Duration.parse("PT" + seconds + "S"))
                    .plusMillis(whole(plain, 5)));
        }
        try {
            return Optional.of(Duration.parse(text));
        } catch (DateTimeParseException e) {
            return Optional.empty();
        }
    }

    private static long whole(Matcher plain, int group) {
        String digits = plain.group(group);
        return digits == null ? 0 : Long.parseLong(digits);
    }
}
