// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.jobs;

import io.reprise.jdbc.sql.Dialect;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.ShownColumns;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.jdbc.sql.SqlTime;
import io.reprise.job.DeadGroup;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobState;
import io.reprise.job.Page;
import io.reprise.store.DueQueues;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds jobs by their properties, newest id first. A page reads a limited number of index rows: the first statement
 * finds the lowest id that these reach, the second reads the page from there up.
 */
public final class JobQueries {

    /** States that have an index of their own. */
    private static final Set<JobState> INDEXED = Set.of(JobState.FAILED, JobState.CANCELLED);

    private final JobRows jobs;

    public JobQueries(JobRows jobs) {
        this.jobs = jobs;
    }

    /** Conditions with their values, in the same order. */
    private static final class Filter {
        private final List<String> conditions = new ArrayList<>(List.of("1 = 1"));
        private final List<@Nullable Object> values = new ArrayList<>();

        private void and(String condition, @Nullable Object value) {
            if (value != null) {
                conditions.add(condition);
                values.add(value);
            }
        }

        private String text() {
            return String.join(" and ", conditions);
        }
    }

    public Page<Job> find(Session session, JobQuery query) throws SQLException {
        List<ShownColumns> shown = shown(session, query);
        long floor = floor(session, query, shown);
        Statement statement = statement(session.dialect(), query, shown, floor);
        List<Job> found = session.list(
                statement.sql(), jobs.reader(session), statement.values().toArray());
        if (found.size() <= query.limit()) {
            return new Page<>(found, next(floor));
        }
        List<Job> page = found.subList(0, query.limit());
        return new Page<>(page, page.get(page.size() - 1).id().toString());
    }

    private static @Nullable String next(long floor) {
        return floor == 0 ? null : new JobId(floor).toString();
    }

    private static List<ShownColumns> shown(Session session, JobQuery query) throws SQLException {
        Dialect dialect = session.dialect();
        boolean few = query.states().contains(JobState.PENDING) && dialect.hasFewLive(session, query.looks());
        return dialect.shown(query.states(), few);
    }

    public record Statement(String sql, List<@Nullable Object> values) {}

    /** Returns the id down to which a page reads; 0 if it may read all jobs. */
    private static long floor(Session session, JobQuery query, List<ShownColumns> shown) throws SQLException {
        if (isIndexed(query)) {
            return 0;
        }
        Statement statement = floorStatement(session.dialect(), query, shown);
        return session.one(statement.sql(), SqlRow::number, statement.values().toArray());
    }

    /** Whether an index holds exactly the matching jobs, or nearly all of its jobs match. */
    private static boolean isIndexed(JobQuery query) {
        return filter(query.after(null), 0).values.isEmpty() && INDEXED.containsAll(query.states());
    }

    /** Finds the last row within the limit for each part. Below the highest of these ids some part is not complete. */
    public static Statement floorStatement(Dialect dialect, JobQuery query, List<ShownColumns> shown) {
        List<String> parts = new ArrayList<>();
        List<@Nullable Object> values = new ArrayList<>();
        for (ShownColumns part : shown) {
            Filter filter = new Filter();
            if (part.hasKeys()) {
                boolean byError = query.fingerprint() != null;
                filter.and("fingerprint = ?", query.fingerprint());
                filter.and("queue = ?", byError ? null : query.queue());
            }
            filter.and("id < ?", cursor(query.cursor()));
            parts.add("select coalesce((select id from " + part.scanned() + " and " + filter.text()
                    + " order by id desc limit 1 offset ?), 0) as last");
            values.addAll(filter.values);
            values.add(query.looks() / shown.size() - 1);
        }
        String sql = "select max(last) from (" + String.join(" union all ", parts) + ") floors";
        return new Statement(dialect.once(sql), values);
    }

    /** Reads one job more than the page holds, to know whether there are more. */
    public static Statement statement(Dialect dialect, JobQuery query, List<ShownColumns> shown, long floor) {
        Filter filter = filter(query, floor);
        filter.values.add(query.limit() + 1);
        String columns = query.isBrief() ? "{brief}" : "{show}";
        List<String> parts = new ArrayList<>();
        List<@Nullable Object> values = new ArrayList<>();
        for (ShownColumns part : shown) {
            parts.add("select * from (select " + columns + " from " + part.view() + " and " + filter.text()
                    + " order by id desc limit ?) part" + parts.size());
            values.addAll(filter.values);
        }
        values.add(query.limit() + 1);
        String sql = dialect.once(String.join(" union all ", parts) + " order by id desc limit ?");
        return new Statement(sql, values);
    }

    /** Groups the dead letters that one page reads. */
    public Page<DeadGroup> deadGroups(Session session, JobQuery query, int limit) throws SQLException {
        Dialect dialect = session.dialect();
        JobQuery dead = query.state(JobState.FAILED);
        List<ShownColumns> shown = dialect.shown(dead.states(), false);
        Statement look = floorStatement(dialect, dead, shown);
        long floor = session.one(look.sql(), SqlRow::number, look.values().toArray());
        Filter filter = filter(dead, floor);
        String sql = "select fingerprint, count(*) as size, min(finished_at), max(finished_at), max(id) from "
                + shown.get(0).view() + " and " + filter.text()
                + " group by fingerprint order by size desc, fingerprint limit ?";
        filter.values.add(limit);
        List<Group> groups = session.list(
                dialect.once(sql),
                row -> new Group(row.textOrNull(), row.number(), row.instant(), row.instant(), row.number()),
                filter.values.toArray());
        return new Page<>(whole(session, groups, query.isBrief()), next(floor));
    }

    private List<DeadGroup> whole(Session session, List<Group> groups, boolean brief) throws SQLException {
        List<Long> ids = groups.stream().map(Group::latest).toList();
        Map<Long, Job> latest = new HashMap<>();
        for (Job job : brief ? jobs.findBrief(session, ids) : jobs.find(session, ids)) {
            latest.put(job.id().value(), job);
        }
        List<DeadGroup> whole = new ArrayList<>();
        for (Group group : groups) {
            Job job = latest.get(group.latest);
            if (job != null) {
                whole.add(new DeadGroup(group.fingerprint, group.count, group.firstAt, group.lastAt, job));
            }
        }
        return whole;
    }

    private record Group(@Nullable String fingerprint, long count, Instant firstAt, Instant lastAt, long latest) {}

    private static Filter filter(JobQuery query, long floor) {
        Filter filter = new Filter();
        filter.and("queue = ?", query.queue());
        filter.and("queue >= ?", query.queuePrefix());
        filter.and("queue < ?", query.queuePrefix() == null ? null : query.queuePrefix() + DueQueues.END);
        filter.and("type = ?", query.type());
        filter.and("resource = ?", query.resource());
        filter.and("{position}(tags, ?) > 0", query.tag() == null ? null : "," + query.tag() + ",");
        filter.and("fingerprint = ?", query.fingerprint());
        filter.and("schedule = ?", query.schedule());
        filter.and("created_at >= ?", ceiling(query.createdFrom()));
        filter.and("created_at < ?", ceiling(query.createdBefore()));
        filter.and("id < ?", cursor(query.cursor()));
        filter.and("id >= ?", floor == 0 ? null : floor);
        return filter;
    }

    /** Rounds a bound between two microseconds up. */
    private static @Nullable Long ceiling(@Nullable Instant instant) {
        return instant == null ? null : SqlTime.of(instant.plusNanos(999));
    }

    private static @Nullable Long cursor(@Nullable String cursor) {
        if (cursor == null) {
            return null;
        }
        try {
            return JobId.parse(cursor).value();
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(e.getMessage() + ", and no cursor of this store: pass Page.next()", e);
        }
    }
}
