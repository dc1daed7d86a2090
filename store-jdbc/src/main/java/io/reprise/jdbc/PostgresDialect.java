// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

final class PostgresDialect implements Dialect {

    /** First half of our advisory locks; the second is a hash of what is locked. */
    static final int LOCKS = 0x52455052;

    private final Map<String, String> cache = new ConcurrentHashMap<>();

    @Override
    public String product() {
        return "PostgreSQL";
    }

    @Override
    public String name() {
        return "postgresql";
    }

    @Override
    public String sql(String template) {
        return cache.computeIfAbsent(template, text -> Columns.in(text)
                .replace("{now}", "reprise_now()")
                .replace("{next_id}", "nextval('reprise_job_id')")
                .replace("{next_token}", "nextval('reprise_token')")
                .replace("{in}", "= any (?)")
                .replace("{finished}", "reprise_finished")
                .replace("{position}", "strpos"));
    }

    @Override
    public List<String> views() {
        return List.of("reprise_show_live", "reprise_show_finished");
    }

    @Override
    public void bindArray(PreparedStatement statement, int index, Object array) throws SQLException {
        String type = array instanceof String[] ? "text" : array instanceof boolean[] ? "bool" : "int8";
        statement.setArray(index, statement.getConnection().createArrayOf(type, boxed(array)));
    }

    private static Object[] boxed(Object array) {
        if (array instanceof Object[] objects) {
            return objects;
        }
        int length = java.lang.reflect.Array.getLength(array);
        Object[] boxed = new Object[length];
        for (int i = 0; i < length; i++) {
            boxed[i] = java.lang.reflect.Array.get(array, i);
        }
        return boxed;
    }

    @Override
    public void limit(PreparedStatement statement, int seconds) throws SQLException {
        statement.setQueryTimeout(seconds);
    }

    @Override
    public void lockQueue(Session session, String queue) throws SQLException {
        session.list("select pg_advisory_xact_lock(?, hashtext(?))", row -> 1, LOCKS, queue);
    }

    @Override
    public void lockSchema(Session session) throws SQLException {
        session.list("select pg_advisory_xact_lock(?, 0)", row -> 1, LOCKS + 1);
    }
}
