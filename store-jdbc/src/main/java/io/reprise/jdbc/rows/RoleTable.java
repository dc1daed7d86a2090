// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.rows;

import io.reprise.jdbc.sql.Dialect;
import io.reprise.jdbc.sql.Params;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlTime;
import java.sql.SQLException;
import java.time.Duration;

/** Stores which worker leads a role, and until when, in {@code reprise_role}. */
public final class RoleTable {

    // Compare and set in one statement: the row belongs to its worker until its term ends.
    private static final String LEAD = """
            update reprise_role
               set worker = :worker, expires_at = {now} + :term
             where name = :role and (worker = :worker or expires_at <= {now})
            """;

    // The first leader of a role. Of several inserts at once, one succeeds.
    private static final String FIRST = """
            insert into reprise_role (name, worker, expires_at)
            values (?, ?, {now} + ?)
            """;

    private RoleTable() {}

    public static boolean lead(Session session, String role, String worker, Duration term) throws SQLException {
        Dialect dialect = session.dialect();
        long micros = SqlTime.of(term);
        return session.update(
                                dialect.sql(LEAD),
                                Params.of("worker", worker).and("term", micros).and("role", role))
                        == 1
                || dialect.insertUnlessThere(session, dialect.sql(FIRST), role, worker, micros) == 1;
    }

    public static void resign(Session session, String role, String worker) throws SQLException {
        session.update("delete from reprise_role where name = ? and worker = ?", role, worker);
    }
}
