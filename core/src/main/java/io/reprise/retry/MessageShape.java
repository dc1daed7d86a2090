// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import java.util.List;
import java.util.regex.Pattern;

/**
 * A message with its variable parts replaced, so that two occurrences of one error read the same.
 *
 * <p>Messages come from anywhere and may be long, so each pattern is written to run in linear time: possessive, and
 * anchored by a look-behind so that a match is not tried again from the middle of a word.
 */
final class MessageShape {

    /** Far more than any message meant for a person; what follows does not take part in grouping. */
    private static final int MAX = 65_536;

    private record Replacement(Pattern pattern, String with) {}

    private static final List<Replacement> REPLACEMENTS = List.of(
            replace("\"[^\"\\n]*+\"|`[^`\\n]*+`", "?"),
            replace("(?<!\\w)'[^'\\n]*+'(?!\\w)", "?"),
            replace("(?<![\\w+.-])[a-zA-Z][a-zA-Z0-9+.-]*+://[^\\s,;\"')\\]>]++", "?"),
            replace("(?<![\\w.+-])[\\w.+-]++@[\\w-]++(?:\\.[\\w-]++)++", "?"),
            replace("(?<!\\w)\\p{XDigit}{8}-\\p{XDigit}{4}-\\p{XDigit}{4}-\\p{XDigit}{4}-\\p{XDigit}{12}(?!\\w)", "?"),
            replace(
                    "(?<!\\d)\\d{4}-\\d\\d-\\d\\d(?:[T"
                            + " ]\\d\\d:\\d\\d(?::\\d\\d(?:[.,]\\d++)?)?(?:Z|[+-]\\d\\d:?\\d\\d)?)?",
                    "?"),
            replace("(?<!\\d)\\d\\d:\\d\\d:\\d\\d(?:[.,]\\d++)?", "?"),
            replace("\\[?(?<![\\w:])(?:\\p{XDigit}{0,4}:){2,7}\\p{XDigit}{0,4}(?![\\w:])(?:%\\w++)?\\]?", "?"),
            replace("(?<![\\w.-])[\\w.-]++/\\d{1,3}+(?:\\.\\d{1,3}+){3}(?::\\d++)?", "?"),
            replace("(?<![\\w.-])(?:[\\w-]++\\.?)++:\\d{1,5}+(?!\\w)", "?"),
            replace("(?<![\\w.])\\d{1,3}+(?:\\.\\d{1,3}+){3}(?!\\w)", "?"),
            replace("(?<![\\w./\\\\])~?(?:[A-Za-z]:)?(?:[/\\\\]++[\\w.@+~#%=$-]++)++[/\\\\]?", "?"),
            replace("(?<=\\w)@\\p{XDigit}{1,16}+(?!\\w)", "@?"),
            replace("0[xX]\\p{XDigit}++", "?"),
            replace("(?<!\\w)[-+]?+(?=[a-fA-F]*+\\d)\\p{XDigit}{6,}+(?!\\w)", "?"),
            replace("(?<!\\w)(?=(?:[A-Za-z_]*+\\d){3})(?=\\d*+[A-Za-z_])\\w{12,}+(?!\\w)", "?"),
            replace("(?:(?<!\\w)[-+])?\\d++(?:[.,_]\\d++)*+(?:[eE][-+]?\\d++)?", "?"),
            replace("\\?(?:[,;\\s]++\\?)++", "?"),
            replace("\\s++", " "));

    private MessageShape() {}

    static String of(String message) {
        return isPlain(message) ? message.strip() : replaced(message);
    }

    /** Nothing but words: no pattern would change it, and trying them all is most of what a fingerprint costs. */
    private static boolean isPlain(String message) {
        for (int i = 0; i < message.length(); i++) {
            char c = message.charAt(i);
            boolean letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
            boolean oneSpace = c == ' ' && (i == 0 || message.charAt(i - 1) != ' ');
            if (!letter && !oneSpace) {
                return false;
            }
        }
        return message.length() <= MAX;
    }

    static String replaced(String message) {
        String shape = message.length() <= MAX ? message : message.substring(0, MAX);
        for (Replacement replacement : REPLACEMENTS) {
            shape = replacement.pattern().matcher(shape).replaceAll(replacement.with());
        }
        return shape.strip();
    }

    private static Replacement replace(String pattern, String with) {
        return new Replacement(Pattern.compile(pattern), with);
    }
}
