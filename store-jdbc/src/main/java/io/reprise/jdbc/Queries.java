// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.Job;
import io.reprise.JobId;
import io.reprise.JobState;
import io.reprise.store.DeadGroup;
import io.reprise.store.JobQuery;
import io.reprise.store.Page;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Finds jobs by what they are, newest id first. */
final class Queries {

    private final Jobs jobs;

    Queries(Jobs jobs) {
        this.jobs = jobs;
    }

    /** Conditions with their values, in step. */
    private static final class Filter {
        private final List<String> conditions = new ArrayList<>(List.of("1 = 1"));
        private final List<@Nullable Object> values = new ArrayList<>();

        private void and(String condition, @Nullable Object value) {
            if (value != null) {
                conditions.add(condition);
                values.add(value);
            }
        }
    }

    Page<Job> find(Session session, JobQuery query) throws SQLException {
        Statement statement = statement(session.dialect(), query);
        List<Job> found = session.list(
                statement.sql(), jobs.reader(session), statement.values().toArray());
        if (found.size() <= query.limit()) {
            return new Page<>(found, null);
        }
        List<Job> page = found.subList(0, query.limit());
        return new Page<>(page, page.get(page.size() - 1).id().toString());
    }

    record Statement(String sql, List<@Nullable Object> values) {}

    /** One more than the page holds, to know whether there are more. */
    static Statement statement(Dialect dialect, JobQuery query) {
        Filter filter = filter(query);
        filter.values.add(query.limit() + 1);
        String condition = String.join(" and ", filter.conditions);
        List<String> parts = new ArrayList<>();
        List<@Nullable Object> values = new ArrayList<>();
        for (String view : dialect.shown(query.states())) {
            parts.add("select * from (select {show} from " + view + " and " + condition
                    + " order by id desc limit ?) part" + parts.size());
            values.addAll(filter.values);
        }
        values.add(query.limit() + 1);
        String sql = dialect.sql(String.join(" union all ", parts) + " order by id desc limit ?");
        return new Statement(sql, values);
    }

    /** Reads every dead letter that matches, by its partial index, and one whole job for each group. */
    List<DeadGroup> deadGroups(Session session, JobQuery query, int limit) throws SQLException {
        Dialect dialect = session.dialect();
        JobQuery dead = query.state(JobState.FAILED).after(null);
        Filter filter = filter(dead);
        String sql = "select fingerprint, count(*) as size, min(finished_at), max(finished_at), max(id) from "
                + dialect.shown(dead.states()).get(0) + " and " + String.join(" and ", filter.conditions)
                + " group by fingerprint order by size desc, fingerprint limit ?";
        filter.values.add(limit);
        List<Group> groups = session.list(
                dialect.sql(sql),
                row -> new Group(row.textOrNull(), row.number(), row.instant(), row.instant(), row.number()),
                filter.values.toArray());
        List<DeadGroup> whole = new ArrayList<>();
        for (Group group : groups) {
            jobs.find(session, new JobId(group.latest))
                    .ifPresent(job ->
                            whole.add(new DeadGroup(group.fingerprint, group.count, group.firstAt, group.lastAt, job)));
        }
        return whole;
    }

    private record Group(@Nullable String fingerprint, long count, Instant firstAt, Instant lastAt, long latest) {}

    private static Filter filter(JobQuery query) {
        Filter filter = new Filter();
        filter.and("queue = ?", query.queue());
        if (query.queuePrefix() != null) {
            filter.values.add(query.queuePrefix().length());
            filter.and("substr(queue, 1, ?) = ?", query.queuePrefix());
        }
        filter.and("type = ?", query.type());
        filter.and("resource = ?", query.resource());
        filter.and("{position}(tags, ?) > 0", query.tag() == null ? null : "," + query.tag() + ",");
        filter.and("fingerprint = ?", query.fingerprint());
        filter.and("schedule = ?", query.schedule());
        filter.and("created_at >= ?", ceiling(query.createdFrom()));
        filter.and("created_at < ?", ceiling(query.createdBefore()));
        filter.and("id < ?", cursor(query.cursor()));
        return filter;
    }

    /** A bound between two microseconds means the later one. */
    private static @Nullable Long ceiling(@Nullable Instant instant) {
        return instant == null ? null : Micros.of(instant.plusNanos(999));
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
