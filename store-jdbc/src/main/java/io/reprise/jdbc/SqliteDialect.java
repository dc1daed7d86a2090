// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/** A writing transaction is alone in the whole file, so it needs no further locks. */
final class SqliteDialect implements Dialect {

    private final Map<String, String> cache = new ConcurrentHashMap<>();

    @Override
    public String product() {
        return "SQLite";
    }

    @Override
    public String name() {
        return "sqlite";
    }

    @Override
    public String sql(String template) {
        return cache.computeIfAbsent(template, text -> Columns.in(text)
                .replace("{now}", "cast(round(unixepoch('subsec') * 1000) as integer) * 1000")
                .replace("{next_id}", "null")
                .replace("{next_token}", "null")
                .replace("{in}", "in (select value from json_each(?))")
                .replace("{finished}", "reprise_job")
                .replace("{position}", "instr"));
    }

    @Override
    public List<String> views() {
        return List.of("reprise_show");
    }

    /** Arrays travel as JSON. Only names and numbers do, and names need no escaping. */
    @Override
    public void bindArray(PreparedStatement statement, int index, Object array) throws SQLException {
        statement.setString(
                index,
                array instanceof long[] numbers
                        ? Arrays.toString(numbers)
                        : Arrays.stream((Object[]) array).map(name -> "\"" + name + "\"").collect(Collectors.joining(",", "[", "]")));
    }

    /** The busy timeout bounds every wait; a statement itself works on one bounded batch. */
    @Override
    public void limit(PreparedStatement statement, int seconds) {}

    @Override
    public void lockQueue(Session session, String queue) {}

    @Override
    public void lockSchema(Session session) {}
}
