// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.JobId;
import io.reprise.JobState;
import io.reprise.retry.FailReason;
import io.reprise.retry.Failure;
import io.reprise.store.Settled;
import io.reprise.store.Settlement;
import io.reprise.store.Spent;
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

/** One update per job, in the one writing transaction; a statement costs no round trip here. */
final class SqliteSettlements implements Settlements {

    private static final String LEASE = "select queue, runner from reprise_lease where id = ?";

    private static final String IDS = "select id from reprise_held where token = ?";

    // Fenced by the token; a second time the job is no longer live and nothing is changed.
    private static final String SUCCEED = """
            update reprise_job
               set state = 'SUCCEEDED', due_at = null, wait_reason = null, cancel_requested = 0, finished_at = ?,
                   started_at = ?, token = ?, worker = ?, result = ?, attempts = attempts + 1, lane = 1
             where id = ? and due_at is not null and token < ?
            """;

    private static final String READ = """
            select attempts, losses, interruptions, snoozes, lane, cancel_requested
              from reprise_job
             where id = ? and due_at is not null and token < ?
            """;

    private static final String END = """
            update reprise_job
               set state = ?, fail_reason = ?, due_at = null, wait_reason = null, cancel_requested = 0, finished_at = ?,
                   started_at = ?, token = ?, worker = ?, attempts = ?, losses = ?, interruptions = ?, snoozes = ?, lane = ?,
                   error_type = coalesce(?, error_type),
                   error_message = case when ? is null then error_message else ? end,
                   fingerprint = coalesce(?, fingerprint)
             where id = ?
            """;

    private static final String WAIT = """
            update reprise_job
               set due_at = coalesce(?, due_at), wait_reason = coalesce(?, wait_reason),
                   last_delay_us = coalesce(?, last_delay_us), token = ?,
                   attempts = ?, losses = ?, interruptions = ?, snoozes = ?, lane = ?, parked_by = ?,
                   error_type = coalesce(?, error_type),
                   error_message = case when ? is null then error_message else ? end,
                   fingerprint = coalesce(?, fingerprint)
             where id = ?
            """;

    private final Attempts attempts;

    SqliteSettlements(Attempts attempts) {
        this.attempts = attempts;
    }

    private record Lease(String queue, String runner, Set<Long> ids) {}

    private record Standing(int attempts, int losses, int interruptions, int snoozes, int lane, boolean cancel) {

        Standing after(Spent spent, boolean waits) {
            boolean lost = spent == Spent.LOSS && waits && losses > 0;
            return new Standing(
                    attempts + (spent == Spent.ATTEMPT ? 1 : 0),
                    losses + (spent == Spent.LOSS ? 1 : 0),
                    interruptions + (spent == Spent.INTERRUPTION ? 1 : 0),
                    snoozes + (spent == Spent.SNOOZE ? 1 : 0),
                    spent == Spent.ATTEMPT ? 1 : lost ? 2 : lane,
                    cancel);
        }

        int claims() {
            return attempts + losses + interruptions + snoozes;
        }
    }

    /** One batch under way. */
    private final class Batch {
        private final Session session;
        private final long at;
        private final Map<Long, Optional<Lease>> leases = new HashMap<>();
        private final Counters.Sums counts = new Counters.Sums();
        private final Set<JobId> stale = new HashSet<>();
        private final Set<JobId> cancelled = new HashSet<>();
        private final List<Attempts.Ended> history = new ArrayList<>();

        Batch(Session session, long at) {
            this.session = session;
            this.at = at;
        }

        private Optional<Lease> lease(long token) throws SQLException {
            Optional<Lease> known = leases.get(token);
            if (known == null) {
                Set<Long> ids = new LinkedHashSet<>(session.list(IDS, Row::number, token));
                known = session.first(LEASE, row -> new Lease(row.text(), row.text(), ids), token);
                leases.put(token, known);
            }
            return known;
        }

        void settle(Settlement settlement) throws SQLException {
            Optional<Lease> lease = lease(settlement.token());
            long id = settlement.job().value();
            if (lease.isEmpty() || !lease.get().ids().contains(id) || !write(settlement, lease.get())) {
                stale.add(settlement.job());
            } else {
                lease.get().ids().remove(id);
            }
        }

        private boolean write(Settlement settlement, Lease lease) throws SQLException {
            long id = settlement.job().value();
            long token = settlement.token();
            if (settlement.next() instanceof Settlement.Succeed success) {
                long started = at - Micros.of(settlement.ran());
                boolean written =
                        session.update(SUCCEED, at, started, token, lease.runner(), success.result(), id, token) == 1;
                if (written) {
                    counts.add(lease.queue(), JobState.SUCCEEDED, 1);
                }
                return written;
            }
            Optional<Standing> standing = session.first(
                    READ,
                    row -> new Standing(
                            row.integer(), row.integer(), row.integer(), row.integer(), row.integer(), row.flag()),
                    id,
                    token);
            if (standing.isEmpty()) {
                return false;
            }
            Standing then = standing.get().after(settlement.spent(), settlement.next() instanceof Settlement.Wait);
            move(settlement, then, lease);
            history.add(new Attempts.Ended(settlement, then.attempts(), then.claims(), lease.runner()));
            return true;
        }

        private void move(Settlement settlement, Standing then, Lease lease) throws SQLException {
            Settlement.Next next = settlement.next();
            if (next instanceof Settlement.Cancel || then.cancel()) {
                end(settlement, then, lease, JobState.CANCELLED, null);
                if (!(next instanceof Settlement.Cancel)) {
                    cancelled.add(settlement.job());
                }
            } else if (next instanceof Settlement.Fail fail) {
                end(settlement, then, lease, JobState.FAILED, fail.reason());
            } else {
                putBack(settlement, then, Waiting.require(settlement));
            }
        }

        private void end(Settlement settlement, Standing then, Lease lease, JobState state, @Nullable FailReason reason)
                throws SQLException {
            Failure failure = settlement.failure();
            String type = failure == null ? null : failure.type();
            session.update(
                    END,
                    state,
                    reason,
                    at,
                    at - Micros.of(settlement.ran()),
                    settlement.token(),
                    lease.runner(),
                    then.attempts(),
                    then.losses(),
                    then.interruptions(),
                    then.snoozes(),
                    then.lane(),
                    type,
                    type,
                    failure == null ? null : failure.message(),
                    failure == null ? null : failure.fingerprint(),
                    settlement.job());
            counts.add(lease.queue(), state, 1);
        }

        private void putBack(Settlement settlement, Standing then, Waiting waiting) throws SQLException {
            Long delay = waiting.delay();
            Failure failure = settlement.failure();
            String type = failure == null ? null : failure.type();
            session.update(
                    WAIT,
                    delay == null ? null : at + delay,
                    waiting.reason(),
                    waiting.lastDelay(),
                    settlement.token(),
                    then.attempts(),
                    then.losses(),
                    then.interruptions(),
                    then.snoozes(),
                    waiting.parkedBy() == null ? then.lane() : then.lane() + 3,
                    waiting.parkedBy(),
                    type,
                    type,
                    failure == null ? null : failure.message(),
                    failure == null ? null : failure.fingerprint(),
                    settlement.job());
        }

        void finish(Collection<Long> closing) throws SQLException {
            attempts.write(session, history, at);
            counts.write(session);
            for (Map.Entry<Long, Optional<Lease>> lease : leases.entrySet()) {
                if (lease.getValue().isPresent() && !closing.contains(lease.getKey())) {
                    long[] left = lease.getValue().get().ids().stream()
                            .mapToLong(Long::longValue)
                            .toArray();
                    session.update("update reprise_lease set ids = ? where id = ?", left, lease.getKey());
                }
            }
            for (long token : closing) {
                close(token);
            }
        }

        private void close(long token) throws SQLException {
            List<Long> cancelled = Cancellations.left(session, token);
            session.update("delete from reprise_lease where id = ?", token);
            Endings.end(session, cancelled, JobState.CANCELLED, null);
        }
    }

    @Override
    public Settled settle(Session session, List<Settlement> settlements, Collection<Long> closing) throws SQLException {
        Batch batch = new Batch(session, session.now());
        for (Settlement settlement : Settlements.newest(settlements, batch.stale)) {
            batch.settle(settlement);
        }
        batch.finish(closing);
        return new Settled(Micros.instant(batch.at), batch.stale, batch.cancelled);
    }

    @Override
    public boolean isOneStatement(List<Settlement> settlements) {
        return false;
    }
}
