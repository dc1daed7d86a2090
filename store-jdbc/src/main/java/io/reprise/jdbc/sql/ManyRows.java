// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.sql;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An insert of one row, turned into statements that insert many rows. Each statement fits into one packet. */
record ManyRows(String sql, List<@Nullable Object> args) {

    private static final String VALUES = "\nvalues (";
    private static final int ROWS = 500;

    /** At four bytes per character, a quarter of the smallest default packet size of the servers. */
    private static final int CHARACTERS = 1_000_000;

    static boolean isInsert(String sql) {
        return sql.startsWith("insert") && sql.contains(VALUES);
    }

    static List<ManyRows> of(String sql, List<@Nullable Object[]> rows) {
        List<ManyRows> statements = new ArrayList<>();
        int from = 0;
        int characters = 0;
        for (int i = 0; i < rows.size(); i++) {
            int more = characters(rows.get(i));
            if (i > from && (i - from == ROWS || characters + more > CHARACTERS)) {
                statements.add(statement(sql, rows.subList(from, i)));
                from = i;
                characters = 0;
            }
            characters += more;
        }
        if (from < rows.size()) {
            statements.add(statement(sql, rows.subList(from, rows.size())));
        }
        return statements;
    }

    private static int characters(@Nullable Object[] row) {
        int sum = 0;
        for (Object value : row) {
            sum += value instanceof String text ? text.length() : Long.BYTES;
        }
        return sum;
    }

    private static ManyRows statement(String sql, List<@Nullable Object[]> rows) {
        int begin = sql.indexOf(VALUES) + VALUES.length() - 1;
        int end = closing(sql, begin) + 1;
        String row = sql.substring(begin, end);
        List<@Nullable Object> args = new ArrayList<>();
        rows.forEach(values -> args.addAll(Arrays.asList(values)));
        return new ManyRows(
                sql.substring(0, begin)
                        + String.join(",\n", Collections.nCopies(rows.size(), row))
                        + sql.substring(end),
                args);
    }

    /** Returns the index of the closing bracket for the bracket at {@code open}. */
    private static int closing(String sql, int open) {
        int depth = 0;
        for (int i = open; i < sql.length(); i++) {
            char c = sql.charAt(i);
            depth += c == '(' ? 1 : c == ')' ? -1 : 0;
            if (depth == 0) {
                return i;
            }
        }
        throw new IllegalArgumentException("no end of values in: " + sql);
    }
}
