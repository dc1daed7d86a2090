// SPDX-License-Identifier: Apache-2.0
package io.reprise.text;

import java.util.BitSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Checks that a text of any length is JSON (RFC 8259), without building anything from it. */
public final class JsonSyntax {

    private static final int MAX_DEPTH = 1_000;
    private static final Pattern NUMBER = Pattern.compile("-?(?:0|[1-9]\\d*+)(?:\\.\\d++)?(?:[eE][-+]?\\d++)?");
    private static final String HEX = "0123456789abcdefABCDEF";

    private final String text;
    private int at;

    private JsonSyntax(String text) {
        this.text = text;
    }

    /**
     * Returns the text, if it is JSON.
     *
     * @param what names the text in the message
     * @throws IllegalArgumentException if the text is null or not JSON, or is nested deeper than 1,000
     */
    public static String require(String what, @Nullable String json) {
        if (json == null) {
            throw new IllegalArgumentException(what + " is missing: pass JSON text, \"null\" for no value");
        }
        JsonSyntax syntax = new JsonSyntax(json);
        String wrong = syntax.wrong();
        if (wrong != null) {
            throw new IllegalArgumentException(what + " is not JSON: " + wrong + " at character " + syntax.at);
        }
        return json;
    }

    /** Returns what is wrong; null if nothing is. A loop, so that a deep text needs no deep stack. */
    private @Nullable String wrong() {
        BitSet objects = new BitSet();
        int depth = 0;
        while (true) {
            space();
            char first = peek();
            if (first == '{' || first == '[') {
                if (depth == MAX_DEPTH) {
                    return "nested deeper than " + MAX_DEPTH;
                }
                at++;
                objects.set(depth++, first == '{');
                space();
                boolean empty = peek() == (first == '{' ? '}' : ']');
                if (!empty && first == '{' && !name()) {
                    return "expected a name and a colon";
                }
                if (!empty) {
                    continue;
                }
            } else if (!scalar(first)) {
                return "expected a value";
            }
            // A value has ended, or an empty object or array is about to.
            while (depth > 0 && closes(objects.get(depth - 1))) {
                depth--;
            }
            space();
            if (depth == 0) {
                return at == text.length() ? null : "expected the end";
            }
            if (peek() != ',') {
                return "expected a comma or the end of what is open";
            }
            at++;
            if (objects.get(depth - 1) && !name()) {
                return "expected a name and a colon";
            }
        }
    }

    private boolean closes(boolean object) {
        space();
        boolean closes = peek() == (object ? '}' : ']');
        at += closes ? 1 : 0;
        space();
        return closes;
    }

    private boolean name() {
        space();
        if (!string()) {
            return false;
        }
        space();
        boolean colon = peek() == ':';
        at += colon ? 1 : 0;
        return colon;
    }

    private boolean scalar(char first) {
        return switch (first) {
            case '"' -> string();
            case 't' -> word("true");
            case 'f' -> word("false");
            case 'n' -> word("null");
            default -> number();
        };
    }

    private boolean word(String word) {
        boolean there = text.startsWith(word, at);
        at += there ? word.length() : 0;
        return there;
    }

    private boolean number() {
        Matcher matcher = NUMBER.matcher(text).region(at, text.length());
        boolean there = matcher.lookingAt();
        at = there ? matcher.end() : at;
        return there;
    }

    private boolean string() {
        if (peek() != '"') {
            return false;
        }
        at++;
        while (at < text.length()) {
            char c = text.charAt(at++);
            if (c == '"') {
                return true;
            }
            if (c < ' ' || (c == '\\' && !escape())) {
                at--;
                return false;
            }
        }
        return false;
    }

    private boolean escape() {
        char kind = peek();
        at++;
        if (kind != 'u') {
            return "\"\\/bfnrt".indexOf(kind) >= 0;
        }
        for (int end = at + 4; at < end; at++) {
            if (HEX.indexOf(peek()) < 0) {
                return false;
            }
        }
        return true;
    }

    private void space() {
        while (at < text.length() && " \t\n\r".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private char peek() {
        return at < text.length() ? text.charAt(at) : '\0';
    }
}
