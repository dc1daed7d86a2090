// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.config;

import java.time.Instant;
import java.time.LocalDate;

/** Times as text, as {@link Instant#toString} writes them. A lease of a hundred jobs has six hundred times, so it is quick. */
public final class Instants {

    private static final long DAY = 86_400;

    private Instants() {}

    /** Returns a time such as 2026-01-31T12:00:00.123Z. */
    public static String text(Instant time) {
        LocalDate date = LocalDate.ofEpochDay(Math.floorDiv(time.getEpochSecond(), DAY));
        if (date.getYear() < 0 || date.getYear() > 9_999) {
            return time.toString();
        }
        int second = (int) Math.floorMod(time.getEpochSecond(), DAY);
        char[] text = "0000-00-00T00:00:00.000000000Z".toCharArray();
        put(text, 0, 4, date.getYear());
        put(text, 5, 2, date.getMonthValue());
        put(text, 8, 2, date.getDayOfMonth());
        put(text, 11, 2, second / 3_600);
        put(text, 14, 2, second / 60 % 60);
        put(text, 17, 2, second % 60);
        put(text, 20, 9, time.getNano());
        int length = length(time.getNano());
        text[length] = 'Z';
        return new String(text, 0, length + 1);
    }

    /** As many groups of three digits as are needed. */
    private static int length(int nanos) {
        if (nanos == 0) {
            return 19;
        }
        return nanos % 1_000_000 == 0 ? 23 : nanos % 1_000 == 0 ? 26 : 29;
    }

    private static void put(char[] text, int from, int digits, int number) {
        int rest = number;
        for (int i = from + digits - 1; i >= from; i--) {
            text[i] = (char) ('0' + rest % 10);
            rest /= 10;
        }
    }
}
