// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.rows;

import io.reprise.insight.Activity;
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
 * Stores what workers have counted: evidence, spending and activity. There are few rows. They are written in the order
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

    private static final String ADD_ACTIVITY = """
            insert into reprise_activity (minute, type, jobs, retried, retries, dead, backoff_us)
            values (?, ?, ?, ?, ?, ?, ?)
            {on_conflict (minute, type)}
                   jobs = reprise_activity.jobs + {new.jobs},
                   retried = reprise_activity.retried + {new.retried},
                   retries = reprise_activity.retries + {new.retries},
                   dead = reprise_activity.dead + {new.dead},
                   backoff_us = reprise_activity.backoff_us + {new.backoff_us}
            """;

    private static final String ACTIVITY = """
            select type, cast(sum(jobs) as {bigint}), cast(sum(retried) as {bigint}), cast(sum(retries) as {bigint}),
                   cast(sum(dead) as {bigint}), cast(sum(backoff_us) as {bigint})
              from reprise_activity
             where minute > ? and minute <= ?
             group by type
             order by type
            """;

    private static final long MINUTE = SqlTime.of(Duration.ofMinutes(1));
    private static final long DAY = SqlTime.of(Duration.ofDays(1));
    private static final long KEEP_ACTIVITY = SqlTime.of(Duration.ofHours(3));
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

    private static final Kind<Activity> ACTIVITY_ROWS = new Kind<>(
            InsightStore.MAX_ACTIVITY,
            row -> new Key(row.type(), "", "", ""),
            row -> row.of(Activity.REST),
            Activity::plus);

    private InsightTables() {}

    public static void addCounts(Session session, WorkerCounts workerCounts) throws SQLException {
        long now = session.now();
        addEvidence(session, workerCounts.evidence(), now);
        addSpending(session, workerCounts.spending(), now - Math.floorMod(now, DAY));
        addActivity(session, workerCounts.activity(), now - Math.floorMod(now, MINUTE));
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

    private static void addActivity(Session session, List<Activity> more, long minute) throws SQLException {
        List<@Nullable Object[]> rows = new ArrayList<>();
        for (Activity row : fitted(session, more, ACTIVITY_ROWS, """
                select type, '' as resource, '' as error, '' as more from reprise_activity where minute = ?
                """, minute)) {
            rows.add(new Object[] {
                minute, row.type(), row.jobs(), row.retried(), row.retries(), row.dead(), SqlTime.of(row.backoff())
            });
        }
        write(session, ADD_ACTIVITY, rows);
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

    public static List<Activity> activity(Session session, Duration ago, int minutes) throws SQLException {
        long then = session.now() - SqlTime.of(ago);
        long last = then - Math.floorMod(then, MINUTE);
        return session.list(
                session.dialect().sql(ACTIVITY),
                row -> new Activity(
                        row.text(),
                        row.number(),
                        row.number(),
                        row.number(),
                        row.number(),
                        SqlTime.duration(row.number())),
                last - minutes * MINUTE,
                last);
    }

    public static void forget(Session session) throws SQLException {
        long now = session.now();
        session.update("delete from reprise_activity where minute < ?", now - KEEP_ACTIVITY);
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
