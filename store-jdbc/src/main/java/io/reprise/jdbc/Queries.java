// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.Job;
import io.reprise.JobId;
import io.reprise.JobState;
import io.reprise.store.JobQuery;
import io.reprise.store.Page;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Finds jobs by what they are, newest id first. */
final class Queries {

    private static final Set<JobState> LIVE = Set.of(JobState.PENDING, JobState.RUNNING);

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

        private void and(String condition) {
            conditions.add(condition);
        }
    }

    Page<Job> find(Session session, JobQuery query) throws SQLException {
        List<Job> found = new ArrayList<>();
        for (String view : session.dialect().views()) {
            if (isWanted(view, query.states())) {
                found.addAll(find(session, view, query));
            }
        }
        found.sort(Comparator.comparing(Job::id).reversed());
        if (found.size() <= query.limit()) {
            return new Page<>(found, null);
        }
        List<Job> page = found.subList(0, query.limit());
        return new Page<>(page, page.get(page.size() - 1).id().toString());
    }

    private List<Job> find(Session session, String view, JobQuery query) throws SQLException {
        Filter filter = filter(query);
        String condition = String.join(" and ", filter.conditions) + " order by id desc limit ?";
        filter.values.add(query.limit() + 1);
        return session.list(Jobs.select(session, view, condition), jobs.reader(session), filter.values.toArray());
    }

    private static boolean isWanted(String view, Set<JobState> states) {
        return switch (view) {
            case "reprise_show_live" -> states.isEmpty() || states.stream().anyMatch(LIVE::contains);
            case "reprise_show_finished" -> states.isEmpty() || states.stream().anyMatch(JobState::isTerminal);
            default -> true;
        };
    }

    private static Filter filter(JobQuery query) {
        Filter filter = new Filter();
        Set<JobState> states = query.states();
        if (!states.isEmpty()) {
            // Literals, so that the partial index on dead letters is seen to fit.
            filter.and(states.stream()
                    .map(state -> "'" + state + "'")
                    .sorted()
                    .collect(Collectors.joining(", ", "state in (", ")")));
        }
        if (states.equals(Set.of(JobState.RUNNING))) {
            filter.and("id in (select h.id from reprise_held h)");
        }
        filter.and("queue = ?", query.queue());
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
            throw new IllegalArgumentException("'" + cursor + "' is not a cursor of this store: pass Page.next()", e);
        }
    }
}
