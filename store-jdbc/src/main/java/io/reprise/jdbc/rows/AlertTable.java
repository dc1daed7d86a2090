// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.rows;

import io.reprise.insight.Alert;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.jdbc.sql.SqlTime;
import java.sql.SQLException;
import java.util.List;

/** Reads and writes the raised alerts in {@code reprise_alert}. */
public final class AlertTable {

    private static final String RAISE = """
            insert into reprise_alert (kind, type, value, threshold, since)
            values (?, ?, ?, ?, ?)
            """;

    private static final String ALL = """
            select kind, type, value, threshold, since
              from reprise_alert
             order by kind, type
            """;

    private AlertTable() {}

    public static boolean raise(Session session, Alert alert) throws SQLException {
        return session.dialect()
                        .insertUnlessThere(
                                session,
                                RAISE,
                                alert.kind(),
                                alert.type(),
                                alert.value(),
                                alert.threshold(),
                                SqlTime.of(alert.since()))
                == 1;
    }

    public static boolean clear(Session session, Alert alert) throws SQLException {
        return session.update("delete from reprise_alert where kind = ? and type = ?", alert.kind(), alert.type()) == 1;
    }

    public static List<Alert> all(Session session) throws SQLException {
        return session.list(
                ALL,
                row -> new Alert(
                        SqlRow.constant(Alert.Kind.class, row.text(), Alert.Kind.RETRY_COUNT),
                        row.text(),
                        row.real(),
                        row.real(),
                        row.instant(),
                        null));
    }
}
