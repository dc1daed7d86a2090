// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.sqlite;

import io.reprise.failure.Failure;
import io.reprise.jdbc.jobs.Attempts;
import io.reprise.jdbc.jobs.Cancellations;
import io.reprise.jdbc.jobs.FinishedRetention;
import io.reprise.jdbc.jobs.JobSettlements;
import io.reprise.jdbc.jobs.LeaseClosing;
import io.reprise.jdbc.jobs.LiveCounters;
import io.reprise.jdbc.jobs.SpecColumns;
import io.reprise.jdbc.jobs.WaitColumns;
import io.reprise.jdbc.sql.Counters;
import io.reprise.jdbc.sql.Endings;
import io.reprise.jdbc.sql.Params;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.jdbc.sql.SqlTime;
import io.reprise.jdbc.sql.StoredLane;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.store.Settled;
import io.reprise.store.Settlement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Settles plain successes in one update per lease, and every other outcome in an update of its own. A statement
 * costs no round trip here.
 */
public final class SqliteSettlements implements JobSettlements {

    private static final String LEASE = "select queue, runner, ids from reprise_lease where id = ?";

    // Fenced by the token. A second run changes nothing, because the jobs are no longer live. The jobs come as a JSON
    // object from id to the duration of the run. The primary key serves it.
    static final String SUCCEED_ALL = """
            update reprise_job as j
               set state = 'SUCCEEDED', due_at = null, wait_reason = null, cancel_requested = 0, finished_at = :now,
                   started_at = :now - e.value, token = :token, worker = :worker, attempts = j.attempts + 1, lane = 1
              from json_each(:runs) e
             where j.id = cast(e.key as integer) and j.due_at is not null and j.token < :token
            """;

    static final String SUCCEEDED = """
            select j.id
              from json_each(:runs) e
             cross join reprise_job j on j.id = cast(e.key as integer)
             where j.token = :token and j.state = 'SUCCEEDED'
            """;

    private static final String SUCCEED = """
            update reprise_job
               set state = 'SUCCEEDED', due_at = null, wait_reason = null, cancel_requested = 0, finished_at = :now,
                   started_at = :now - :ran, token = :token, worker = :worker, result = :result, attempts = attempts + 1,
                   lane = 1
             where id = :id and due_at is not null and token < :token
            """;

    private static final String READ = """
            select {live}
              from reprise_job
             where id = ? and due_at is not null and token < ?
            """.replace("{live}", LiveCounters.COLUMNS);

    private static final String END = """
            update reprise_job
               set state = :state, fail_reason = :reason, due_at = null, wait_reason = null, cancel_requested = 0,
                   finished_at = :now, started_at = :now - :ran, token = :token, worker = :worker, attempts = :attempts,
                   losses = :losses, interruptions = :interruptions, snoozes = :snoozes, lane = :lane,
                   error_type = coalesce(:error_type, error_type),
                   error_message = case when :error_type is null then error_message else :error_message end,
                   fingerprint = coalesce(:fingerprint, fingerprint), tags = coalesce(:tags, tags)
             where id = :id
            """;

    private static final String WAIT = """
            update reprise_job
               set due_at = coalesce(:now + :delay, due_at), wait_reason = coalesce(:reason, wait_reason),
                   last_delay_us = coalesce(:last_delay, last_delay_us), token = :token, attempts = :attempts,
                   losses = :losses, interruptions = :interruptions, snoozes = :snoozes, lane = :lane,
                   parked_by = :parked_by,
                   error_type = coalesce(:error_type, error_type),
                   error_message = case when :error_type is null then error_message else :error_message end,
                   fingerprint = coalesce(:fingerprint, fingerprint), tags = coalesce(:tags, tags)
             where id = :id
            """;

    private final Attempts attempts;

    public SqliteSettlements(Attempts attempts) {
        this.attempts = attempts;
    }

    /** A lease during this batch: its jobs that are not settled yet, and the plain successes to write. */
    private static final class Lease {
        private final String queue;
        private final String runner;
        private final Set<Long> ids;
        private final List<Settlement> successes = new ArrayList<>();

        Lease(String queue, String runner, Set<Long> ids) {
            this.queue = queue;
            this.runner = runner;
            this.ids = ids;
        }
    }

    private static String runs(List<Settlement> settlements) {
        StringBuilder json = new StringBuilder(24 * settlements.size());
        for (Settlement settlement : settlements) {
            json.append(json.isEmpty() ? "{\"" : ",\"")
                    .append(settlement.job().value())
                    .append("\":")
                    .append(SqlTime.of(settlement.ran()));
        }
        return json.append('}').toString();
    }

    /** One batch under way. */
    private final class Batch {
        private final Session session;
        private final long at;
        private final Map<Long, @Nullable Lease> leases = new HashMap<>();
        private final Counters.Sums counts = new Counters.Sums();
        private final Set<JobId> stale = new HashSet<>();
        private final Set<JobId> cancelled = new HashSet<>();
        private final List<Attempts.Ended> history = new ArrayList<>();
        private final List<Long> done = new ArrayList<>();

        Batch(Session session, long at) {
            this.session = session;
            this.at = at;
        }

        private @Nullable Lease lease(long token) throws SQLException {
            Lease known = leases.get(token);
            if (known == null && !leases.containsKey(token)) {
                known = session.first(
                                LEASE,
                                row -> new Lease(row.text(), row.text(), new LinkedHashSet<>(row.numbers())),
                                token)
                        .orElse(null);
                leases.put(token, known);
            }
            return known;
        }

        void settle(Settlement settlement) throws SQLException {
            Lease lease = lease(settlement.token());
            if (lease == null || !lease.ids.remove(settlement.job().value())) {
                stale.add(settlement.job());
            } else if (settlement.next() instanceof Settlement.Succeed success && success.result() == null) {
                lease.successes.add(settlement);
            } else if (!write(settlement, lease)) {
                stale.add(settlement.job());
                lease.ids.add(settlement.job().value());
            }
        }

        private boolean write(Settlement settlement, Lease lease) throws SQLException {
            long id = settlement.job().value();
            long token = settlement.token();
            if (settlement.next() instanceof Settlement.Succeed success) {
                Params params = params(settlement).and("worker", lease.runner).and("result", success.result());
                boolean written = session.update(SUCCEED, params) == 1;
                if (written) {
                    counts.add(lease.queue, JobState.SUCCEEDED, 1);
                    done.add(id);
                }
                return written;
            }
            Optional<LiveCounters> live = session.first(READ, LiveCounters::read, id, token);
            if (live.isEmpty()) {
                return false;
            }
            Settlement.Effect effect = live.get().after(settlement);
            move(settlement, effect, lease);
            history.add(Attempts.Ended.of(settlement, effect, lease.runner));
            return true;
        }

        private void move(Settlement settlement, Settlement.Effect effect, Lease lease) throws SQLException {
            if (effect.cancelledInstead()) {
                cancelled.add(settlement.job());
            }
            if (effect.state() == null) {
                putBack(settlement, effect, WaitColumns.require(settlement));
            } else {
                end(settlement, effect, lease, effect.state());
            }
        }

        private void end(Settlement settlement, Settlement.Effect effect, Lease lease, JobState state)
                throws SQLException {
            session.update(
                    END,
                    params(settlement, effect)
                            .and("state", state)
                            .and(
                                    "reason",
                                    state == JobState.FAILED && settlement.next() instanceof Settlement.Fail fail
                                            ? fail.reason()
                                            : null)
                            .and("worker", lease.runner)
                            .and("lane", StoredLane.of(effect.lane(), false)));
            counts.add(lease.queue, state, 1);
        }

        private void putBack(Settlement settlement, Settlement.Effect effect, WaitColumns waiting) throws SQLException {
            session.update(
                    WAIT,
                    params(settlement, effect)
                            .and("delay", waiting.delay())
                            .and("reason", waiting.reason())
                            .and("last_delay", waiting.lastDelay())
                            .and("lane", StoredLane.of(effect.lane(), waiting.parkedBy() != null))
                            .and("parked_by", waiting.parkedBy()));
        }

        private Params params(Settlement settlement) {
            return Params.of("now", at)
                    .and("ran", SqlTime.of(settlement.ran()))
                    .and("token", settlement.token())
                    .and("id", settlement.job());
        }

        private Params params(Settlement settlement, Settlement.Effect effect) {
            Failure failure = settlement.failure();
            return params(settlement)
                    .and("attempts", effect.counts().attempts())
                    .and("losses", effect.counts().losses())
                    .and("interruptions", effect.counts().interruptions())
                    .and("snoozes", effect.counts().snoozes())
                    .and("error_type", failure == null ? null : failure.type())
                    .and("error_message", failure == null ? null : failure.message())
                    .and("fingerprint", failure == null ? null : failure.fingerprint())
                    .and("tags", SpecColumns.tags(settlement.tags()));
        }

        void finish(Collection<Long> closing) throws SQLException {
            for (Map.Entry<Long, @Nullable Lease> entry : leases.entrySet()) {
                Lease lease = entry.getValue();
                if (lease != null) {
                    succeed(entry.getKey(), lease);
                    if (!closing.contains(entry.getKey())) {
                        keep(entry.getKey(), lease.ids);
                    }
                }
            }
            attempts.write(session, history, at);
            FinishedRetention.keep(session, at, done);
            counts.write(session);
            for (long token : closing) {
                close(token);
            }
        }

        private void keep(long token, Set<Long> left) throws SQLException {
            if (left.isEmpty()) {
                session.dialect().dropLeases(session, token);
            } else {
                long[] ids = left.stream().mapToLong(Long::longValue).toArray();
                session.update("update reprise_lease set ids = ? where id = ?", ids, token);
            }
        }

        /** Writes all successes without a result in one statement; most outcomes are of this kind. */
        private void succeed(long token, Lease lease) throws SQLException {
            if (lease.successes.isEmpty()) {
                return;
            }
            String runs = runs(lease.successes);
            int written = session.update(
                    SUCCEED_ALL,
                    Params.of("now", at)
                            .and("token", token)
                            .and("worker", lease.runner)
                            .and("runs", runs));
            counts.add(lease.queue, JobState.SUCCEEDED, written);
            boolean all = written == lease.successes.size();
            Set<Long> ids = all
                    ? Set.of()
                    : new HashSet<>(session.list(
                            SUCCEEDED, SqlRow::number, Params.of("runs", runs).and("token", token)));
            for (Settlement settlement : lease.successes) {
                long id = settlement.job().value();
                if (all || ids.contains(id)) {
                    done.add(id);
                } else {
                    stale.add(settlement.job());
                    lease.ids.add(id);
                }
            }
        }

        private void close(long token) throws SQLException {
            List<Long> cancelled = Cancellations.left(session, token);
            session.update("delete from reprise_lease where id = ?", token);
            Endings.end(session, cancelled, JobState.CANCELLED, null);
        }
    }

    @Override
    public Settled settle(Session session, List<Settlement> settlements, LeaseClosing closing) throws SQLException {
        Batch batch = new Batch(session, session.now());
        for (Settlement settlement : settlements) {
            batch.settle(settlement);
        }
        batch.finish(closing.named());
        return new Settled(SqlTime.instant(batch.at), batch.stale, batch.cancelled);
    }

    @Override
    public boolean isOneStatement(List<Settlement> settlements) {
        return false;
    }
}
