// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.rows;

import io.reprise.fairness.FlowGate;
import io.reprise.fairness.FlowKey;
import io.reprise.fairness.FlowLimit;
import io.reprise.fairness.GroupRules;
import io.reprise.jdbc.sql.Dialect;
import io.reprise.jdbc.sql.Params;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.store.Claim;
import io.reprise.store.Turns;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The limits of the groups and types of a queue. Running jobs are counted from the leases, so nothing leaks when a worker dies. The
 * times of rates are rows of {@code reprise_rate}; only claims of a queue under its lock write them.
 */
public final class FlowTable {

    // Starts from the leases, which are few, and looks up each of their jobs.
    private static final String RUNNING = """
            select x.job_group, count(*)
              from (select (select j.job_group from reprise_job j
                             where j.id = h.id and j.token < h.token and j.due_at is not null) as job_group
                      from reprise_held h
                     where h.queue = ?) x
             where x.job_group is not null
             group by x.job_group
            """;

    private static final String RUNNING_TYPES = """
            select x.type, count(*)
              from (select (select j.type from reprise_job j
                             where j.id = h.id and j.token < h.token and j.due_at is not null) as type
                      from reprise_held h
                     where h.queue = ?) x
             where x.type is not null
             group by x.type
            """;

    private static final String KEYS = """
            select id, job_group, type, coalesce(due_at, 0)
              from reprise_job {by primary}
             where id {in ?}
            """;

    private static final String RATES = """
            select name, next_at
              from reprise_rate
             where queue = ? and name {in ?}
            """;

    private static final String PUT = """
            insert into reprise_rate (queue, name, next_at)
            values (?, ?, ?)
            {on_conflict (queue, name)} next_at = {new.next_at}
            """;

    // The jobs that started last in groups that keep their order, if they have not ended.
    private static final String HEADS = """
            select h.name, h.job_id
              from reprise_head h
             where h.queue = ? and h.name {in ?}
               and exists (
                 select 1 from reprise_job j {by primary} where j.id = h.job_id and j.queue = h.queue and j.due_at is not null)
            """;

    private static final String PUT_HEAD = """
            insert into reprise_head (queue, name, job_id)
            values (?, ?, ?)
            {on_conflict (queue, name)} job_id = {new.job_id}
            """;

    // In the order of the primary key, from a place on.
    private static final String ENDED_HEADS = """
            select h.queue, h.name, h.job_id,
                   exists (select 1 from reprise_job j {by primary} where j.id = h.job_id and j.due_at is not null)
              from reprise_head h
             where h.queue > :queue or (h.queue = :queue and h.name > :name)
             order by h.queue, h.name
             limit 1000
            """;

    // Another job of the group may have started meanwhile, or this one was put back.
    private static final String FORGET_HEAD = """
            delete from reprise_head
             where queue = ? and name = ? and job_id = ?
               and not exists (
                 select 1 from reprise_job j {by primary} where j.id = reprise_head.job_id and j.due_at is not null)
            """;

    // A time in the past limits nothing.
    private static final String FORGET = "delete from reprise_rate where next_at < ?";

    private FlowTable() {}

    /** Returns what the groups of a queue may start now. */
    public static FlowGate gate(Session session, String queue, GroupRules rules, Collection<String> groups)
            throws SQLException {
        Dialect dialect = session.dialect();
        Map<String, Integer> running = new HashMap<>();
        if (isAnyRunning(rules.limits())) {
            session.list(RUNNING, row -> running.put(row.text(), row.integer()), queue);
        }
        if (isAnyRunning(rules.types())) {
            session.list(RUNNING_TYPES, row -> running.put(FlowGate.ofType(row.text()), row.integer()), queue);
        }
        Map<String, Long> rates = new HashMap<>();
        Set<String> keys = FlowGate.keys(rules, groups);
        if (!keys.isEmpty()) {
            session.list(
                    dialect.sql(RATES), row -> rates.put(row.text(), row.number()), queue, keys.toArray(String[]::new));
        }
        return new FlowGate(rules, session.now(), running, rates, heads(session, queue, rules, groups));
    }

    private static Map<String, Long> heads(Session session, String queue, GroupRules rules, Collection<String> groups)
            throws SQLException {
        Map<String, Long> heads = new HashMap<>();
        Set<String> ordered = FlowGate.ordered(rules, groups);
        if (!ordered.isEmpty()) {
            session.list(
                    session.dialect().sql(HEADS),
                    row -> heads.put(row.text(), row.number()),
                    queue,
                    ordered.toArray(String[]::new));
        }
        return heads;
    }

    private static boolean isAnyRunning(Map<String, FlowLimit> limits) {
        return limits.values().stream().anyMatch(limit -> limit.running() != null);
    }

    /** Returns what a walk without a lock may find in a queue. */
    public static <J> Turns.Limits<J, SQLException> limits(
            Session session, String queue, GroupRules rules, ToLongFunction<J> id) {
        return new Turns.Limits<>() {
            @Override
            public FlowGate gate(Collection<String> groups) throws SQLException {
                return FlowTable.gate(session, queue, rules, groups);
            }

            @Override
            public Map<J, FlowKey> keys(List<J> jobs) throws SQLException {
                Map<Long, FlowKey> byId = FlowTable.keys(session, jobs, id);
                Map<J, FlowKey> keys = new HashMap<>();
                for (J job : jobs) {
                    FlowKey key = byId.get(id.applyAsLong(job));
                    if (key != null) {
                        keys.put(job, key);
                    }
                }
                return keys;
            }
        };
    }

    /**
     * Returns the locked jobs that may start before the ones that were found and are not locked: of a group that keeps its
     * order none may.
     */
    public static <J> List<J> inOrder(
            Session session, GroupRules rules, List<Long> found, List<J> locked, ToLongFunction<J> id)
            throws SQLException {
        if (!rules.isOrdered() || locked.size() == found.size()) {
            return locked;
        }
        Map<Long, FlowKey> keys = keys(session, found, Long::longValue);
        Set<Long> missing = new HashSet<>(found);
        locked.forEach(job -> missing.remove(id.applyAsLong(job)));
        Set<String> groups = new HashSet<>();
        missing.forEach(job -> groups.add(group(keys.get(job))));
        Set<String> ordered = FlowGate.ordered(rules, groups);
        return locked.stream()
                .filter(job -> !ordered.contains(group(keys.get(id.applyAsLong(job)))))
                .toList();
    }

    /** Returns the group of a job; the empty text if it has none. */
    private static String group(@Nullable FlowKey job) {
        return job == null || job.group() == null ? "" : job.group();
    }

    private static <J> Map<Long, FlowKey> keys(Session session, List<J> jobs, ToLongFunction<J> id)
            throws SQLException {
        Map<Long, FlowKey> keys = new HashMap<>();
        long[] ids = jobs.stream().mapToLong(id).sorted().toArray();
        if (ids.length > 0) {
            session.list(session.dialect().sql(KEYS), FlowTable::key, (Object) ids)
                    .forEach(key -> keys.put(key.job(), key));
        }
        return keys;
    }

    private static FlowKey key(SqlRow row) throws SQLException {
        long id = row.number();
        return new FlowKey(row.textOrNull(), row.text(), id, row.number());
    }

    /**
     * Returns those of these jobs that may start now, and notes their starts. The caller has the queue's lock alone, and
     * leases all of them in the same transaction.
     */
    public static <J> List<J> admit(Session session, String queue, GroupRules rules, List<J> jobs, ToLongFunction<J> id)
            throws SQLException {
        if (!rules.isLimited() || jobs.isEmpty()) {
            return jobs;
        }
        Map<Long, FlowKey> keys = keys(session, jobs, id);
        Set<String> groups = new HashSet<>();
        keys.values().stream().map(FlowKey::group).filter(Objects::nonNull).forEach(groups::add);
        FlowGate gate = gate(session, queue, rules, groups);
        List<J> admitted = new ArrayList<>();
        for (J job : jobs) {
            FlowKey key = keys.get(id.applyAsLong(job));
            if (key != null && gate.admits(key)) {
                admitted.add(job);
            }
        }
        write(session, queue, gate);
        return admitted;
    }

    /** Notes the starts of claimed jobs. The caller has the queue's lock alone. */
    public static void started(Session session, String queue, FlowGate gate, List<Claim> claims) throws SQLException {
        for (Claim claim : claims) {
            claim.jobs()
                    .forEach(job -> gate.admits(
                            new FlowKey(job.spec().group(), job.type(), job.id().value())));
        }
        write(session, queue, gate);
    }

    private static void write(Session session, String queue, FlowGate gate) throws SQLException {
        List<@Nullable Object[]> rows = new ArrayList<>();
        gate.changed().forEach((key, next) -> rows.add(new @Nullable Object[] {queue, key, next}));
        if (!rows.isEmpty()) {
            session.updateEach(session.dialect().sql(PUT), rows);
        }
        List<@Nullable Object[]> heads = new ArrayList<>();
        gate.started().forEach((group, job) -> heads.add(new @Nullable Object[] {queue, group, job}));
        if (!heads.isEmpty()) {
            session.updateEach(session.dialect().sql(PUT_HEAD), heads);
        }
    }

    /** Deletes times that have passed. */
    public static void forget(Session session) throws SQLException {
        session.update(FORGET, session.now());
    }

    /** A row of {@code reprise_head}. */
    public record Head(String queue, String name, long job, boolean live) {

        /** The place before all rows. */
        public static final Head NONE = new Head("", "", 0, true);
    }

    /**
     * Deletes rows whose jobs have ended: their groups wait for nothing. Looks at a thousand rows.
     *
     * @param after where the last call ended
     * @return where this call ended; empty if there are no more
     */
    public static Optional<Head> forgetHeads(Session session, Head after) throws SQLException {
        List<Head> heads = session.list(
                session.dialect().sql(ENDED_HEADS),
                row -> new Head(row.text(), row.text(), row.number(), row.flag()),
                Params.of("queue", after.queue).and("name", after.name));
        List<@Nullable Object[]> ended = heads.stream()
                .filter(head -> !head.live)
                .map(head -> new @Nullable Object[] {head.queue, head.name, head.job})
                .toList();
        if (!ended.isEmpty()) {
            session.updateEach(session.dialect().sql(FORGET_HEAD), ended);
        }
        return heads.isEmpty() ? Optional.empty() : Optional.of(heads.get(heads.size() - 1));
    }
}
