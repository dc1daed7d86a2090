// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.sql;

import io.reprise.job.JobId;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A connection in use: binds values, runs statements, reads rows. Every statement has the store's timeout. A statement
 * binds either {@link Params} by name, or a few values by position, each of them once. Not thread-safe.
 */
public final class Session {

    /** Reads one row. */
    public interface Reader<T> {
        T read(SqlRow row) throws SQLException;
    }

    private final Connection connection;
    private final Dialect dialect;
    private final int timeoutSeconds;
    private final Use use;
    private final @Nullable Map<String, PreparedStatement> kept;

    /** The owner of the connection. */
    public enum Use {
        /** The store keeps the connection for good: statements stay prepared. */
        KEPT,
        /** The store took the connection from a pool. */
        POOLED,
        /** The connection belongs to a caller, with the caller's transaction. */
        JOINED
    }

    public Session(Connection connection, Dialect dialect, int timeoutSeconds, Use use) {
        this.connection = connection;
        this.dialect = dialect;
        this.timeoutSeconds = timeoutSeconds;
        this.use = use;
        this.kept = use == Use.KEPT ? new HashMap<>() : null;
    }

    public boolean isJoined() {
        return use == Use.JOINED;
    }

    /** Replaces the characters that databases refuse: the null character and unpaired surrogates. */
    public static String storable(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == 0 || Character.isSurrogate(c)) {
                return text.codePoints()
                        .map(point -> point == 0 || isSurrogate(point) ? 0xFFFD : point)
                        .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                        .toString();
            }
        }
        return text;
    }

    private static boolean isSurrogate(int codePoint) {
        return codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE;
    }

    public int timeoutSeconds() {
        return timeoutSeconds;
    }

    public Connection connection() {
        return connection;
    }

    public Dialect dialect() {
        return dialect;
    }

    /** Returns the store's time: that of the transaction on PostgreSQL, of this moment elsewhere. */
    public long now() throws SQLException {
        return one(dialect.sql("select {now}"), SqlRow::number);
    }

    /**
     * Makes a refusal safe, as {@link Database.Refusal} asks. A statement that changes nothing does not wait for a
     * standby, so an old primary could report an outdated state. After this call the commit waits as the commit of a
     * write does. Where each statement commits by itself, this is one more statement.
     */
    void confirm() throws SQLException {
        dialect.confirm(this);
    }

    public <T> List<T> list(String sql, Reader<T> reader, @Nullable Object... args) throws SQLException {
        return run(sql, args, statement -> {
            try (ResultSet answer = statement.executeQuery()) {
                return readAll(answer, reader);
            }
        });
    }

    /**
     * Returns the rows of the last of several statements in one text. They run as one transaction in one round trip.
     */
    public <T> List<T> listOfLast(String sql, Reader<T> reader, @Nullable Object... args) throws SQLException {
        return run(sql, args, statement -> {
            statement.execute();
            statement.getMoreResults();
            try (ResultSet answer = statement.getResultSet()) {
                return readAll(answer, reader);
            }
        });
    }

    public <T> List<T> list(String sql, Reader<T> reader, Params params) throws SQLException {
        NamedSql named = dialect.words().named(sql);
        return list(named.sql(), reader, params.inOrder(named.names()));
    }

    public <T> List<T> listOfLast(String sql, Reader<T> reader, Params params) throws SQLException {
        NamedSql named = dialect.words().named(sql);
        return listOfLast(named.sql(), reader, params.inOrder(named.names()));
    }

    public <T> Optional<T> first(String sql, Reader<T> reader, Params params) throws SQLException {
        NamedSql named = dialect.words().named(sql);
        return first(named.sql(), reader, params.inOrder(named.names()));
    }

    public <T> T one(String sql, Reader<T> reader, Params params) throws SQLException {
        NamedSql named = dialect.words().named(sql);
        return one(named.sql(), reader, params.inOrder(named.names()));
    }

    public int update(String sql, Params params) throws SQLException {
        NamedSql named = dialect.words().named(sql);
        return update(named.sql(), params.inOrder(named.names()));
    }

    public <T> Optional<T> first(String sql, Reader<T> reader, @Nullable Object... args) throws SQLException {
        List<T> rows = list(sql, reader, args);
        return rows.isEmpty() ? Optional.empty() : Optional.of(rows.get(0));
    }

    public <T> T one(String sql, Reader<T> reader, @Nullable Object... args) throws SQLException {
        return first(sql, reader, args).orElseThrow(() -> new SQLException("no row from: " + sql));
    }

    public int update(String sql, @Nullable Object... args) throws SQLException {
        return run(sql, args, PreparedStatement::executeUpdate);
    }

    /** Runs a statement that changes the schema. Some drivers return a result even for that. */
    public void define(String sql) throws SQLException {
        run(sql, PreparedStatement::execute);
    }

    /** Runs one statement with names for many rows. */
    public void updateEachNamed(String sql, List<Params> rows) throws SQLException {
        NamedSql named = dialect.words().named(sql);
        updateEach(
                named.sql(),
                rows.stream().map(row -> row.inOrder(named.names())).toList());
    }

    /**
     * Runs one statement with names for many rows, in few round trips where driver or database can. Returns how many rows
     * each changed; a negative number if the driver does not say.
     */
    public int[] updateEachCounted(String sql, List<Params> rows) throws SQLException {
        if (dialect.spreadsArrays()) {
            // MariaDB's bulk protocol takes inserts of values only.
            int[] counts = new int[rows.size()];
            for (int i = 0; i < counts.length; i++) {
                counts[i] = update(sql, rows.get(i));
            }
            return counts;
        }
        NamedSql named = dialect.words().named(sql);
        return run(named.sql(), statement -> {
            for (Params row : rows) {
                bind(statement, row.inOrder(named.names()));
                statement.addBatch();
            }
            return statement.executeBatch();
        });
    }

    /** Runs one statement for many rows, in few round trips where driver or database can. */
    public void updateEach(String sql, List<@Nullable Object[]> rows) throws SQLException {
        if (dialect.spreadsArrays() && ManyRows.isInsert(sql)) {
            for (ManyRows some : ManyRows.of(sql, rows)) {
                update(some.sql(), some.args().toArray());
            }
            return;
        }
        run(sql, statement -> {
            for (@Nullable Object[] args : rows) {
                bind(statement, args);
                statement.addBatch();
            }
            return statement.executeBatch().length;
        });
    }

    public void close() throws SQLException {
        connection.close();
    }

    /** Runs a statement with its arguments. If the dialect spreads arrays, the text changes with their length. */
    private <T> T run(String sql, @Nullable Object[] args, Task<T> task) throws SQLException {
        if (!dialect.spreadsArrays()) {
            return run(sql, statement -> {
                bind(statement, args);
                return task.with(statement);
            });
        }
        Spread spread = Spread.of(sql, args);
        return run(spread.sql(), statement -> {
            bind(statement, spread.args().toArray());
            return task.with(statement);
        });
    }

    private interface Task<T> {
        T with(PreparedStatement statement) throws SQLException;
    }

    private <T> T run(String sql, Task<T> task) throws SQLException {
        if (kept != null) {
            PreparedStatement statement = kept.get(sql);
            if (statement == null) {
                statement = connection.prepareStatement(sql);
                kept.put(sql, statement);
            }
            return task.with(statement);
        }
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            dialect.limit(statement, timeoutSeconds);
            return task.with(statement);
        }
    }

    private static <T> List<T> readAll(ResultSet answer, Reader<T> reader) throws SQLException {
        List<T> rows = new ArrayList<>();
        SqlRow row = new SqlRow(answer);
        while (answer.next()) {
            rows.add(reader.read(row.rewind()));
        }
        return rows;
    }

    private void bind(PreparedStatement statement, @Nullable Object[] args) throws SQLException {
        for (int i = 0; i < args.length; i++) {
            Object value = args[i];
            if (value == null) {
                statement.setNull(i + 1, Types.NULL);
            } else if (value instanceof Long number) {
                statement.setLong(i + 1, number);
            } else if (value instanceof String text) {
                statement.setString(i + 1, storable(text));
            } else if (value instanceof Integer number) {
                statement.setInt(i + 1, number);
            } else if (value instanceof Double number) {
                statement.setDouble(i + 1, number);
            } else if (value instanceof Boolean flag) {
                statement.setBoolean(i + 1, flag);
            } else if (value instanceof JobId id) {
                statement.setLong(i + 1, id.value());
            } else if (value instanceof Enum<?> constant) {
                statement.setString(i + 1, constant.name());
            } else {
                dialect.bindArray(statement, i + 1, value);
            }
        }
    }
}
