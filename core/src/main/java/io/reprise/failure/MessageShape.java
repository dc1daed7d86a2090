// SPDX-License-Identifier: Apache-2.0
package io.reprise.failure;

import java.util.List;
import java.util.regex.Pattern;

/**
 * A message with its variable parts replaced, so that two occurrences of one error have the same text.
 *
 * <p>Messages come from anywhere and may be long, so each pattern runs in linear time. It is possessive, and a
 * look-behind keeps a match from starting in the middle of a word.
 */
final class MessageShape {

    /** Far more than any message for a person. The rest of a longer message does not count for the fingerprint. */
    private static final int MAX = 65_536;

    /**
     * One kind of variable part.
     *
     * @param needs the pattern can match only if the text has one of these characters; {@code 0} stands for any digit.
     *     If empty, the pattern can match only where white space is not a single blank
     * @param word the pattern can match only if the text has a word of at least this length with a digit in it; 0 for
     *     no such condition
     * @param pattern the variable part
     * @param with the text that replaces it
     */
    private record Replacement(String needs, int word, Pattern pattern, String with) {

        boolean isNumber() {
            return word == 0 && needs.equals("0");
        }
    }

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
            // The only variable part of most messages, so withoutNumbers does the same without the pattern.
            replace("0", "(?:(?<!\\w)[-+])?\\d++(?:[.,_]\\d++)*+(?:[eE][-+]?\\d++)?", "?"),
            replace("?", "\\?(?:[,;\\s]++\\?)++", "?"),
            replace("", "\\s++", " "));

    private MessageShape() {}

    static String of(String message) {
        return replaced(message, false);
    }

    /**
     * Replaces the variable parts.
     *
     * @param all whether to try every pattern, even those that cannot match or are not needed
     */
    static String replaced(String message, boolean all) {
        String shape = message.length() <= MAX ? message : message.substring(0, MAX);
        for (Replacement replacement : REPLACEMENTS) {
            if (!all && replacement.isNumber()) {
                shape = withoutNumbers(shape);
            } else if (all || mayMatch(shape, replacement)) {
                shape = replacement.pattern().matcher(shape).replaceAll(replacement.with());
            }
        }
        return shape.strip();
    }

    /** Whether the pattern can match at all. Most patterns cannot, and looking for a character is cheap. */
    private static boolean mayMatch(String text, Replacement replacement) {
        if (replacement.word > 0) {
            return hasWordWithDigit(text, replacement.word);
        }
        String needs = replacement.needs;
        if (needs.isEmpty()) {
            return hasUnusualSpace(text);
        }
        if (needs.equals("?")) {
            // The pattern joins several question marks.
            return text.indexOf('?') != text.lastIndexOf('?');
        }
        for (int i = 0; i < needs.length(); i++) {
            char need = needs.charAt(i);
            if (need == '0' ? firstDigit(text, 0) >= 0 : text.indexOf(need) >= 0) {
                return true;
            }
        }
        return false;
    }

    /** Replaces what the pattern of numbers matches. */
    private static String withoutNumbers(String text) {
        int next = firstDigit(text, 0);
        if (next < 0) {
            return text;
        }
        StringBuilder shape = new StringBuilder(text.length());
        int from = 0;
        while (next >= 0) {
            shape.append(text, from, hasSign(text, from, next) ? next - 1 : next)
                    .append('?');
            from = endOfNumber(text, next);
            next = firstDigit(text, from);
        }
        return shape.append(text, from, text.length()).toString();
    }

    /** Whether a sign belongs to the number that begins at {@code digit}: there is one, and no word before it. */
    private static boolean hasSign(String text, int from, int digit) {
        return digit > from
                && (text.charAt(digit - 1) == '-' || text.charAt(digit - 1) == '+')
                && (digit == 1 || !isWord(text.charAt(digit - 2)));
    }

    private static int endOfNumber(String text, int digit) {
        int end = endOfDigits(text, digit);
        while (end < text.length() && ".,_".indexOf(text.charAt(end)) >= 0 && isDigit(text, end + 1)) {
            end = endOfDigits(text, end + 1);
        }
        if (end < text.length() && (text.charAt(end) == 'e' || text.charAt(end) == 'E')) {
            boolean sign = end + 1 < text.length() && (text.charAt(end + 1) == '-' || text.charAt(end + 1) == '+');
            int exponent = sign ? end + 2 : end + 1;
            return isDigit(text, exponent) ? endOfDigits(text, exponent) : end;
        }
        return end;
    }

    private static int endOfDigits(String text, int from) {
        int end = from;
        while (isDigit(text, end)) {
            end++;
        }
        return end;
    }

    /** Returns the index of the first digit at or after {@code from}; -1 if there is none. */
    private static int firstDigit(String text, int from) {
        for (int i = from; i < text.length(); i++) {
            if (isDigit(text, i)) {
                return i;
            }
        }
        return -1;
    }

    private static boolean isDigit(String text, int at) {
        return at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9';
    }

    private static boolean isWord(char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    }

    private static boolean hasWordWithDigit(String text, int length) {
        int start = 0;
        boolean digit = false;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            boolean isDigit = c >= '0' && c <= '9';
            if (!isWord(c)) {
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

    /** Whether there is white space that is not a single blank. */
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
