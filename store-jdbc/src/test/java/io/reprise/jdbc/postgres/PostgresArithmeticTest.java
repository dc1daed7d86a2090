// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.jdbc.Postgres;
import io.reprise.jdbc.sql.Dialect;
import io.reprise.jdbc.sql.Params;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.StoredLane;
import io.reprise.job.JobCounts;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.job.WaitReason;
import io.reprise.retry.FailReason;
import io.reprise.store.CountedAs;
import io.reprise.store.Lane;
import io.reprise.store.RetryShare;
import io.reprise.store.Settled;
import io.reprise.store.Settlement;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** PostgreSQL's statements count by themselves. They must count as the kit for stores does, in every case. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PostgresArithmeticTest {

    private static final Dialect DIALECT = new PostgresDialect();
    private static final long TOKEN = 1_000;

    private final Postgres postgres = new Postgres();

    @AfterAll
    void close() {
        postgres.close();
    }

    @BeforeEach
    void empty() {
        postgres.execute("truncate reprise_job, reprise_finished, reprise_lease");
    }

    /** A job before its settlement. */
    private record Case(Settlement settlement, Lane lane, int losses, boolean cancel) {

        JobCounts counts() {
            return new JobCounts(3, losses, 4, 5, 0);
        }

        /** The row as {@link #rows} reads it. */
        String expected() {
            Settlement.Effect effect = settlement.on(counts(), lane, cancel);
            JobCounts then = effect.counts();
            boolean parked = effect.state() == null && settlement.next() instanceof Settlement.Park;
            JobState state = effect.state();
            return (state == null ? "live" : state) + " " + then.attempts() + " " + then.losses() + " "
                    + then.interruptions() + " " + then.snoozes() + " " + StoredLane.of(effect.lane(), parked);
        }
    }

    private static List<Case> cases() {
        List<Settlement.Next> outcomes = List.of(
                new Settlement.Fail(FailReason.EXHAUSTED),
                new Settlement.Cancel(),
                new Settlement.Wait(WaitReason.RETRY, Duration.ofSeconds(1), null),
                new Settlement.Park("breaker/a", WaitReason.BREAKER, null, null),
                new Settlement.PutBack());
        List<Case> cases = new ArrayList<>();
        for (Lane lane : Lane.values()) {
            for (int losses = 0; losses < 2; losses++) {
                for (boolean cancel : new boolean[] {false, true}) {
                    for (CountedAs spent : CountedAs.values()) {
                        for (Settlement.Next next : outcomes) {
                            cases.add(new Case(settlement(cases.size() + 1, spent, next), lane, losses, cancel));
                        }
                    }
                    Settlement success = settlement(cases.size() + 1, CountedAs.ATTEMPT, new Settlement.Succeed(null));
                    cases.add(new Case(success, lane, losses, cancel));
                }
            }
        }
        return cases;
    }

    private static Settlement settlement(long job, CountedAs spent, Settlement.Next next) {
        return new Settlement(new JobId(job), TOKEN, spent, Duration.ofMillis(1), next, null, null);
    }

    private void store(List<Case> cases) {
        for (Case job : cases) {
            postgres.execute("""
                    insert into reprise_job (
                      id, due_at, first_due_at, created_at, priority, queue, type, wait_reason, payload,
                      attempts, losses, interruptions, snoozes, lane, cancel_requested)
                    values (%d, 1, 1, 1, 0, 'q', 't', 'NEW', '1', 3, %d, 4, 5, %d, %s)
                    """.formatted(
                            job.settlement.job().value(), job.losses, StoredLane.of(job.lane, false), job.cancel));
        }
        postgres.execute("""
                insert into reprise_lease (id, queue, worker, runner, alone, claimed_at, expires_at, ids)
                select %d, 'q', 'w', 'w', false, 1, 9000000000000000, array_agg(id order by id) from reprise_job
                """.formatted(TOKEN));
    }

    private Map<Long, String> rows() {
        Map<Long, String> rows = new HashMap<>();
        for (String row : postgres.query("""
                select id || ':' || state || ' ' || attempts || ' ' || losses || ' ' || interruptions || ' ' || snoozes
                         || ' ' || lane
                  from (select id, 'live' as state, attempts, losses, interruptions, snoozes, lane from reprise_job
                        union all
                        select id, state, attempts, losses, interruptions, snoozes, lane from reprise_finished) x
                """)) {
            String[] parts = row.split(":", 2);
            rows.put(Long.valueOf(parts[0]), parts[1]);
        }
        return rows;
    }

    @Test
    void every_settlement_leaves_the_counters_and_the_lane_of_the_kit() {
        List<Case> cases = cases();
        store(cases);
        Settled settled =
                postgres.store().settle(cases.stream().map(Case::settlement).toList(), Set.of());
        assertThat(settled.stale()).isEmpty();
        assertThat(settled.cancelled())
                .isEqualTo(cases.stream()
                        .filter(job -> job.settlement
                                .on(job.counts(), job.lane, job.cancel)
                                .cancelledInstead())
                        .map(job -> job.settlement.job())
                        .collect(Collectors.toCollection(HashSet::new)));
        Map<Long, String> rows = rows();
        for (Case job : cases) {
            assertThat(rows.get(job.settlement.job().value()))
                    .as(job.toString())
                    .isEqualTo(job.expected());
        }
    }

    @Test
    void a_batch_is_split_as_the_kit_splits_it() throws SQLException {
        try (Connection connection = postgres.connection()) {
            connection.setAutoCommit(false);
            Session session = new Session(connection, DIALECT, 30, Session.Use.POOLED);
            for (int fresh = 0; fresh < 4; fresh++) {
                for (int retries = 0; retries < 4; retries++) {
                    insert(session, fresh, Lane.FRESH);
                    insert(session, retries, Lane.RETRY);
                    for (int room = 1; room < 6; room++) {
                        for (int kept = 0; kept <= room; kept++) {
                            List<Integer> lanes = claim(session, room, kept);
                            int again = RetryShare.retries(fresh, retries, room, kept);
                            assertThat(lanes)
                                    .as("%d fresh, %d retries, room %d, kept %d", fresh, retries, room, kept)
                                    .hasSize(again + Math.min(fresh, room - again))
                                    .filteredOn(lane -> lane == StoredLane.RETRY)
                                    .hasSize(again);
                            session.update("delete from reprise_lease");
                        }
                    }
                    connection.rollback();
                }
            }
        }
    }

    private static void insert(Session session, int jobs, Lane lane) throws SQLException {
        for (int n = 0; n < jobs; n++) {
            session.update("""
                    insert into reprise_job (
                      id, due_at, first_due_at, created_at, lane, priority, queue, type, wait_reason, payload)
                    values (nextval('reprise_job_id'), 1, 1, 1, ?, 0, 'q', 't', 'NEW', '1')
                    """, StoredLane.of(lane, false));
        }
    }

    /** Returns the lanes of the claimed jobs. */
    private static List<Integer> claim(Session session, int room, int kept) throws SQLException {
        Params params = Params.of("queue", "q")
                .and("jobs", room)
                .and("retries", kept)
                .and("worker", "w")
                .and("lease_us", 60_000_000L)
                .and("remote", 0)
                .and("floor", 0L);
        return session.list(
                PostgresClaims.claimSql(DIALECT, 10),
                row -> {
                    row.number();
                    row.number();
                    row.numberOrNull();
                    row.number();
                    row.flag();
                    row.flag();
                    return row.integer();
                },
                params);
    }
}
