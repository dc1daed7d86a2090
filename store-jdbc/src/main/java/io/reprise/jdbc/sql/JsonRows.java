// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.sql;

import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Many rows as one JSON text with an array per row, which {@code json_table} turns into rows. */
public final class JsonRows {

    private final StringBuilder json = new StringBuilder();

    private JsonRows() {}

    public static <T> String of(List<T> items, Function<T, @Nullable Object[]> row) {
        JsonRows rows = new JsonRows();
        for (T item : items) {
            rows.json.append(rows.json.isEmpty() ? "[[" : ",[");
            char separator = 0;
            for (Object value : row.apply(item)) {
                if (separator != 0) {
                    rows.json.append(separator);
                }
                rows.add(value);
                separator = ',';
            }
            rows.json.append(']');
        }
        return rows.json.isEmpty() ? "[]" : rows.json.append(']').toString();
    }

    private void add(@Nullable Object value) {
        if (value == null || value instanceof Number) {
            json.append(value);
        } else {
            quote(value instanceof Enum<?> constant ? constant.name() : Session.storable((String) value));
        }
    }

    private void quote(String text) {
        json.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                json.append('\\').append(c);
            } else if (c < ' ') {
                json.append("\\u00").append(Character.forDigit(c >> 4, 16)).append(Character.forDigit(c & 15, 16));
            } else {
                json.append(c);
            }
        }
        json.append('"');
    }
}
