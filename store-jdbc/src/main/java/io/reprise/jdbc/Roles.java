// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import java.sql.SQLException;
import java.time.Duration;

/** Who leads what, for how long. */
final class Roles {

    // Compares and sets in one statement: the row is the holder's until its term ends.
    private static final String LEAD = """
            update reprise_role
               set worker = ?, expires_at = {now} + ?
             where name = ? and (worker = ? or expires_at <= {now})
            """;

    // The first ever; of several at once one.
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
