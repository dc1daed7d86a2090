// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.store.ControlRow;
import io.reprise.store.Note;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Shared control state, and the jobs that are parked because of it. */
final class ControlStates {

    private static final String ALL = "select name, version, state from reprise_control order by name";

    // Compare and set in one statement; the primary key serves both, and the loser of a race changes nothing.
    private static final String CREATE = """
            insert into reprise_control (name, version, state)
            values (?, ?, ?)
            """;

    private static final String CHANGE = """
            update reprise_control
               set version = ?, state = ?
             where name = ? and version = ?
            """;

    private static final String PARKED = """
            select parked_by, count(*)
              from reprise_job
             where parked_by is not null and due_at is not null
             group by parked_by
            """;

    // Jumps from name to name through reprise_job_parked, however many jobs are parked.
    static final String NAMES = """
            with recursive found (name) as (
              select (select parked_by from reprise_job
                       where parked_by is not null and due_at is not null
                       order by parked_by limit 1)
              union all
              select (select j.parked_by from reprise_job j
                       where j.parked_by > f.name and j.parked_by is not null and j.due_at is not null
                       order by j.parked_by limit 1)
                from found f
               where f.name is not null)
            select name from found where name is not null
            """;

    private static final String NEXT_NAME = "select min(parked_by) from reprise_job where parked_by > ?";

    // Reads reprise_job_parked from the earliest due on. Two at once take different jobs.
    static final String EARLIEST = """
            select id
              from reprise_job
             where parked_by = ? and due_at is not null
               and queue not in (select name from reprise_queue where paused_at is not null)
             order by due_at, id
             limit ?
            {skip_locked}
            """;

    // A second time these are no longer parked. No claim looks at a parked job, so it needs no queue's lock.
    static final String UNPARK = """
            update reprise_job {by primary}
               set lane = lane - 3, parked_by = null
             where parked_by is not null and id {in}
            """;

    private ControlStates() {}

    static List<ControlRow> all(Session session) throws SQLException {
        return session.list(ALL, row -> new ControlRow(row.text(), row.number(), row.text()));
    }

    static OptionalLong put(Session session, ControlRow row, @Nullable String action, @Nullable Note note)
            throws SQLException {
        long version = session.dialect().nextControlVersion(session);
        int written = row.version() == 0
                ? session.dialect().insertUnlessThere(session, CREATE, row.name(), version, row.state())
                : session.update(CHANGE, version, row.state(), row.name(), row.version());
        if (written == 1 && action != null && note != null) {
            Audit.write(session, action, null, row.name(), note, null);
        }
        return written == 1 ? OptionalLong.of(version) : OptionalLong.empty();
    }

    static boolean remove(Session session, String name, long version) throws SQLException {
        return session.update("delete from reprise_control where name = ? and version = ?", name, version) == 1;
    }

    static Map<String, Long> parked(Session session) throws SQLException {
        Map<String, Long> counts = new TreeMap<>();
        session.list(PARKED, row -> counts.put(row.text(), row.number()));
        return counts;
    }

    static Set<String> parkedBy(Session session) throws SQLException {
        return new HashSet<>(session.dialect().names(session, NAMES, NEXT_NAME));
    }

    static int unpark(Session session, String name, int max) throws SQLException {
        Dialect dialect = session.dialect();
        List<Long> earliest = session.list(dialect.sql(EARLIEST), Row::number, name, max);
        return earliest.isEmpty()
                ? 0
                : session.update(dialect.sql(UNPARK), (Object)
                        earliest.stream().mapToLong(Long::longValue).sorted().toArray());
    }
}
