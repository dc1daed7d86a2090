// SPDX-License-Identifier: Apache-2.0
package io.reprise.text;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Applies a JSON merge patch (RFC 7396) to an object. Every value that the patch does not name stays as it is written, so
 * that a number of many digits keeps them all.
 */
public final class JsonMerge {

    private static final int MAX_DEPTH = 32;

    private final String text;
    private int at;

    private JsonMerge(String text) {
        this.text = text;
    }

    /** A member of an object as it is written. */
    private record Member(String name, String value) {}

    /**
     * Requires that a text is a merge patch: an object that is nested at most {@value #MAX_DEPTH} deep.
     *
     * @throws IllegalArgumentException if it is not
     */
    public static String require(String patch) {
        JsonSyntax.require("patch", patch);
        if (!isObject(patch)) {
            throw new IllegalArgumentException("patch must be a JSON object with the members to change");
        }
        apply("{}", patch, 0);
        return patch;
    }

    /**
     * Returns the object with the changes of the patch.
     *
     * @throws IllegalArgumentException if the target is not an object, or one of them is not JSON or has a member twice
     */
    public static String apply(String target, String patch) {
        JsonSyntax.require("payload", target);
        if (!isObject(target)) {
            throw new IllegalArgumentException("payload is not a JSON object, so it has no members to change");
        }
        return apply(target, require(patch), 0);
    }

    private static String apply(String target, String patch, int depth) {
        if (depth == MAX_DEPTH) {
            throw new IllegalArgumentException("patch is nested deeper than " + MAX_DEPTH);
        }
        Map<String, Member> members = new JsonMerge(target).members("payload");
        new JsonMerge(patch).members("patch").forEach((name, change) -> {
            Member before = members.get(name);
            if (change.value.equals("null")) {
                members.remove(name);
            } else if (isObject(change.value)) {
                String inner = before != null && isObject(before.value) ? before.value : "{}";
                members.put(name, new Member(change.name, apply(inner, change.value, depth + 1)));
            } else {
                members.put(name, change);
            }
        });
        StringBuilder out = new StringBuilder("{");
        members.values()
                .forEach(member -> out.append(out.length() == 1 ? "" : ",")
                        .append(member.name)
                        .append(':')
                        .append(member.value));
        return out.append('}').toString();
    }

    private static boolean isObject(String json) {
        JsonMerge look = new JsonMerge(json);
        look.space();
        return look.at < json.length() && json.charAt(look.at) == '{';
    }

    /** Returns the members by their names without escapes, in their order. The text is known to be an object. */
    private Map<String, Member> members(String what) {
        Map<String, Member> members = new LinkedHashMap<>();
        space();
        at++;
        space();
        while (text.charAt(at) != '}') {
            String name = take();
            String plain = String.valueOf(JsonReader.read(name));
            space();
            at++;
            space();
            if (members.put(plain, new Member(name, take())) != null) {
                throw new IllegalArgumentException(
                        what + " has the member \"" + Truncation.cut(plain, 100) + "\" twice");
            }
            space();
            if (text.charAt(at) == ',') {
                at++;
                space();
            }
        }
        return members;
    }

    /** Takes one value as it is written. */
    private String take() {
        int begin = at;
        int depth = 0;
        do {
            char c = text.charAt(at);
            if (c == '"') {
                skipString();
            } else if (c == '{' || c == '[') {
                depth++;
                at++;
            } else if (c == '}' || c == ']') {
                depth--;
                at++;
            } else if (depth > 0) {
                at++;
            } else {
                skipWord();
            }
        } while (depth > 0);
        return text.substring(begin, at);
    }

    private void skipString() {
        at++;
        while (text.charAt(at) != '"') {
            at += text.charAt(at) == '\\' ? 2 : 1;
        }
        at++;
    }

    private void skipWord() {
        while (at < text.length() && ",}] \t\r\n".indexOf(text.charAt(at)) < 0) {
            at++;
        }
    }

    private void space() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }
}
