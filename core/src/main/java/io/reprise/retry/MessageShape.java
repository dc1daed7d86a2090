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

    /**
     * A kind of variable part.
     *
     * @param needs the pattern matches nothing without one of these characters; 0 stands for any digit, and without any it is the blanks that matter
     * @param word the pattern matches nothing unless there is a word of that length with a digit in it; 0 if it can
     */
    private record Replacement(String needs, int word, Pattern pattern, String with) {}

    private static final List<Replacement> REPLACEMENTS = List.of(
            replace("\"`", "\"[^\"\\n]*+\"|`[^`\\n]*+`", "?"),
            replace("'", "(?<!\\w)'[^'\\n]*+'(?!\\w)", "?"),
            replace(":", "(?<![\\w+.-])[a-zA-Z][a-zA-Z0-9+.-]*+://[^\\s,;\"')\\]>]++", "?"),
            replace("@", "(?<![\\w.+-])[\\w.+-]++@[\\w-]++(?:\\.[\\w-]++)++", "?"),
            replace(
                    "-",
                    "(?<!\\w)\\p{XDigit}{8}-\\p{XDigit}{4}-\\p{XDigit}{4}-\\p{XDigit}{4}-\\p{XDigit}{12}(?!\\w)",
                    "?"),
            replace(
                    "-",
                    "(?<!\\d)\\d{4}-\\d\\d-\\d\\d(?:[T"
                            + " ]\\d\\d:\\d\\d(?::\\d\\d(?:[.,]\\d++)?)?(?:Z|[+-]\\d\\d:?\\d\\d)?)?",
                    "?"),
            replace(":", "(?<!\\d)\\d\\d:\\d\\d:\\d\\d(?:[.,]\\d++)?", "?"),
            replace(":", "\\[?(?<![\\w:])(?:\\p{XDigit}{0,4}:){2,7}\\p{XDigit}{0,4}(?![\\w:])(?:%\\w++)?\\]?", "?"),
            replace("/", "(?<![\\w.-])[\\w.-]++/\\d{1,3}+(?:\\.\\d{1,3}+){3}(?::\\d++)?", "?"),
            replace(":", "(?<![\\w.-])(?:[\\w-]++\\.?)++:\\d{1,5}+(?!\\w)", "?"),
            replace(".", "(?<![\\w.])\\d{1,3}+(?:\\.\\d{1,3}+){3}(?!\\w)", "?"),
            replace("/\\", "(?<![\\w./\\\\])~?(?:[A-Za-z]:)?(?:[/\\\\]++[\\w.@+~#%=$-]++)++[/\\\\]?", "?"),
            replace("@", "(?<=\\w)@\\p{XDigit}{1,16}+(?!\\w)", "@?"),
            replace("xX", "0[xX]\\p{XDigit}++", "?"),
            replaceWord(6, "(?<!\\w)[-+]?+(?=[a-fA-F]*+\\d)\\p{XDigit}{6,}+(?!\\w)", "?"),
            replaceWord(12, "(?<!\\w)(?=(?:[A-Za-z_]*+\\d){3})(?=\\d*+[A-Za-z_])\\w{12,}+(?!\\w)", "?"),
            replace("0", "(?:(?<!\\w)[-+])?\\d++(?:[.,_]\\d++)*+(?:[eE][-+]?\\d++)?", "?"),
            replace("?", "\\?(?:[,;\\s]++\\?)++", "?"),
            replace("", "\\s++", " "));

    private MessageShape() {}

    static String of(String message) {
        return replaced(message, false);
    }

    /**
     * The shape.
     *
     * @param all whether to try also the patterns that cannot match
     */
    static String replaced(String message, boolean all) {
        String shape = message.length() <= MAX ? message : message.substring(0, MAX);
        for (Replacement replacement : REPLACEMENTS) {
            if (all || mayMatch(shape, replacement)) {
                shape = replacement.pattern().matcher(shape).replaceAll(replacement.with());
            }
        }
        return shape.strip();
    }

    /** Most messages lack what most patterns look for, and to look for a character is cheap. */
    private static boolean mayMatch(String text, Replacement replacement) {
        if (replacement.word > 0) {
            return hasWordWithDigit(text, replacement.word);
        }
        String needs = replacement.needs;
        if (needs.isEmpty()) {
            return hasUnusualSpace(text);
        }
        if (needs.equals("?")) {
            // It joins several.
            return text.indexOf('?') != text.lastIndexOf('?');
        }
        for (int i = 0; i < needs.length(); i++) {
            char need = needs.charAt(i);
            if (need == '0' ? hasDigit(text) : text.indexOf(need) >= 0) {
                return true;
            }
        }
        return false;
    }

    private static boolean hasDigit(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c >= '0' && c <= '9') {
                return true;
            }
        }
        return false;
    }

    private static boolean hasWordWithDigit(String text, int length) {
        int start = 0;
        boolean digit = false;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            boolean isDigit = c >= '0' && c <= '9';
            if (!isDigit && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && c != '_') {
                start = i + 1;
                digit = false;
            } else {
                digit |= isDigit;
                if (digit && i - start + 1 >= length) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Anything that is not a single blank between words. */
    private static boolean hasUnusualSpace(String text) {
        boolean blank = false;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '\t' || c == '\n' || c == 0x0B || c == '\f' || c == '\r' || (c == ' ' && blank)) {
                return true;
            }
            blank = c == ' ';
        }
        return false;
    }

    private static Replacement replace(String needs, String pattern, String with) {
        return new Replacement(needs, 0, Pattern.compile(pattern), with);
    }

    private static Replacement replaceWord(int length, String pattern, String with) {
        return new Replacement("0", length, Pattern.compile(pattern), with);
    }
}
