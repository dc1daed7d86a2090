// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.sql;

import java.sql.Array;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The current row of a result, read column by column in the order of the statement. */
public final class SqlRow {

    private final ResultSet answer;
    private int column;

    SqlRow(ResultSet answer) {
        this.answer = answer;
    }

    SqlRow rewind() {
        column = 0;
        return this;
    }

    public long number() throws SQLException {
        return answer.getLong(++column);
    }

    public int integer() throws SQLException {
        return answer.getInt(++column);
    }

    public double real() throws SQLException {
        return answer.getDouble(++column);
    }

    public boolean flag() throws SQLException {
        return answer.getBoolean(++column);
    }

    public Instant instant() throws SQLException {
        return SqlTime.instant(number());
    }

    public String text() throws SQLException {
        String value = textOrNull();
        if (value == null) {
            throw new SQLException("column " + column + " is null");
        }
        return value;
    }

    public @Nullable String textOrNull() throws SQLException {
        return answer.getString(++column);
    }

    /** Returns the constant of this name; {@code other} if a newer version wrote a name that is unknown here. */
    public <E extends Enum<E>> @Nullable E constantOrNull(Class<E> type, E other) throws SQLException {
        String name = textOrNull();
        return name == null ? null : constant(type, name, other);
    }

    public static <E extends Enum<E>> E constant(Class<E> type, String name, E other) {
        for (E constant : type.getEnumConstants()) {
            if (constant.name().equals(name)) {
                return constant;
            }
        }
        return other;
    }

    public @Nullable Long numberOrNull() throws SQLException {
        long value = number();
        return answer.wasNull() ? null : value;
    }

    public @Nullable Integer integerOrNull() throws SQLException {
        int value = integer();
        return answer.wasNull() ? null : value;
    }

    public @Nullable Double realOrNull() throws SQLException {
        double value = real();
        return answer.wasNull() ? null : value;
    }

    public @Nullable Boolean flagOrNull() throws SQLException {
        boolean value = flag();
        return answer.wasNull() ? null : value;
    }

    public @Nullable Instant instantOrNull() throws SQLException {
        Long micros = numberOrNull();
        return micros == null ? null : SqlTime.instant(micros);
    }

    public @Nullable Duration durationOrNull() throws SQLException {
        Long micros = numberOrNull();
        return micros == null ? null : SqlTime.duration(micros);
    }

    /** Reads an array, or a JSON array where the database has no arrays. */
    public List<Long> numbers() throws SQLException {
        Object value = answer.getObject(++column);
        return value instanceof Array array
                ? Arrays.stream((Object[]) array.getArray())
                        .map(number -> ((Number) number).longValue())
                        .toList()
                : numbers(String.valueOf(value));
    }

    private static List<Long> numbers(String json) {
        List<Long> numbers = new ArrayList<>();
        long number = 0;
        for (int i = 0; i < json.length(); i++) {
            char c = json.charAt(i);
            if (c >= '0' && c <= '9') {
                number = 10 * number + c - '0';
            } else if (number > 0) {
                numbers.add(number);
                number = 0;
            }
        }
        return numbers;
    }
}
