// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.sql;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A statement for databases without arrays: {@code in (?...)} becomes a list of the array's values. Numbers become
 * literals, names get placeholders.
 */
record Spread(String sql, List<@Nullable Object> args) {

    private static final String LIST = "?...";

    /** An empty list: neither "in" nor "not in" becomes unknown (NULL). */
    private static final String NOTHING = "select 1 from dual where 1 = 0";

    static Spread of(String sql, @Nullable Object[] args) {
        if (!sql.contains(LIST)) {
            return new Spread(sql, Arrays.asList(args));
        }
        StringBuilder text = new StringBuilder(sql.length());
        List<@Nullable Object> values = new ArrayList<>();
        int from = 0;
        for (@Nullable Object arg : args) {
            int place = sql.indexOf('?', from);
            text.append(sql, from, place);
            if (sql.startsWith(LIST, place)) {
                text.append(list(arg, values));
                from = place + LIST.length();
            } else {
                text.append('?');
                values.add(arg);
                from = place + 1;
            }
        }
        return new Spread(text.append(sql, from, sql.length()).toString(), values);
    }

    private static String list(@Nullable Object array, List<@Nullable Object> values) {
        if (array instanceof long[] numbers) {
            return numbers.length == 0
                    ? NOTHING
                    : Arrays.stream(numbers).mapToObj(Long::toString).collect(Collectors.joining(", "));
        }
        if (array instanceof String[] names) {
            Collections.addAll(values, (Object[]) names);
            return names.length == 0 ? NOTHING : String.join(", ", Collections.nCopies(names.length, "?"));
        }
        throw new IllegalArgumentException("no list: " + array);
    }
}
