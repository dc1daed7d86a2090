// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import java.sql.SQLException;
import java.time.Duration;

/** Who leads what, for how long. */
final class Roles {

    // Compares and sets in one statement: the row is the holder's until its term ends.
    private static final String LEAD = """
            insert into reprise_role (name, worker, expires_at)
            values (?, ?, {now} + ?)
            on conflict (name) do update
               set worker = excluded.worker, expires_at = excluded.expires_at
             where reprise_role.worker = excluded.worker or reprise_role.expires_at <= {now}
            """;

    private Roles() {}

    static boolean lead(Session session, String role, String worker, Duration term) throws SQLException {
        return session.update(session.dialect().sql(LEAD), role, worker, Micros.of(term)) == 1;
    }

    static void resign(Session session, String role, String worker) throws SQLException {
        session.update("delete from reprise_role where name = ? and worker = ?", role, worker);
    }
}
