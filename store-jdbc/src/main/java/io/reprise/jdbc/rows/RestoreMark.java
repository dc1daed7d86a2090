// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.rows;

import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlRow;
import java.sql.SQLException;
import java.util.List;

/**
 * Makes a database that was restored from a backup fit for use. It lacks everything since the backup, but
 * others remember: receivers know ids and tokens, workers hold leases. So ids, tokens and versions jump far
 * ahead, and all leases are deleted. The caller gives their jobs back before.
 */
public final class RestoreMark {

    /** More numbers than a system uses between two backups. */
    private static final long AHEAD = 1_000_000_000L;

    private static final List<String> NOBODY =
            List.of("delete from reprise_lease", "delete from reprise_worker", "delete from reprise_role");

    private static final List<String> SQLITE = List.of(
            "insert into sqlite_sequence (name, seq) select 'reprise_lease', 0"
                    + " where not exists (select 1 from sqlite_sequence where name = 'reprise_lease')",
            "insert into sqlite_sequence (name, seq) select 'reprise_job', 0"
                    + " where not exists (select 1 from sqlite_sequence where name = 'reprise_job')",
            "update sqlite_sequence set seq = seq + " + AHEAD + " where name in ('reprise_job', 'reprise_lease')",
            "update reprise_control_version set version = version + " + AHEAD);

    /** The counter of a MySQL table follows the greatest id that the table ever had. */
    private static final List<String> MYSQL = List.of(
            "delete from reprise_hold",
            "delete from reprise_expiry",
            "update reprise_sequence set value = value + " + AHEAD,
            "insert into reprise_lease (queue, worker, runner, alone, claimed_at) values ('', '', '', false, 0)",
            "insert into reprise_lease (id, queue, worker, runner, alone, claimed_at)" + " values (last_insert_id() + "
                    + AHEAD + ", '', '', '', false, 0)",
            "delete from reprise_lease");

    private static final List<String> SEQUENCES = List.of("reprise_job_id", "reprise_token", "reprise_control_version");

    private RestoreMark() {}

    /** Returns the tokens of all leases. */
    public static List<Long> leases(Session session) throws SQLException {
        return session.list("select id from reprise_lease order by id", SqlRow::number);
    }

    public static void repair(Session session) throws SQLException {
        runAll(session, NOBODY);
        switch (session.dialect().name()) {
            case "sqlite" -> runAll(session, SQLITE);
            case "mysql" -> runAll(session, MYSQL);
            default -> postgresql(session);
        }
    }

    private static void runAll(Session session, List<String> statements) throws SQLException {
        for (String statement : statements) {
            session.update(statement);
        }
    }

    private static void postgresql(Session session) throws SQLException {
        for (String sequence : SEQUENCES) {
            session.one(
                    "select setval('" + sequence + "', nextval('" + sequence + "') + " + AHEAD + ")", SqlRow::number);
        }
    }
}
