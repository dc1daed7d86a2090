// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.rows;

import io.reprise.insight.ControlEvent;
import io.reprise.insight.ControlEvent.Kind;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.jdbc.sql.SqlTime;
import io.reprise.store.InsightStore;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Keeps the changes of breakers and budgets in {@code reprise_control_event}, the newest of the fleet. */
public final class ControlEventTable {

    // In the order of the key, so that two writers do not deadlock. The same change again leaves its row as it is.
    private static final String ADD = """
            insert into reprise_control_event (subject, at, kind, why)
            values (?, ?, ?, ?)
            {on_conflict (subject, at, kind)}
                   why = {new.why}
            """;

    // The primary key serves it.
    private static final String LAST = """
            select kind, subject, at, why
              from reprise_control_event
             where subject = ?
             order by at desc, kind desc
             limit ?
            """;

    private static final String BEYOND = """
            select at
              from reprise_control_event
             order by at desc
             limit 1 offset ?
            """;

    private static final String FORGET = "delete from reprise_control_event where at <= ?";

    private ControlEventTable() {}

    public static void add(Session session, List<ControlEvent> events) throws SQLException {
        List<@Nullable Object[]> rows = new ArrayList<>();
        events.stream()
                .sorted(Comparator.comparing(ControlEvent::subject)
                        .thenComparing(ControlEvent::at)
                        .thenComparing(event -> event.kind().name()))
                .forEach(event -> rows.add(new @Nullable Object[] {
                    event.subject(), SqlTime.of(event.at()), event.kind().name(), Session.storable(event.why())
                }));
        session.updateEach(session.dialect().sql(ADD), rows);
    }

    public static List<ControlEvent> last(Session session, String subject, int limit) throws SQLException {
        return session.list(
                LAST,
                row -> new ControlEvent(
                        SqlRow.constant(Kind.class, row.text(), Kind.BREAKER_OPENED),
                        row.text(),
                        row.instant(),
                        row.text()),
                subject,
                limit);
    }

    /** Deletes what is older than this time, and the oldest of too many. */
    static void forget(Session session, long before) throws SQLException {
        long beyond = session.first(BEYOND, SqlRow::number, InsightStore.MAX_CONTROL_EVENTS)
                .orElse(before);
        session.update(FORGET, Math.max(before, beyond));
    }
}
