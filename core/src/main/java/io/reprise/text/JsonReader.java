// SPDX-License-Identifier: Apache-2.0
package io.reprise.text;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A strict reader of small JSON texts (RFC 8259): bounded in size and depth, and duplicate names are refused. */
public final class JsonReader {

    private static final int MAX_LENGTH = 1_000_000;
    private static final int MAX_DEPTH = 8;
    private static final Pattern NUMBER = Pattern.compile("-?(?:0|[1-9]\\d*+)(\\.\\d++)?([eE][-+]?\\d++)?");

    private final String text;
    private int at;

    private JsonReader(String text) {
        this.text = text;
    }

    /** Objects become maps, arrays lists, whole numbers Long, others Double. */
    public static @Nullable Object read(String text) {
        if (text.length() > MAX_LENGTH) {
            throw new IllegalArgumentException("JSON of " + text.length() + " characters; at most " + MAX_LENGTH);
        }
        JsonReader reader = new JsonReader(text);
        Object value = reader.value(0);
        reader.space();
        if (reader.at < text.length()) {
            throw reader.bad("end of text");
        }
        return value;
    }

    private @Nullable Object value(int depth) {
        if (depth > MAX_DEPTH) {
            throw new IllegalArgumentException("JSON nested deeper than " + MAX_DEPTH);
        }
        space();
        return switch (peek()) {
            case '{' -> object(depth);
            case '[' -> array(depth);
            case '"' -> string();
            case 't' -> word("true", true);
            case 'f' -> word("false", false);
            case 'n' -> word("null", null);
            default -> number();
        };
    }

    private Map<String, @Nullable Object> object(int depth) {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        at++;
        if (taken('}')) {
            return members;
        }
        do {
            space();
            String name = string();
            if (members.containsKey(name)) {
                throw new IllegalArgumentException("JSON has the field \"" + Truncation.cut(name, 100) + "\" twice");
            }
            wakeAfter(':');
            members.put(name, value(depth + 1));
        } while (taken(','));
        wakeAfter('}');
        return members;
    }

    private List<@Nullable Object> array(int depth) {
        List<@Nullable Object> elements = new ArrayList<>();
        at++;
        if (taken(']')) {
            return elements;
        }
        do {
            elements.add(value(depth + 1));
        } while (taken(','));
        wakeAfter(']');
        return elements;
    }

    private String string() {
        if (peek() != '"') {
            throw bad("a string");
        }
        at++;
        StringBuilder out = new StringBuilder();
        while (peek() != '"') {
            char c = text.charAt(at++);
            if (c < ' ') {
                at--;
                throw bad("no control character");
            }
            out.append(c == '\\' ? escaped() : c);
        }
        at++;
        return out.toString();
    }

    private char escaped() {
        char c = peek();
        at++;
        return switch (c) {
            case '"', '\\', '/' -> c;
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'u' -> unicode();
            default -> throw bad("an escape");
        };
    }

    private char unicode() {
        int code = 0;
        for (int i = 0; i < 4; i++) {
            char c = peek();
            // Other scripts have digits too, but not JSON.
            int digit = c < 128 ? Character.digit(c, 16) : -1;
            if (digit < 0) {
                throw bad("a hexadecimal digit");
            }
            code = code * 16 + digit;
            at++;
        }
        return (char) code;
    }

    private Object number() {
        Matcher matcher = NUMBER.matcher(text).region(at, text.length());
        if (!matcher.lookingAt()) {
            throw bad("a value");
        }
        at = matcher.end();
        boolean whole = matcher.group(1) == null
                && matcher.group(2) == null
                && matcher.group().length() <= 18;
        if (whole) {
            return Long.valueOf(matcher.group());
        }
        return Double.valueOf(matcher.group());
    }

    private @Nullable Object word(String word, @Nullable Object value) {
        if (!text.startsWith(word, at)) {
            throw bad("a value");
        }
        at += word.length();
        return value;
    }

    private boolean taken(char c) {
        space();
        if (peek() == c) {
            at++;
            return true;
        }
        return false;
    }

    private void wakeAfter(char c) {
        if (!taken(c)) {
            throw bad("'" + c + "'");
        }
    }

    private char peek() {
        if (at >= text.length()) {
            throw bad("more text");
        }
        return text.charAt(at);
    }

    private void space() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private IllegalArgumentException bad(String expected) {
        return new IllegalArgumentException("JSON: expected " + expected + " at character " + at);
    }
}
