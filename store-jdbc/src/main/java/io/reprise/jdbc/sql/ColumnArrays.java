// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.sql;

import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Many rows as one array per column, which PostgreSQL's {@code unnest} turns into rows. */
public final class ColumnArrays {

    /** The type of a column. */
    public enum Kind {
        /** A bigint; true is 1. */
        NUMBER("bigint"),
        REAL("double precision"),
        TEXT("text");

        private final String type;

        Kind(String type) {
            this.type = type;
        }

        /** A cast to this type, for places where the database cannot infer it. */
        public String cast(String value) {
            return "cast(" + value + " as " + type + ")";
        }

        private @Nullable Object[] array(int length) {
            return switch (this) {
                case NUMBER -> new @Nullable Long[length];
                case REAL -> new @Nullable Double[length];
                case TEXT -> new @Nullable String[length];
            };
        }
    }

    private ColumnArrays() {}

    /**
     * Placeholders for the arrays. The sub-select hides the array length from the planner, so that it
     * always uses the primary key.
     */
    public static String placeholders(List<Kind> kinds) {
        return kinds.stream().map(kind -> "(select ?::" + kind.type + "[])").collect(Collectors.joining(", "));
    }

    /**
     * Returns the arrays. A column without values becomes an empty array, because {@code unnest} fills
     * missing values with null.
     */
    public static <T> Object[] of(List<Kind> kinds, List<T> items, Function<T, @Nullable Object[]> row) {
        @Nullable Object[][] columns = new @Nullable Object[kinds.size()][];
        for (int i = 0; i < items.size(); i++) {
            put(row.apply(items.get(i)), i, columns, kinds, items.size());
        }
        for (int column = 0; column < columns.length; column++) {
            if (columns[column] == null) {
                columns[column] = kinds.get(column).array(0);
            }
        }
        return columns;
    }

    /** Apart from the loop over the rows, which would be compiled again and again while it grows. */
    private static void put(
            @Nullable Object[] values, int row, @Nullable Object[][] columns, List<Kind> kinds, int rows) {
        for (int column = 0; column < columns.length; column++) {
            Object value = values[column];
            if (value != null) {
                if (columns[column] == null) {
                    columns[column] = kinds.get(column).array(rows);
                }
                columns[column][row] = stored(value);
            }
        }
    }

    private static Object stored(Object value) {
        if (value instanceof String text) {
            return Session.storable(text);
        }
        if (value instanceof Double) {
            return value;
        }
        if (value instanceof Boolean flag) {
            return flag ? 1L : 0L;
        }
        return value instanceof Enum<?> constant ? constant.name() : ((Number) value).longValue();
    }
}
