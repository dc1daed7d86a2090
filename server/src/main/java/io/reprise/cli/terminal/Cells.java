// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.terminal;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;

/** Shows JSON values as cells of a table. Text from a job cannot move the cursor or colour the screen. */
public final class Cells {

    private static final int WIDTH = 60;

    private Cells() {}

    public static String text(JsonNode value) {
        if (value.isNull() || value.isMissingNode()) {
            return "-";
        }
        if (value.isArray()) {
            List<String> all = new ArrayList<>();
            value.forEach(each -> all.add(text(each)));
            return all.isEmpty() ? "-" : String.join(",", all);
        }
        return clean(value.isString() ? value.stringValue() : value.toString());
    }

    /** Returns the text, cut to the width of a column. */
    public static String cut(JsonNode value) {
        String text = text(value);
        return text.length() <= WIDTH ? text : text.substring(0, WIDTH - 3) + "...";
    }

    /** Returns the time, to the second. */
    public static String time(JsonNode value) {
        String text = text(value);
        try {
            return Instant.parse(text).truncatedTo(ChronoUnit.SECONDS).toString();
        } catch (DateTimeException e) {
            return text;
        }
    }

    /** Returns how many jobs are in the state, with a plus if there may be more than were counted. */
    public static String count(JsonNode counted, String state) {
        boolean more = counted.path("countsAtLeast")
                .valueStream()
                .anyMatch(each -> each.stringValue("").equals(state));
        return text(counted.path("counts").path(state)) + (more ? "+" : "");
    }

    private static String clean(String text) {
        return text.codePoints()
                .map(c -> Character.isISOControl(c) || Character.getType(c) == Character.FORMAT ? ' ' : c)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
    }
}
