// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.rows;

import io.reprise.fairness.FlowGate;
import io.reprise.fairness.GroupRules;
import io.reprise.jdbc.sql.Dialect;
import io.reprise.jdbc.sql.Session;
import io.reprise.store.Claim;
import io.reprise.store.Turns;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The limits of the groups of a queue. Running jobs are counted from the leases, so nothing leaks when a worker dies. The
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

    private static final String GROUPS = """
            select id, job_group
              from reprise_job {by primary}
             where id {in ?} and job_group is not null
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

    // A time in the past limits nothing.
    private static final String FORGET = "delete from reprise_rate where next_at < ?";

    private FlowTable() {}

    /** Returns what the groups of a queue may start now. */
    public static FlowGate gate(Session session, String queue, GroupRules rules, Collection<String> groups)
            throws SQLException {
        Dialect dialect = session.dialect();
        Map<String, Integer> running = new HashMap<>();
        if (rules.limits().values().stream().anyMatch(limit -> limit.running() != null)) {
            session.list(RUNNING, row -> running.put(row.text(), row.integer()), queue);
        }
        Map<String, Long> rates = new HashMap<>();
        Set<String> keys = FlowGate.keys(rules, groups);
        if (!keys.isEmpty()) {
            session.list(
                    dialect.sql(RATES), row -> rates.put(row.text(), row.number()), queue, keys.toArray(String[]::new));
        }
        return new FlowGate(rules, session.now(), running, rates);
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
            public Map<J, String> groups(List<J> jobs) throws SQLException {
                Map<Long, String> byId = FlowTable.groups(session, jobs, id);
                Map<J, String> groups = new HashMap<>();
                for (J job : jobs) {
                    String group = byId.get(id.applyAsLong(job));
                    if (group != null) {
                        groups.put(job, group);
                    }
                }
                return groups;
            }
        };
    }

    private static <J> Map<Long, String> groups(Session session, List<J> jobs, ToLongFunction<J> id)
            throws SQLException {
        Map<Long, String> groups = new HashMap<>();
        long[] ids = jobs.stream().mapToLong(id).sorted().toArray();
        if (ids.length > 0) {
            session.list(session.dialect().sql(GROUPS), row -> groups.put(row.number(), row.text()), (Object) ids);
        }
        return groups;
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
        Map<Long, String> groups = groups(session, jobs, id);
        FlowGate gate = gate(session, queue, rules, new HashSet<>(groups.values()));
        List<J> admitted = new ArrayList<>();
        for (J job : jobs) {
            if (gate.admits(groups.get(id.applyAsLong(job)))) {
                admitted.add(job);
            }
        }
        write(session, queue, gate);
        return admitted;
    }

    /** Notes the starts of claimed jobs. The caller has the queue's lock alone. */
    public static void started(Session session, String queue, FlowGate gate, List<Claim> claims) throws SQLException {
        for (Claim claim : claims) {
            claim.jobs().forEach(job -> gate.admits(job.spec().group()));
        }
        write(session, queue, gate);
    }

    private static void write(Session session, String queue, FlowGate gate) throws SQLException {
        List<@Nullable Object[]> rows = new ArrayList<>();
        gate.changed().forEach((key, next) -> rows.add(new @Nullable Object[] {queue, key, next}));
        if (!rows.isEmpty()) {
            session.updateEach(session.dialect().sql(PUT), rows);
        }
    }

    /** Deletes times that have passed. */
    public static void forget(Session session) throws SQLException {
        session.update(FORGET, session.now());
    }
}
