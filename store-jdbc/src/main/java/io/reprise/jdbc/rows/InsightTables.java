// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.rows;

import io.reprise.insight.CostEntry;
import io.reprise.insight.ErrorKey;
import io.reprise.insight.Evidence;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.jdbc.sql.SqlTime;
import io.reprise.store.InsightStore;
import io.reprise.store.WorkerCounts;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BinaryOperator;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Stores what workers have counted: evidence and spending, and activity in a table of its own. There are few rows. They are written in the order
 * of their keys, so that two writers do not deadlock.
 */
public final class InsightTables {

    // The stored numbers decay with their age. After 40 half-lives they count as 0.
    private static final String ADD_EVIDENCE =
            """
            insert into reprise_evidence (type, resource, error, attempt, error_type, tries, successes, seen_at)
            values (?, ?, ?, ?, ?, ?, ?, ?)
            {on_conflict (type, resource, error, attempt)}
                   tries = {new.tries} + reprise_evidence.tries * {left},
                   successes = {new.successes} + reprise_evidence.successes * {left},
                   seen_at = {new.seen_at}
            """.replace("{left}", """
                case
                     when {new.seen_at} <= reprise_evidence.seen_at then 1
                     when {new.seen_at} - reprise_evidence.seen_at > 40 * {half_life} then 0
                     else pow(0.5, ({new.seen_at} - reprise_evidence.seen_at) / {half_life}.0)
                   end""").replace("{half_life}", Long.toString(SqlTime.of(Evidence.HALF_LIFE)));

    private static final String EVIDENCE = """
            select type, resource, error, error_type, attempt, tries, successes, seen_at
              from reprise_evidence
             order by type, resource, error, attempt
            """;

    private static final String ADD_SPENDING = """
            insert into reprise_spending (
              day, type, resource, error, unit, error_type, runs, successes, amount, wasted)
            values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            {on_conflict (day, type, resource, error, unit)}
                   runs = reprise_spending.runs + {new.runs},
                   successes = reprise_spending.successes + {new.successes},
                   amount = reprise_spending.amount + {new.amount},
                   wasted = reprise_spending.wasted + {new.wasted}
            """;

    private static final String SPENDING = """
            select type, resource, error, min(error_type), unit, cast(sum(runs) as {bigint}), cast(sum(successes) as {bigint}),
                   sum(amount), sum(wasted)
              from reprise_spending
             where day >= ?
             group by type, resource, error, unit
             order by type, resource, error, unit
            """;

    private static final long DAY = SqlTime.of(Duration.ofDays(1));
    private static final long KEEP_SPENDING = SqlTime.of(Duration.ofDays(31));

    /** The key of a row, in its order. */
    private record Key(String type, String resource, String error, String more) implements Comparable<Key> {

        private static final Comparator<Key> ORDER = Comparator.comparing(Key::type)
                .thenComparing(Key::resource)
                .thenComparing(Key::error)
                .thenComparing(Key::more);

        static Key of(ErrorKey cause, Object more) {
            return new Key(cause.type(), stored(cause.resource()), cause.error(), more.toString());
        }

        @Override
        public int compareTo(Key other) {
            return ORDER.compare(this, other);
        }
    }

    /** How rows of one kind are identified and added up. */
    private record Kind<R>(int max, Function<R, Key> key, UnaryOperator<R> rest, BinaryOperator<R> plus) {}

    private static final Kind<Evidence> EVIDENCE_ROWS = new Kind<>(
            InsightStore.MAX_EVIDENCE,
            row -> Key.of(row.cause(), row.attempt()),
            row -> new Evidence(ErrorKey.REST, Evidence.LAST_ATTEMPT, row.tries(), row.successes()),
            Evidence::plus);

    private static final Kind<CostEntry> SPENDING_ROWS = new Kind<>(
            InsightStore.MAX_SPENDING,
            row -> Key.of(row.cause(), row.unit()),
            row -> row.of(ErrorKey.REST),
            CostEntry::plus);

    private InsightTables() {}

    public static void addCounts(Session session, WorkerCounts workerCounts) throws SQLException {
        long now = session.now();
        addEvidence(session, workerCounts.evidence(), now);
        addSpending(session, workerCounts.spending(), now - Math.floorMod(now, DAY));
        ActivityTable.add(session, workerCounts.activity(), now);
    }

    private static void addEvidence(Session session, List<Evidence> more, long now) throws SQLException {
        List<@Nullable Object[]> rows = new ArrayList<>();
        for (Evidence row : fitted(session, more, EVIDENCE_ROWS, """
                select type, resource, error, cast(attempt as {text}) from reprise_evidence where seen_at > ?
                """, Long.MIN_VALUE)) {
            ErrorKey cause = row.cause();
            rows.add(new Object[] {
                cause.type(),
                stored(cause.resource()),
                cause.error(),
                row.attempt(),
                cause.errorType(),
                row.tries(),
                row.successes(),
                now
            });
        }
        write(session, ADD_EVIDENCE, rows);
    }

    private static void addSpending(Session session, List<CostEntry> more, long day) throws SQLException {
        List<@Nullable Object[]> rows = new ArrayList<>();
        for (CostEntry row : fitted(session, more, SPENDING_ROWS, """
                select type, resource, error, unit from reprise_spending where day = ?
                """, day)) {
            ErrorKey cause = row.cause();
            rows.add(new Object[] {
                day,
                cause.type(),
                stored(cause.resource()),
                cause.error(),
                row.unit(),
                cause.errorType(),
                row.runs(),
                row.successes(),
                row.amount(),
                row.wasted()
            });
        }
        write(session, ADD_SPENDING, rows);
    }

    private static void write(Session session, String sql, List<@Nullable Object[]> rows) throws SQLException {
        if (!rows.isEmpty()) {
            session.updateEach(session.dialect().sql(sql), rows);
        }
    }

    /** Returns the rows to write, in order. Rows beyond the maximum are added up as the rest. */
    private static <R> List<R> fitted(Session session, List<R> more, Kind<R> kind, String present, long since)
            throws SQLException {
        if (more.isEmpty()) {
            return List.of();
        }
        Set<Key> taken = new HashSet<>();
        String shown = session.dialect().sql(present);
        long there = session.one("select count(*) from (" + shown + ") x", SqlRow::number, since);
        boolean tight = there + more.size() > kind.max;
        if (tight) {
            session.list(shown, row -> taken.add(new Key(row.text(), row.text(), row.text(), row.text())), since);
        }
        Map<Key, R> fitted = new LinkedHashMap<>();
        for (R row : more) {
            Key key = kind.key.apply(row);
            boolean fits = !tight || taken.contains(key) || taken.size() < kind.max;
            R written = fits ? row : kind.rest.apply(row);
            taken.add(kind.key.apply(written));
            fitted.merge(kind.key.apply(written), written, kind.plus);
        }
        return fitted.entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .map(Map.Entry::getValue)
                .toList();
    }

    public static List<Evidence> evidence(Session session) throws SQLException {
        long now = session.now();
        return session.list(EVIDENCE, row -> {
            ErrorKey cause = readCause(row);
            Evidence then = new Evidence(cause, row.integer(), row.real(), row.real());
            return then.aged(SqlTime.duration(now - row.number()));
        });
    }

    public static List<CostEntry> spending(Session session, Duration age) throws SQLException {
        long since = session.now() - SqlTime.of(age);
        return session.list(
                session.dialect().sql(SPENDING),
                row -> new CostEntry(readCause(row), row.text(), row.number(), row.number(), row.real(), row.real()),
                since - Math.floorMod(since, DAY));
    }

    public static void forget(Session session) throws SQLException {
        long now = session.now();
        ActivityTable.forget(session, now);
        ControlEventTable.forget(session, now - KEEP_SPENDING);
        session.update("delete from reprise_spending where day < ?", now - KEEP_SPENDING - DAY);
        List<@Nullable Object[]> faded = new ArrayList<>();
        for (Evidence row : evidence(session)) {
            if (row.tries() < 0.5) {
                ErrorKey cause = row.cause();
                faded.add(new Object[] {cause.type(), stored(cause.resource()), cause.error(), row.attempt()});
            }
        }
        write(
                session,
                "delete from reprise_evidence where type = ? and resource = ? and error = ? and attempt = ?",
                faded);
    }

    private static ErrorKey readCause(SqlRow row) throws SQLException {
        String type = row.text();
        String resource = row.text();
        return new ErrorKey(type, resource.isEmpty() ? null : resource, row.text(), row.text());
    }

    private static String stored(@Nullable String resource) {
        return resource == null ? "" : resource;
    }
}
