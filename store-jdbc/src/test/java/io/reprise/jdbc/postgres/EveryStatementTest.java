// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.jdbc.JdbcJobStore;
import io.reprise.jdbc.Postgres;
import io.reprise.jdbc.StoreTour;
import io.reprise.testkit.Slow;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Runs every statement of the store and looks at the plan that PostgreSQL chose, whatever it knows of the tables: nothing that
 * grows is read whole, and nothing is compiled.
 */
class EveryStatementTest {

    private static final int ROWS = 20_000;

    /** A page looks at 10,000 rows at most; what reads more reads everything. */
    private static final int MAX_READ = 11_000;

    private static final List<String> GROWING = List.of(
            "reprise_job",
            "reprise_finished",
            "reprise_done",
            "reprise_attempt",
            "reprise_idempotency",
            "reprise_audit",
            "reprise_policy",
            "reprise_schedule",
            "reprise_control",
            "reprise_document",
            "reprise_series",
            "reprise_control_event",
            "reprise_step",
            "reprise_batch",
            "reprise_member");

    /** Methods that may read a table whole, with the reason. */
    private static final Map<String, String> WHOLE = Map.of(
            "schedules reprise_schedule", "returns all of them, to people",
            "controls reprise_control", "returns all of them, when a worker starts");

    /** A look for jobs of one type passes all others that come first. FoundJobs bounds the part of the time that it takes. */
    private static final String BY_TYPE = "j.type = any(";

    private static final Pattern SEQUENTIAL = Pattern.compile("Seq Scan on (reprise_\\w+)");
    private static final Pattern READ =
            Pattern.compile("Scan[^(]* on (reprise_\\w+).*\\(actual rows=([0-9.]+) loops=([0-9]+)\\)");
    private static final Pattern REMOVED = Pattern.compile("Rows Removed by Filter: ([0-9]+)");

    /** What is in the tables, and what PostgreSQL knows of it. */
    private enum Known {
        /** Nothing, and PostgreSQL knows that. */
        EMPTY {
            @Override
            void prepare(Postgres database) {
                database.execute("vacuum analyze");
            }
        },
        SMALL {
            @Override
            void prepare(Postgres database) {
                fill(database, 20);
                database.execute("vacuum analyze");
            }
        },
        LARGE {
            @Override
            void prepare(Postgres database) {
                fill(database, ROWS);
                database.execute("vacuum analyze");
            }
        },
        /** The tables had become empty when PostgreSQL looked at them last. */
        STALE {
            @Override
            void prepare(Postgres database) {
                keepStatistics(database);
                fill(database, 2_000);
                GROWING.forEach(table -> database.execute("delete from " + table));
                database.execute("vacuum analyze");
                fill(database, ROWS);
            }
        },
        /** Never analysed. */
        UNKNOWN {
            @Override
            void prepare(Postgres database) {
                keepStatistics(database);
                fill(database, ROWS);
            }
        },
        /** The tables were empty when the statements were prepared. */
        GROWN {
            @Override
            void prepare(Postgres database) {
                keepStatistics(database);
                database.execute("vacuum analyze");
            }

            @Override
            void grow(Postgres database, StoreTour tour, Connection connection) throws SQLException {
                // PostgreSQL keeps a plan from the sixth run on.
                for (int i = 0; i < 6; i++) {
                    tour.run(connection);
                }
                fill(database, ROWS);
            }
        };

        abstract void prepare(Postgres database);

        /** Whether the tables are so small that to read one whole is right. */
        boolean isSmall() {
            return this == EMPTY || this == SMALL;
        }

        void grow(Postgres database, StoreTour tour, Connection connection) throws SQLException {}
    }

    private static void keepStatistics(Postgres database) {
        GROWING.forEach(table -> database.execute("alter table " + table + " set (autovacuum_enabled = false)"));
    }

    /** Most jobs are of one queue and of one type. */
    private static void fill(Postgres database, int rows) {
        database.execute("""
                insert into reprise_job (
                  id, due_at, first_due_at, created_at, deadline, lane, priority, queue, type, wait_reason, payload)
                select nextval('reprise_job_id'), due, due, due, case when n %% 100 = 0 then due else reprise_now() + 86400000000 + n end,
                       case when n %% 500 = 0 then 2 else n %% 2 end, n %% 3,
                       case when n %% 50 = 0 then 'queue-' || n / 50 else 'default' end,
                       case when n %% 5000 = 0 then 'rare' else 'work' end, 'NEW', '{}'
                  from (select n, reprise_now() - 1000000 - n as due from generate_series(1, %1$d) n) x
                """.formatted(rows));
        database.execute("""
                insert into reprise_job (
                  id, due_at, first_due_at, created_at, lane, priority, queue, type, wait_reason, payload, parked_by)
                select nextval('reprise_job_id'), due, due, reprise_now(), case when n %% 2 = 0 then 0 else 3 end, n %% 3, 'default', 'work',
                       case when n %% 2 = 0 then 'DELAYED' else 'BREAKER' end, '{}',
                       case when n %% 2 = 1 then 'breaker/provider-' || n %% 50 end
                  from (select n, reprise_now() + case when n %% 2 = 0 then 3600000000 else 0 end + n as due
                          from generate_series(1, %1$d) n) x
                """.formatted(2 * rows));
        database.execute("""
                insert into reprise_job (
                  id, due_at, first_due_at, created_at, lane, priority, queue, type, wait_reason, payload, job_group)
                select nextval('reprise_job_id'), due, due, due, n %% 2, n %% 3, 'grouped', 'work',
                       case when n %% 4 = 1 then 'RETRY' else 'NEW' end, '{}', 'group-' || n %% 1000
                  from (select n, reprise_now() - 1000000 - n as due from generate_series(1, %1$d) n) x
                """.formatted(rows));
        database.execute("""
                insert into reprise_finished (
                  id, finished_at, first_due_at, created_at, started_at, token, attempts, losses, interruptions, snoozes, granted, lane,
                  priority, state, fail_reason, worker, queue, type, payload, error_type, fingerprint)
                select nextval('reprise_job_id'), t, t, t, t, 1, 1, 0, 0, 0, 0, 0, 0, state, case when state = 'FAILED' then 'EXHAUSTED' end,
                       'w', case when n %% 50 = 0 then 'queue-' || n / 50 else 'default' end, 'work', '{}',
                       case when state = 'FAILED' then 'E' end, case when state = 'FAILED' then 'f' || n %% 20 end
                  from (select n, reprise_now() - 3 * 86400000000 + n as t,
                               case n %% 3 when 0 then 'SUCCEEDED' when 1 then 'FAILED' else 'CANCELLED' end as state
                          from generate_series(1, %1$d) n) x
                """.formatted(3 * rows));
        database.execute("""
                insert into reprise_done (finished_at, jobs, ids)
                select min(finished_at), count(*), array_agg(id)
                  from reprise_finished where state = 'SUCCEEDED' group by id / 10
                """);
        database.execute("""
                insert into reprise_attempt (job_id, token, number, started_at, ended_at, worker, ending)
                select id, 1, 1, finished_at, finished_at, 'w', 'FAILED' from reprise_finished where state = 'FAILED' on conflict do nothing
                """);
        database.execute("""
                insert into reprise_idempotency (key, job_id)
                select 'key-' || id, id from reprise_finished where state = 'SUCCEEDED' on conflict do nothing
                """);
        database.execute("""
                insert into reprise_audit (at, action, job_id, by_whom)
                select reprise_now() - 3 * 86400000000 + n, 'replay', n, 'ada' from generate_series(1, %d) n
                """.formatted(rows));
        database.execute(
                "insert into reprise_policy (id, json) select -n, '{}' from generate_series(1, %d) n on conflict do nothing"
                        .formatted(rows));
        database.execute("""
                insert into reprise_schedule (name, rule, next_at, priority, queue, type, payload)
                select 's-' || n, 'every 1m', reprise_now() + case when n %% 100 = 0 then -1 else 1 end * 3600000000, 0, 'default', 'work', '{}'
                  from generate_series(1, %d) n on conflict do nothing
                """.formatted(rows));
        database.execute("""
                insert into reprise_control (name, version, state)
                select 'breaker/c-' || n, nextval('reprise_control_version'), '{}' from generate_series(1, %d) n on conflict do nothing
                """.formatted(rows));
        database.execute("""
                insert into reprise_series
                select step, subject, reprise_now() - reprise_now() %% 3600000000 - 3600000000 * (n / 100), 'n-' || n %% 100, 1, 1, 0, 0, 0, 0, 0, 0
                  from generate_series(1, %1$d) n, unnest(array['MINUTE', 'HOUR']) step, unnest(array['TYPE', 'QUEUE']) subject
                on conflict do nothing
                """.formatted(rows));
        database.execute("""
                insert into reprise_control_event (subject, at, kind, why)
                select 's-' || n %% 100, reprise_now() - n, 'BREAKER_OPENED', '' from generate_series(1, %d) n on conflict do nothing
                """.formatted(rows));
        database.execute("""
                insert into reprise_document (kind, id, version, json)
                select 'kind-' || n %% 3, n::text, nextval('reprise_control_version'), '{}' from generate_series(1, %d) n on conflict do nothing
                """.formatted(rows));
        database.execute("""
                insert into reprise_step (job_id, name, kind, state, token, at, suspensions)
                select n / 10, 's' || n %% 10, 'STEP', 'DONE', 1, n, 0 from generate_series(1, %d) n on conflict do nothing
                """.formatted(rows));
        database.execute("""
                insert into reprise_batch (name, total, succeeded, created_at, closed_at, ended_at, parent, step)
                select case when n %% 2 = 0 then 'batch-' || n else '#' || n end, 1, 1, n, n, (reprise_now() + n) , case when n %% 2 = 1 then n end,
                       case when n %% 2 = 1 then 'join' end
                  from generate_series(1, %d) n on conflict do nothing
                """.formatted(rows));
        database.execute("""
                insert into reprise_member (parent, batch, place, job_id, state)
                select n / 10, '#' || n / 10, n %% 10, n, 'SUCCEEDED' from generate_series(1, %d) n on conflict do nothing
                """.formatted(rows));
    }

    private final List<String> problems = Collections.synchronizedList(new ArrayList<>());
    private volatile String method = "";
    private volatile boolean watching;
    private volatile boolean small;

    /** Whether PostgreSQL knows the true sizes. It may then sort two pages if that is cheaper than to walk an index. */
    private volatile boolean sizesKnown;

    @Test
    void every_method_of_the_store_is_called() throws SQLException {
        nothing_that_grows_is_read_whole(Known.SMALL);
    }

    @Slow
    @ParameterizedTest
    @EnumSource
    void nothing_that_grows_is_read_whole(Known known) throws SQLException {
        try (Postgres database = new Postgres()) {
            known.prepare(database);
            PlanRecorder recorder = new PlanRecorder(this::look);
            try (JdbcJobStore store = JdbcJobStore.postgresql(recorder.around(database.source()));
                    Connection connection = database.connection()) {
                StoreTour tour = new StoreTour(store, name -> method = name);
                known.grow(database, tour, connection);
                small = known.isSmall();
                sizesKnown = known == Known.LARGE;
                watching = true;
                tour.run(connection);
                assertThat(tour.missed())
                        .as("methods of a store that the tour does not call")
                        .isEmpty();
            }
            assertThat(String.join("\n", new TreeSet<>(problems))).isEmpty();
            assertThat(plans).as("plans that were looked at").isGreaterThan(200);
        }
    }

    private int plans;

    private synchronized void look(String plan) {
        if (!watching || !plan.contains("plan:") || !plan.contains("reprise_")) {
            return;
        }
        plans++;
        if (!plan.contains("jit = 'off'")) {
            report("may be compiled", plan);
        }
        String table = "";
        for (String line : plan.lines().toList()) {
            Matcher whole = SEQUENTIAL.matcher(line);
            if (!small && whole.find() && GROWING.contains(whole.group(1)) && !mayRead(whole.group(1))) {
                report("reads " + whole.group(1) + " from end to end", plan);
            }
            Matcher read = READ.matcher(line);
            if (read.find()) {
                table = read.group(1);
                double rows = Double.parseDouble(read.group(2)) * Long.parseLong(read.group(3));
                if (rows > MAX_READ && !sizesKnown && GROWING.contains(table) && !mayRead(table)) {
                    report("reads " + Math.round(rows) + " rows of " + table, plan);
                }
            }
            Matcher removed = REMOVED.matcher(line);
            if (removed.find()
                    && Long.parseLong(removed.group(1)) > MAX_READ
                    && !sizesKnown
                    && GROWING.contains(table)
                    && !plan.contains(BY_TYPE)) {
                report("reads past " + removed.group(1) + " rows of " + table, plan);
            }
        }
    }

    private void report(String problem, String plan) {
        String query = plan.replaceAll("(?s)^.*?Query Text:", "")
                .replaceAll("(?s)Query Parameters:.*?\n", "")
                .replaceAll("\\s+", " ");
        String start = query.substring(0, Math.min(400, query.length()));
        problems.add(method + " " + problem + ": " + start);
    }

    private boolean mayRead(String table) {
        return WHOLE.containsKey(method + " " + table);
    }
}
