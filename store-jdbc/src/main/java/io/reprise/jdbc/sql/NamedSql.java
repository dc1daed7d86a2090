// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.sql;

import java.util.ArrayList;
import java.util.List;

/**
 * A statement with names such as {@code :queue}, as JDBC wants it: with question marks.
 *
 * @param sql the text with question marks
 * @param names the name for each value that JDBC binds, in order
 */
record NamedSql(String sql, List<String> names) {

    /**
     * Reads a statement. Text in quotes and casts with {@code ::} are left alone.
     *
     * @param numbered whether the database knows {@code ?1}, so that a name is bound once however often it stands there
     */
    static NamedSql of(String sql, boolean numbered) {
        StringBuilder text = new StringBuilder(sql.length());
        List<String> names = new ArrayList<>();
        int from = 0;
        for (int i = 0; i < sql.length(); i++) {
            char c = sql.charAt(i);
            if (c == '?') {
                throw new IllegalArgumentException("A statement has either names or question marks: " + sql);
            }
            if (c == '\'') {
                i = quoted(sql, i);
            } else if (c == ':' && sql.charAt(i + 1) == ':') {
                i++;
            } else if (c == ':' && Character.isLetter(sql.charAt(i + 1))) {
                int end = end(sql, i + 1);
                String name = sql.substring(i + 1, end);
                text.append(sql, from, i).append('?');
                if (!numbered || !names.contains(name)) {
                    names.add(name);
                }
                if (numbered) {
                    text.append(names.indexOf(name) + 1);
                }
                from = end;
                i = end - 1;
            }
        }
        return new NamedSql(text.append(sql, from, sql.length()).toString(), List.copyOf(names));
    }

    /** Returns the index of the quote that closes the one at {@code open}. */
    private static int quoted(String sql, int open) {
        int close = sql.indexOf('\'', open + 1);
        if (close < 0) {
            throw new IllegalArgumentException("A quote is not closed in: " + sql);
        }
        return close;
    }

    private static int end(String sql, int from) {
        int end = from;
        while (end < sql.length() && (Character.isLetterOrDigit(sql.charAt(end)) || sql.charAt(end) == '_')) {
            end++;
        }
        return end;
    }
}
