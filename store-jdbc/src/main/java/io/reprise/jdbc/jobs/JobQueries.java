// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.jobs;

import io.reprise.insight.DeadGroup;
import io.reprise.jdbc.sql.Batches;
import io.reprise.jdbc.sql.Dialect;
import io.reprise.jdbc.sql.Params;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.ShownColumns;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.jdbc.sql.SqlTime;
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

    /** Conditions with their values. */
    private static final class Filter {
        private final List<String> conditions = new ArrayList<>(List.of("1 = 1"));
        private final Params params;

        /** Creates a filter that adds its values to these. */
        private Filter(Params params) {
            this.params = params;
        }

        /** Adds a condition that names its value, unless there is none. */
        private void and(String condition, String name, @Nullable Object value) {
            if (value != null) {
                conditions.add(condition);
                params.and(name, value);
            }
        }

        private boolean isEmpty() {
            return conditions.size() == 1;
        }

        private String text() {
            return String.join(" and ", conditions);
        }
    }

    public Page<Job> find(Session session, JobQuery query) throws SQLException {
        List<ShownColumns> shown = shown(session, query);
        long floor = floor(session, query, shown);
        Statement statement = statement(session.dialect(), query, shown, floor);
        List<Job> found = session.list(statement.sql(), jobs.reader(session), statement.params());
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

    public record Statement(String sql, Params params) {}

    /** Returns the id down to which a page reads; 0 if it may read all jobs. */
    private static long floor(Session session, JobQuery query, List<ShownColumns> shown) throws SQLException {
        if (isIndexed(query)) {
            return 0;
        }
        Statement statement = floorStatement(session.dialect(), query, shown);
        return session.one(statement.sql(), SqlRow::number, statement.params());
    }

    /** Whether an index holds exactly the matching jobs, or nearly all of its jobs match. */
    private static boolean isIndexed(JobQuery query) {
        return filter(query.after(null), 0, Params.of("max", 0)).isEmpty() && INDEXED.containsAll(query.states());
    }

    /** Finds the last row within the limit for each part. Below the highest of these ids some part is not complete. */
    public static Statement floorStatement(Dialect dialect, JobQuery query, List<ShownColumns> shown) {
        List<String> parts = new ArrayList<>();
        for (ShownColumns part : shown) {
            String key = part.hasKeys() ? key(query) : null;
            String narrowed = key == null ? "" : " and " + key + " >= :" + key + " and " + key + " <= :" + key;
            String after = query.cursor() == null ? "" : " and id < :cursor";
            parts.add("select coalesce((select id from " + part.scanned() + narrowed + after + " order by "
                    + (key == null ? "" : key + " desc, ") + "id desc limit 1 offset :looks), 0) as last");
        }
        String sql = "select max(last) from (" + String.join(" union all ", parts) + ") floors";
        Params params = Params.of("fingerprint", query.fingerprint())
                .and("queue", query.queue())
                .and("cursor", cursor(query.cursor()))
                .and("looks", query.looks() / shown.size() - 1);
        return new Statement(dialect.once(sql), params);
    }

    /**
     * Returns the column with an index that narrows the look: the error or the queue. The look names its value as a range,
     * because the planner drops a column with one value from the order, and then may read the ids of all dead letters.
     */
    private static @Nullable String key(JobQuery query) {
        return query.fingerprint() != null ? "fingerprint" : query.queue() != null ? "queue" : null;
    }

    /** Reads one job more than the page holds, to know whether there are more. */
    public static Statement statement(Dialect dialect, JobQuery query, List<ShownColumns> shown, long floor) {
        Params params = Params.of("max", query.limit() + 1);
        String filter = filter(query, floor, params).text();
        String columns = query.isBrief() ? "{brief}" : "{show}";
        List<String> parts = new ArrayList<>();
        for (ShownColumns part : shown) {
            parts.add("select * from (select " + columns + " from " + part.view() + " and " + filter
                    + " order by id desc limit :max) part" + parts.size());
        }
        String sql = dialect.once(String.join(" union all ", parts) + " order by id desc limit :max");
        return new Statement(sql, params);
    }

    /** Groups the dead letters that one page reads. */
    public Page<DeadGroup> deadGroups(Session session, JobQuery query, int limit) throws SQLException {
        Dialect dialect = session.dialect();
        JobQuery dead = query.state(JobState.FAILED);
        List<ShownColumns> shown = dialect.shown(dead.states(), false);
        Statement look = floorStatement(dialect, dead, shown);
        long floor = session.one(look.sql(), SqlRow::number, look.params());
        Params params = Params.of("max", limit).and("looks", dead.looks());
        // The order of the ids leads to the index of exactly these rows; a planner might group all dead letters by
        // another.
        String sql = "select fingerprint, count(*) as size, min(finished_at), max(finished_at), max(id)"
                + " from (select fingerprint, finished_at, id from "
                + shown.get(0).view() + " and "
                + filter(dead, floor, params).text()
                + " order by id desc limit :looks) looked group by fingerprint order by size desc, fingerprint limit :max";
        List<Group> groups = session.list(
                dialect.once(sql),
                row -> new Group(row.textOrNull(), row.number(), row.instant(), row.instant(), row.number()),
                params);
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

    private static Filter filter(JobQuery query, long floor, Params params) {
        Filter filter = new Filter(params);
        filter.and("queue = :queue", "queue", query.queue());
        filter.and("queue >= :prefix", "prefix", query.queuePrefix());
        filter.and(
                "queue < :prefix_end",
                "prefix_end",
                query.queuePrefix() == null ? null : query.queuePrefix() + DueQueues.END);
        filter.and("type = :type", "type", query.type());
        filter.and("resource = :resource", "resource", query.resource());
        // True if the list of tags, with commas at both ends, contains the tag.
        filter.and("replace(tags, :tag, '') <> tags", "tag", query.tag() == null ? null : "," + query.tag() + ",");
        filter.and("fingerprint = :fingerprint", "fingerprint", query.fingerprint());
        filter.and("schedule = :schedule", "schedule", query.schedule());
        String member = query.batch() == null ? null : Batches.beginning(query.batch());
        filter.and("substr(chain, 1, :member_length) = :member", "member", member);
        if (member != null) {
            params.and("member_length", member.length());
        }
        filter.and("created_at >= :created_from", "created_from", ceiling(query.createdFrom()));
        filter.and("created_at < :created_before", "created_before", ceiling(query.createdBefore()));
        filter.and("id < :cursor", "cursor", cursor(query.cursor()));
        filter.and("id >= :floor", "floor", floor == 0 ? null : floor);
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
