// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.rows;

import io.reprise.jdbc.sql.Dialect;
import io.reprise.jdbc.sql.Params;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.job.AuditNote;
import io.reprise.job.QueueState;
import io.reprise.store.ControlRow;
import io.reprise.store.Unparking;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Reads and writes control state in {@code reprise_control}, and unparks jobs. */
public final class ControlTable {

    private static final String ALL = "select name, version, state from reprise_control order by name";

    private static final String NAMED = "select name, version, state from reprise_control where name {in ?}";

    // The index reprise_control_changed serves it.
    static final String AFTER = "select name, version, state from reprise_control where version > ?";

    // Each version is used by one transaction, so these are the rows that it stored.
    static final String STORED = "select name from reprise_control where version = ?";

    // Compare and set in one statement. The primary key serves both; the loser of a race changes nothing.
    private static final String CREATE_UNLESS_THERE = """
            insert into reprise_control (name, version, state)
            values (?, ?, ?)
            {on_conflict (name)} version = reprise_control.version
            """;

    private static final String CHANGE = """
            update reprise_control
               set version = ?, state = ?
             where name = ? and version = ?
            """;

    private static final String REMOVE = "delete from reprise_control where name = ? and version = ?";

    // One statement counts several names: # is the number of the name.
    private static final String PARKED = """
            select cast(:name# as {text}) as name, count(*)
              from (select 1 as one
                      from reprise_job
                     where parked_by = :name# and parked_by is not null and due_at is not null
                     limit :max) p
            """;

    /** Names that one statement counts. */
    private static final int PIECE = 50;

    private static final String PARKED_IN_PIECE = parkedOf(PIECE);
    private static final String PARKED_OF_ONE = parkedOf(1);

    // Jumps from name to name through the index reprise_job_parked, however many jobs are parked.
    public static final String NAMES = """
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

    private static final String LOCK_PARKED = """
            select id
              from reprise_job {by primary}
             where parked_by is not null and id {in ?}
             order by id
            {skip_locked}
            """;

    // Idempotent: unparked jobs no longer match. No claim reads a parked job, so no queue's lock is needed.
    public static final String UNPARK = """
            update reprise_job {by primary}
               set lane = lane - 3, parked_by = null
             where parked_by is not null and id {in ?}
            """;

    // Fresh jobs of a backlog (lane 3) go to the lane of retries (1).
    static final String UNPARK_BACKLOG = """
            update reprise_job {by primary}
               set lane = case when lane = 3 then 1 else lane - 3 end, parked_by = null
             where parked_by is not null and id {in ?}
            """;

    // Nothing holds these jobs any more, so their wait_reason no longer says BREAKER. It is assigned before lane,
    // because MySQL assigns from left to right.
    static final String FREE = """
            update reprise_job {by primary}
               set wait_reason = case when lane = 3 then 'NEW' else 'RETRY' end, lane = lane - 3, parked_by = null
             where parked_by is not null and id {in ?}
            """;

    static final String FREE_BACKLOG = """
            update reprise_job {by primary}
               set wait_reason = case when lane = 3 then 'NEW' else 'RETRY' end,
                   lane = case when lane = 3 then 1 else lane - 3 end, parked_by = null
             where parked_by is not null and id {in ?}
            """;

    private ControlTable() {}

    public static List<ControlRow> all(Session session) throws SQLException {
        return session.list(ALL, ControlTable::row);
    }

    public static List<ControlRow> named(Session session, Collection<String> names) throws SQLException {
        return names.isEmpty()
                ? List.of()
                : session.list(session.dialect().sql(NAMED), ControlTable::row, (Object) names.toArray(String[]::new));
    }

    public static List<ControlRow> after(Session session, long version) throws SQLException {
        return session.list(AFTER, ControlTable::row, version);
    }

    private static ControlRow row(SqlRow row) throws SQLException {
        return new ControlRow(row.text(), row.number(), row.text());
    }

    /** Changes control state on behalf of a person, with an audit entry. */
    public static OptionalLong put(Session session, ControlRow row, String action, AuditNote note) throws SQLException {
        OptionalLong version = put(session, List.of(row)).get(0);
        if (version.isPresent()) {
            AuditTable.write(session, action, null, row.name(), note, null);
        }
        return version;
    }

    /**
     * Stores all rows under one version. It updates existing rows first and inserts new rows then, both in the order of
     * their names. So two such transactions never deadlock.
     */
    public static List<OptionalLong> put(Session session, List<ControlRow> rows) throws SQLException {
        long version = session.dialect().nextControlVersion(session);
        List<@Nullable Object[]> there = new ArrayList<>();
        List<@Nullable Object[]> created = new ArrayList<>();
        for (ControlRow row :
                rows.stream().sorted(Comparator.comparing(ControlRow::name)).toList()) {
            if (row.version() == 0) {
                created.add(new @Nullable Object[] {row.name(), version, row.state()});
            } else {
                there.add(new @Nullable Object[] {version, row.state(), row.name(), row.version()});
            }
        }
        if (!there.isEmpty()) {
            session.updateEach(CHANGE, there);
        }
        if (!created.isEmpty()) {
            session.updateEach(session.dialect().sql(CREATE_UNLESS_THERE), created);
        }
        Set<String> stored = new HashSet<>(session.list(STORED, SqlRow::text, version));
        return rows.stream()
                .map(row -> stored.contains(row.name()) ? OptionalLong.of(version) : OptionalLong.empty())
                .toList();
    }

    public static Set<String> remove(Session session, List<ControlRow> rows) throws SQLException {
        Set<String> removed = new HashSet<>();
        List<ControlRow> sorted =
                rows.stream().sorted(Comparator.comparing(ControlRow::name)).toList();
        for (ControlRow row : sorted) {
            if (session.update(REMOVE, row.name(), row.version()) == 1) {
                removed.add(row.name());
            }
        }
        return removed;
    }

    public static Map<String, Long> parked(Session session) throws SQLException {
        List<String> names = session.dialect().names(session, NAMES, NEXT_NAME);
        int most = QueueState.countable(names.size());
        Map<String, Long> counts = new TreeMap<>();
        for (int from = 0; from < names.size(); from += PIECE) {
            List<String> piece = names.subList(from, Math.min(names.size(), from + PIECE));
            session.list(
                    session.dialect().sql(piece.size() == 1 ? PARKED_OF_ONE : PARKED_IN_PIECE),
                    row -> counts.put(row.text(), row.number()),
                    counted(piece, most));
        }
        counts.values().removeIf(jobs -> jobs == 0);
        return counts;
    }

    /** Returns the values for {@link #PARKED}, once or for a whole piece. Empty names fill the piece. */
    private static Params counted(List<String> names, int most) {
        Params params = Params.of("max", most);
        for (int n = 0; n < PIECE; n++) {
            params.and("name" + n, n < names.size() ? names.get(n) : "");
        }
        return params;
    }

    private static String parkedOf(int names) {
        return IntStream.range(0, names)
                .mapToObj(n -> PARKED.replace("#", Integer.toString(n)))
                .collect(Collectors.joining("union all\n"));
    }

    public static Set<String> parkedBy(Session session) throws SQLException {
        return new HashSet<>(session.dialect().names(session, NAMES, NEXT_NAME));
    }

    /** Unparks jobs. Requests that need the same update share one statement. */
    public static List<Integer> unpark(Session session, List<Unparking> requests) throws SQLException {
        session.dialect().preferIndexes(session);
        Map<String, List<Integer>> alike = new TreeMap<>();
        for (int i = 0; i < requests.size(); i++) {
            if (requests.get(i).max() > 0) {
                alike.computeIfAbsent(update(requests.get(i)), sql -> new ArrayList<>())
                        .add(i);
            }
        }
        List<Integer> unparked = new ArrayList<>(Collections.nCopies(requests.size(), 0));
        for (Map.Entry<String, List<Integer>> each : alike.entrySet()) {
            unpark(session, requests, each.getValue(), each.getKey(), unparked);
        }
        return unparked;
    }

    private static void unpark(
            Session session, List<Unparking> requests, List<Integer> alike, String sql, List<Integer> unparked)
            throws SQLException {
        Dialect dialect = session.dialect();
        List<List<Long>> found =
                dialect.parked(session, alike.stream().map(requests::get).toList());
        long[] ids = found.stream()
                .flatMap(List::stream)
                .mapToLong(Long::longValue)
                .distinct()
                .sorted()
                .toArray();
        if (ids.length == 0) {
            return;
        }
        // Jobs that another transaction unparks at the same time are skipped.
        Set<Long> locked = new HashSet<>(session.list(dialect.sql(LOCK_PARKED), SqlRow::number, (Object) ids));
        if (!locked.isEmpty()) {
            session.update(dialect.sql(sql), (Object)
                    locked.stream().mapToLong(Long::longValue).sorted().toArray());
        }
        for (int n = 0; n < alike.size(); n++) {
            // If two requests have one name, each job counts for the first.
            int count = (int) found.get(n).stream().filter(locked::remove).count();
            unparked.set(alike.get(n), count);
        }
    }

    private static String update(Unparking request) {
        if (request.since() == null) {
            return request.free() ? FREE_BACKLOG : UNPARK_BACKLOG;
        }
        return request.free() ? FREE : UNPARK;
    }
}
