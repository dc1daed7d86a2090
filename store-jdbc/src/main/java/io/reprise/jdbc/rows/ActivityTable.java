// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.rows;

import io.reprise.insight.Activity;
import io.reprise.insight.ActivityPeriod;
import io.reprise.jdbc.sql.Params;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.jdbc.sql.SqlTime;
import io.reprise.store.ActivityQuery;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Stores the counts of attempts by minute and by hour, of each type, queue, resource and error. The primary key serves
 * every statement. Rows are written in its order, so that two writers do not deadlock.
 */
public final class ActivityTable {

    private static final String ADD = """
            insert into reprise_series (
              step, subject, at, name, jobs, succeeded, failed, retried, retries, dead, backoff_us, ran_us)
            values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            {on_conflict (step, subject, at, name)}
                   jobs = reprise_series.jobs + {new.jobs},
                   succeeded = reprise_series.succeeded + {new.succeeded},
                   failed = reprise_series.failed + {new.failed},
                   retried = reprise_series.retried + {new.retried},
                   retries = reprise_series.retries + {new.retries},
                   dead = reprise_series.dead + {new.dead},
                   backoff_us = reprise_series.backoff_us + {new.backoff_us},
                   ran_us = reprise_series.ran_us + {new.ran_us}
            """;

    private static final String NAMES = """
            select name
              from reprise_series
             where step = ? and subject = ? and at = ?
            """;

    private static final String BY_TYPE = """
            select name, cast(sum(jobs) as {bigint}), cast(sum(succeeded) as {bigint}), cast(sum(failed) as {bigint}),
                   cast(sum(retried) as {bigint}), cast(sum(retries) as {bigint}), cast(sum(dead) as {bigint}),
                   cast(sum(backoff_us) as {bigint}), cast(sum(ran_us) as {bigint})
              from reprise_series
             where step = ? and subject = ? and at > ? and at <= ?
             group by name
             order by name
            """;

    private static final String SUMS = """
            select at, '' as name, cast(sum(jobs) as {bigint}), cast(sum(succeeded) as {bigint}),
                   cast(sum(failed) as {bigint}), cast(sum(retried) as {bigint}), cast(sum(retries) as {bigint}),
                   cast(sum(dead) as {bigint}), cast(sum(backoff_us) as {bigint}), cast(sum(ran_us) as {bigint})
              from reprise_series
             where step = ? and subject = ? and at > ? and at <= ?
             group by at
             order by at
            """;

    private static final String EACH = """
            select at, name, jobs, succeeded, failed, retried, retries, dead, backoff_us, ran_us
              from reprise_series
             where step = ? and subject = ? and at > ? and at <= ?
             order by at, name
            """;

    private static final String OF_NAME = """
            select at, name, jobs, succeeded, failed, retried, retries, dead, backoff_us, ran_us
              from reprise_series
             where step = :step and subject = :subject and at > :after and at <= :last and name = :name
             order by at
            """;

    private static final String OLDEST = """
            select at
              from reprise_series
             where step = ? and subject = ?
             order by at
             limit 1
            """;

    private static final String FORGET = """
            delete from reprise_series
             where step = ? and subject = ? and at < ?
            """;

    /** Periods that one statement deletes, and statements of one call. The next call goes on. */
    private static final int PERIODS = 10;

    private static final int STATEMENTS = 10;

    private ActivityTable() {}

    static void add(Session session, List<Activity> more, long now) throws SQLException {
        Map<Activity.Subject, List<Activity>> bySubject = new EnumMap<>(Activity.Subject.class);
        more.forEach(row -> bySubject
                .computeIfAbsent(row.subject(), subject -> new ArrayList<>())
                .add(row));
        List<@Nullable Object[]> rows = new ArrayList<>();
        for (Activity.Step step : Activity.Step.values()) {
            long at = begin(step, now);
            for (Map.Entry<Activity.Subject, List<Activity>> each : bySubject.entrySet()) {
                for (Activity row : fitted(session, step, at, each.getKey(), each.getValue())) {
                    rows.add(values(step, at, row));
                }
            }
        }
        if (!rows.isEmpty()) {
            session.updateEach(session.dialect().sql(ADD), rows);
        }
    }

    /** Returns the rows to write, by name. Names beyond the limit are added up as the rest. */
    private static Iterable<Activity> fitted(
            Session session, Activity.Step step, long at, Activity.Subject subject, List<Activity> more)
            throws SQLException {
        Set<String> taken = new HashSet<>(session.list(NAMES, SqlRow::text, step.name(), subject.name(), at));
        Map<String, Activity> fitted = new TreeMap<>();
        for (Activity row : more) {
            boolean fits = taken.contains(row.name()) || taken.size() < step.names();
            Activity written = fits ? row : row.of(Activity.REST);
            taken.add(written.name());
            fitted.merge(written.name(), written, Activity::plus);
        }
        return fitted.values();
    }

    private static @Nullable Object[] values(Activity.Step step, long at, Activity row) {
        Activity.Counts counts = row.counts();
        return new @Nullable Object[] {
            step.name(),
            row.subject().name(),
            at,
            row.name(),
            counts.jobs(),
            counts.succeeded(),
            counts.failed(),
            counts.retried(),
            counts.retries(),
            counts.dead(),
            SqlTime.of(counts.backoff()),
            SqlTime.of(counts.ran())
        };
    }

    public static List<Activity> activity(Session session, Duration ago, int minutes) throws SQLException {
        Activity.Step step = Activity.Step.MINUTE;
        long last = begin(step, session.now() - SqlTime.of(ago));
        return session.list(
                session.dialect().sql(BY_TYPE),
                row -> new Activity(Activity.Subject.TYPE, row.text(), counts(row)),
                step.name(),
                Activity.Subject.TYPE.name(),
                last - minutes * SqlTime.of(step.length()),
                last);
    }

    public static List<ActivityPeriod> activity(Session session, ActivityQuery query) throws SQLException {
        Activity.Step step = query.step();
        long last = begin(step, session.now());
        long after = last - query.periods() * SqlTime.of(step.length());
        String name = query.name();
        if (name != null) {
            return session.list(
                    OF_NAME,
                    ActivityTable::period,
                    Params.of("step", step.name())
                            .and("subject", query.subject().name())
                            .and("after", after)
                            .and("last", last)
                            .and("name", name));
        }
        return session.list(
                session.dialect().sql(query.each() ? EACH : SUMS),
                ActivityTable::period,
                step.name(),
                query.subject().name(),
                after,
                last);
    }

    private static ActivityPeriod period(SqlRow row) throws SQLException {
        return new ActivityPeriod(SqlTime.instant(row.number()), row.text(), counts(row));
    }

    private static Activity.Counts counts(SqlRow row) throws SQLException {
        return new Activity.Counts(
                row.number(),
                row.number(),
                row.number(),
                row.number(),
                row.number(),
                row.number(),
                SqlTime.duration(row.number()),
                SqlTime.duration(row.number()));
    }

    /** Deletes what is too old, some periods at a time. */
    static void forget(Session session, long now) throws SQLException {
        int left = STATEMENTS;
        for (Activity.Step step : Activity.Step.values()) {
            long first = begin(step, now - SqlTime.of(step.kept()));
            for (Activity.Subject subject : Activity.Subject.values()) {
                long oldest = oldest(session, step, subject);
                while (left > 0 && oldest < first) {
                    left--;
                    long until = Math.min(first, oldest + PERIODS * SqlTime.of(step.length()));
                    session.update(FORGET, step.name(), subject.name(), until);
                    oldest = oldest(session, step, subject);
                }
            }
        }
    }

    private static long oldest(Session session, Activity.Step step, Activity.Subject subject) throws SQLException {
        return session.first(OLDEST, SqlRow::number, step.name(), subject.name())
                .orElse(Long.MAX_VALUE);
    }

    private static long begin(Activity.Step step, long micros) {
        return micros - Math.floorMod(micros, SqlTime.of(step.length()));
    }
}
