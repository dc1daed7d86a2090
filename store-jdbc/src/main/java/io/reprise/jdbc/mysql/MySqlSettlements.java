// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.mysql;

import io.reprise.failure.Failure;
import io.reprise.jdbc.jobs.Attempts;
import io.reprise.jdbc.jobs.Cancellations;
import io.reprise.jdbc.jobs.FinishedRetention;
import io.reprise.jdbc.jobs.JobInserts;
import io.reprise.jdbc.jobs.JobSettlements;
import io.reprise.jdbc.jobs.LeaseClosing;
import io.reprise.jdbc.jobs.LeaseTable;
import io.reprise.jdbc.jobs.LiveCounters;
import io.reprise.jdbc.jobs.SpecColumns;
import io.reprise.jdbc.jobs.WaitColumns;
import io.reprise.jdbc.sql.Counters;
import io.reprise.jdbc.sql.Dialect;
import io.reprise.jdbc.sql.Endings;
import io.reprise.jdbc.sql.JsonRows;
import io.reprise.jdbc.sql.Params;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.jdbc.sql.SqlTime;
import io.reprise.jdbc.sql.StoredLane;
import io.reprise.job.JobCounts;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.retry.FailReason;
import io.reprise.store.Settled;
import io.reprise.store.Settlement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Settles a batch with a few statements, whatever its size. It locks the leases first, so that no take-over deletes
 * them, and then the jobs in the order of their ids. It reads everything that decides with these locks, so that a
 * caller's REPEATABLE READ transaction sees the present rows. It writes the outcomes from JSON, which
 * {@code json_table} turns into rows.
 */
public final class MySqlSettlements implements JobSettlements {

    // Existing leases only: in REPEATABLE READ a lock on a missing row would lock the gap, and no claim could insert a
    // lease there. A deleted lease never comes back.
    private static final String THERE = """
            select id
              from reprise_lease force index (primary)
             where id {in ?}
            """;

    // A shared lock: other settles of the lease go on, and renewals write reprise_expiry. A take-over skips the lease.
    private static final String SHARE_LEASES = """
            select id, queue, runner
              from reprise_lease force index (primary)
             where id {in ?}
             order by id
            lock in share mode
            """;

    private static final String LOCK_LEASES = """
            select id, queue, runner
              from reprise_lease force index (primary)
             where id {in ?}
             order by id
            for update
            """;

    static final String LOCK_JOBS = """
            select id, token, {live}
              from reprise_job force index (primary)
             where id {in ?}
             order by id
            for update
            """.replace("{live}", LiveCounters.COLUMNS);

    // Complete primary keys only: in a caller's REPEATABLE READ any other condition would lock gaps.
    private static final String LOCK_HOLDS = """
            select job_id
              from reprise_hold force index (primary)
             where token = ? and job_id {in ?}
            lock in share mode
            """;

    // Reads the JSON rows first and joins reprise_job by the primary key. Without the hints the server scans a small
    // table, and in a caller's REPEATABLE READ locks all of it.
    static final String SUCCEED = """
            insert into reprise_finished (
              state, finished_at, started_at, token, worker, result, last_delay_us, attempts, losses, interruptions,
              snoozes, lane, error_type, error_message, fingerprint, {both}, {spec})
            select 'SUCCEEDED', :now, :now - i.ran, i.token, i.runner, i.result, last_delay_us, attempts + 1, losses,
                   interruptions, snoozes, 1, error_type, error_message, fingerprint, {d_both}, {d_spec}
              from json_table(:rows, '$[*]' columns (
                job bigint path '$[0]', token bigint path '$[1]', ran bigint path '$[2]', runner text path '$[3]',
                result mediumtext path '$[4]')) i
              straight_join reprise_job d force index (primary) on d.id = i.job
            """;

    private static final String END = """
            insert into reprise_finished (
              state, fail_reason, finished_at, started_at, token, worker, last_delay_us, attempts, losses, interruptions,
              snoozes, lane, error_type, error_message, fingerprint, {both}, {spec})
            select i.state, i.reason, :now, :now - i.ran, i.token, i.runner, d.last_delay_us, i.attempts, i.losses,
                   i.interruptions, i.snoozes, i.lane, coalesce(i.failure, d.error_type),
                   case when i.failure is null then d.error_message else i.message end,
                   coalesce(i.print, d.fingerprint), {d_both}, {settled_spec}
              from json_table(:rows, '$[*]' columns (
                job bigint path '$[0]', token bigint path '$[1]', attempts int path '$[2]', losses int path '$[3]',
                interruptions int path '$[4]', snoozes int path '$[5]', lane int path '$[6]', failure text path '$[7]',
                message mediumtext path '$[8]', print varchar(100) path '$[9]', tags text path '$[10]', ran bigint path '$[11]',
                state varchar(20) path '$[12]', reason varchar(100) path '$[13]', runner text path '$[14]')) i
              straight_join reprise_job d force index (primary) on d.id = i.job
            """;

    static final String WAIT = """
            update json_table(?, '$[*]' columns (
                job bigint path '$[0]', token bigint path '$[1]', attempts int path '$[2]', losses int path '$[3]',
                interruptions int path '$[4]', snoozes int path '$[5]', lane int path '$[6]', failure text path '$[7]',
                message mediumtext path '$[8]', print varchar(100) path '$[9]', tags text path '$[10]', due bigint path '$[11]',
                reason varchar(100) path '$[12]', delay bigint path '$[13]', parked varchar(250) path '$[14]')) i
              straight_join reprise_job j force index (primary) on j.id = i.job
               set j.due_at = coalesce(i.due, j.due_at),
                   j.wait_reason = coalesce(i.reason, j.wait_reason),
                   j.last_delay_us = coalesce(i.delay, j.last_delay_us),
                   j.token = i.token,
                   j.attempts = i.attempts,
                   j.losses = i.losses,
                   j.interruptions = i.interruptions,
                   j.snoozes = i.snoozes,
                   j.lane = i.lane,
                   j.parked_by = i.parked,
                   j.error_type = coalesce(i.failure, j.error_type),
                   j.error_message = case when i.failure is null then j.error_message else i.message end,
                   j.fingerprint = coalesce(i.print, j.fingerprint),
                   j.tags = coalesce(i.tags, j.tags)
            """;

    // A waiting job must leave the lease's list, or no claim would take it. An ended job may stay on the list.
    private static final String LEAVE = """
            delete h
              from reprise_hold h force index (primary)
             where h.token = ? and h.job_id {in ?}
            """;

    private static final String EMPTY = """
            select l.id
              from reprise_lease l force index (primary)
             where l.id {in ?}
               and not %s
            """.formatted(LeaseTable.HOLDS_SOME);

    /** Limit for the characters of results, so that a packet fits a server with default settings. */
    private static final int CHARACTERS = 1_000_000;

    private final Attempts attempts;

    public MySqlSettlements(Attempts attempts) {
        this.attempts = attempts;
    }

    private record Lease(String queue, String runner) {}

    /** A live job with its token. */
    private record Live(long token, LiveCounters counters) {}

    /** The outcome of a job that does not succeed. */
    private record Outcome(Settlement settlement, Settlement.Effect effect) {

        @Nullable
        JobState state() {
            return effect.state();
        }
    }

    @Override
    public boolean isOneStatement(List<Settlement> settlements) {
        return false;
    }

    @Override
    public Settled settle(Session session, List<Settlement> settlements, LeaseClosing which) throws SQLException {
        List<Settlement> sorted = settlements.stream().sorted(LOCK_ORDER).toList();
        // An exclusive lock on the lease shows the list as other settles have left it.
        Collection<Long> alone =
                which.empty() ? sorted.stream().map(Settlement::token).collect(Collectors.toSet()) : which.named();
        Collection<Long> closing = which.named();
        Batch batch = new Batch(session, lockLeases(session, sorted, alone), session.now());
        for (int from = 0; from < sorted.size(); ) {
            int to = from + piece(sorted.subList(from, sorted.size()));
            batch.settle(sorted.subList(from, to), closing);
            from = to;
        }
        batch.counts.write(session);
        FinishedRetention.keep(session, batch.at, batch.done);
        for (long token : closing) {
            if (batch.leases.containsKey(token)) {
                close(session, token);
            }
        }
        if (which.empty() && !batch.leases.isEmpty()) {
            dropEmpty(session, array(batch.leases.keySet()));
        }
        return new Settled(SqlTime.instant(batch.at), batch.stale, batch.cancelled);
    }

    /** Returns how many of these settlements go together: at least one, and at most one packet. */
    private static int piece(List<Settlement> settlements) {
        int size = 0;
        long characters = 0;
        while (size < Math.min(MySqlDialect.PIECE, settlements.size()) && (size == 0 || characters < CHARACTERS)) {
            String result = result(settlements.get(size));
            characters += result == null ? 0 : result.length();
            size++;
        }
        return size;
    }

    /** Locks the leases in the order of their ids: those to be closed exclusively, the others shared. */
    private static Map<Long, Lease> lockLeases(Session session, List<Settlement> settlements, Collection<Long> closing)
            throws SQLException {
        Set<Long> named = new HashSet<>(closing);
        settlements.forEach(settlement -> named.add(settlement.token()));
        Dialect dialect = session.dialect();
        SortedSet<Long> tokens = new TreeSet<>(
                dialect.latest(session).isEmpty()
                        ? named
                        : dialect.committed(
                                session,
                                other -> other.list(dialect.sql(THERE), SqlRow::number, (Object) array(named))));
        Map<Long, Lease> leases = new HashMap<>();
        List<Long> alike = new ArrayList<>();
        for (long token : tokens) {
            if (!alike.isEmpty() && closing.contains(alike.get(0)) != closing.contains(token)) {
                lockAlike(session, alike, closing, leases);
                alike.clear();
            }
            alike.add(token);
        }
        lockAlike(session, alike, closing, leases);
        return leases;
    }

    private static void lockAlike(Session session, List<Long> tokens, Collection<Long> closing, Map<Long, Lease> leases)
            throws SQLException {
        if (!tokens.isEmpty()) {
            session.list(
                    session.dialect().sql(closing.contains(tokens.get(0)) ? LOCK_LEASES : SHARE_LEASES),
                    row -> leases.put(row.number(), new Lease(row.text(), row.text())),
                    (Object) array(tokens));
        }
    }

    private static long[] array(Collection<Long> numbers) {
        return numbers.stream().mapToLong(Long::longValue).sorted().toArray();
    }

    private static void dropEmpty(Session session, long[] tokens) throws SQLException {
        List<Long> empty = session.list(session.dialect().sql(EMPTY), SqlRow::number, (Object) tokens);
        if (!empty.isEmpty()) {
            session.dialect().dropLeases(session, array(empty));
        }
    }

    private static void close(Session session, long token) throws SQLException {
        // In a caller's REPEATABLE READ this transaction may not see whom a person asked to stop. What it has settled
        // itself is over if it was asked to stop, or was not asked: the lease is locked since then.
        List<Long> cancelled = session.dialect().committed(session, other -> Cancellations.left(other, token));
        session.dialect().dropLeases(session, token);
        Endings.end(session, cancelled, JobState.CANCELLED, null);
    }

    /** One batch under way. */
    private final class Batch {

        private final Session session;
        private final Map<Long, Lease> leases;
        private final long at;
        private final Set<JobId> stale = new HashSet<>();
        private final Set<JobId> cancelled = new HashSet<>();
        private final Counters.Sums counts = new Counters.Sums();
        private final List<Long> done = new ArrayList<>();

        Batch(Session session, Map<Long, Lease> leases, long at) {
            this.session = session;
            this.leases = leases;
            this.at = at;
        }

        private void settle(List<Settlement> piece, Collection<Long> closing) throws SQLException {
            List<Settlement> leased = new ArrayList<>();
            for (Settlement settlement : piece) {
                if (leases.containsKey(settlement.token())) {
                    leased.add(settlement);
                } else {
                    stale.add(settlement.job());
                }
            }
            if (!leased.isEmpty()) {
                settleLeased(leased, closing);
            }
        }

        private void settleLeased(List<Settlement> piece, Collection<Long> closing) throws SQLException {
            Map<JobId, Live> live = lockJobs(piece);
            Set<Settlement> held = lockHolds(piece);
            List<Settlement> successes = new ArrayList<>();
            List<Outcome> ends = new ArrayList<>();
            List<Outcome> waits = new ArrayList<>();
            for (Settlement settlement : piece) {
                Live job = live.get(settlement.job());
                if (job == null || job.token >= settlement.token() || !held.contains(settlement)) {
                    stale.add(settlement.job());
                } else if (settlement.next() instanceof Settlement.Succeed) {
                    successes.add(settlement);
                } else {
                    Outcome outcome = new Outcome(settlement, job.counters.after(settlement));
                    if (outcome.effect.cancelledInstead()) {
                        cancelled.add(settlement.job());
                    }
                    (outcome.state() == null ? waits : ends).add(outcome);
                }
            }
            succeed(successes);
            end(ends);
            putBack(waits, closing);
            List<Attempts.Ended> history = new ArrayList<>();
            ends.forEach(outcome -> history.add(ended(outcome)));
            waits.forEach(outcome -> history.add(ended(outcome)));
            attempts.write(session, history, at);
        }

        private Map<JobId, Live> lockJobs(List<Settlement> piece) throws SQLException {
            Map<JobId, Live> live = new HashMap<>();
            session.list(
                    session.dialect().sql(LOCK_JOBS),
                    row -> live.put(new JobId(row.number()), new Live(row.number(), LiveCounters.read(row))),
                    (Object) piece.stream().mapToLong(s -> s.job().value()).toArray());
            return live;
        }

        /** Returns the settlements whose lease lists the job. */
        private Set<Settlement> lockHolds(List<Settlement> piece) throws SQLException {
            Set<Settlement> held = new HashSet<>();
            Map<Long, List<Settlement>> byLease =
                    new TreeMap<>(piece.stream().collect(Collectors.groupingBy(Settlement::token)));
            for (Map.Entry<Long, List<Settlement>> lease : byLease.entrySet()) {
                Set<Long> listed = new HashSet<>(session.list(
                        session.dialect().sql(LOCK_HOLDS), SqlRow::number, lease.getKey(), ids(lease.getValue())));
                lease.getValue().stream()
                        .filter(settlement -> listed.contains(settlement.job().value()))
                        .forEach(held::add);
            }
            return held;
        }

        private Attempts.Ended ended(Outcome outcome) {
            return Attempts.Ended.of(outcome.settlement, outcome.effect, lease(outcome.settlement).runner);
        }

        private Lease lease(Settlement settlement) {
            return Objects.requireNonNull(leases.get(settlement.token()));
        }

        private void succeed(List<Settlement> successes) throws SQLException {
            if (successes.isEmpty()) {
                return;
            }
            String rows =
                    JsonRows.of(successes, s -> new @Nullable Object[] {
                        s.job().value(), s.token(), SqlTime.of(s.ran()), lease(s).runner, result(s)
                    });
            session.update(session.dialect().sql(SUCCEED), Params.of("now", at).and("rows", rows));
            remove(successes);
            for (Settlement success : successes) {
                counts.add(lease(success).queue, JobState.SUCCEEDED, 1);
                done.add(success.job().value());
            }
        }

        private void end(List<Outcome> ends) throws SQLException {
            if (ends.isEmpty()) {
                return;
            }
            String rows = JsonRows.of(
                    ends,
                    outcome -> JobInserts.concat(facts(outcome, false), new @Nullable Object[] {
                        SqlTime.of(outcome.settlement.ran()),
                        outcome.state(),
                        reason(outcome),
                        lease(outcome.settlement).runner
                    }));
            session.update(session.dialect().sql(END), Params.of("now", at).and("rows", rows));
            remove(ends.stream().map(Outcome::settlement).toList());
            for (Outcome outcome : ends) {
                JobState state = Objects.requireNonNull(outcome.state());
                counts.add(lease(outcome.settlement).queue, state, 1);
            }
        }

        private void remove(List<Settlement> settlements) throws SQLException {
            session.update(session.dialect().sql(MySqlDialect.REMOVE), (Object) ids(settlements));
        }

        private void putBack(List<Outcome> waits, Collection<Long> closing) throws SQLException {
            if (waits.isEmpty()) {
                return;
            }
            String rows = JsonRows.of(waits, outcome -> {
                WaitColumns waiting = WaitColumns.require(outcome.settlement);
                Long delay = waiting.delay();
                return JobInserts.concat(facts(outcome, waiting.parkedBy() != null), new @Nullable Object[] {
                    delay == null ? null : at + delay, waiting.reason(), waiting.lastDelay(), waiting.parkedBy()
                });
            });
            session.update(WAIT, rows);
            Map<Long, List<Settlement>> staying = waits.stream()
                    .map(Outcome::settlement)
                    .filter(settlement -> !closing.contains(settlement.token()))
                    .collect(Collectors.groupingBy(Settlement::token));
            for (Map.Entry<Long, List<Settlement>> lease : staying.entrySet()) {
                session.update(session.dialect().sql(LEAVE), lease.getKey(), ids(lease.getValue()));
            }
        }
    }

    /** Returns the values that are written whatever the outcome is. */
    private static @Nullable Object[] facts(Outcome outcome, boolean parked) {
        Settlement settlement = outcome.settlement;
        JobCounts counts = outcome.effect.counts();
        Failure failure = settlement.failure();
        return new @Nullable Object[] {
            settlement.job().value(),
            settlement.token(),
            counts.attempts(),
            counts.losses(),
            counts.interruptions(),
            counts.snoozes(),
            StoredLane.of(outcome.effect.lane(), parked),
            failure == null ? null : failure.type(),
            failure == null ? null : failure.message(),
            failure == null ? null : failure.fingerprint(),
            SpecColumns.tags(settlement.tags())
        };
    }

    private static @Nullable FailReason reason(Outcome outcome) {
        return outcome.state() == JobState.FAILED && outcome.settlement.next() instanceof Settlement.Fail fail
                ? fail.reason()
                : null;
    }

    private static @Nullable String result(Settlement settlement) {
        return settlement.next() instanceof Settlement.Succeed success ? success.result() : null;
    }

    private static long[] ids(List<Settlement> settlements) {
        return settlements.stream().mapToLong(s -> s.job().value()).sorted().toArray();
    }
}
