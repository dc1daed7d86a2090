// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import java.sql.SQLException;
import java.time.Duration;

/** Stores which worker leads a role, and until when, in {@code reprise_role}. */
final class Roles {

    // Compare and set in one statement: the row belongs to its worker until its term ends.
    private static final String LEAD = """
            update reprise_role
               set worker = ?, expires_at = {now} + ?
             where name = ? and (worker = ? or expires_at <= {now})
            """;

    // The first leader of a role. Of several inserts at once, one succeeds.
    private static final String FIRST = """
            insert into reprise_role (name, worker, expires_at)
            values (?, ?, {now} + ?)
            """;

    private Roles() {}

    static boolean lead(Session session, String role, String worker, Duration term) throws SQLException {
        Dialect dialect = session.dialect();
        long micros = Micros.of(term);
        return session.update(dialect.sql(LEAD), worker, micros, role, worker) == 1
                || dialect.insertUnlessThere(session, dialect.sql(FIRST), role, worker, micros) == 1;
    }

    static void resign(Session session, String role, String worker) throws SQLException {
        session.update("delete from reprise_role where name = ? and worker = ?", role, worker);
    }
}
