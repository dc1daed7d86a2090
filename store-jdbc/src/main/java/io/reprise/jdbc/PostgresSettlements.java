// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.JobId;
import io.reprise.JobState;
import io.reprise.retry.Failure;
import io.reprise.store.Settled;
import io.reprise.store.Settlement;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Few statements per batch. All fence alike: the lease row is locked first, so that no take-over deletes it meanwhile, the
 * job must be on its list, and the job's own token must be less. The first statement that locks leases against renewal
 * locks all that the batch needs so, in the order of their ids, as renewal does. Arrays come through a sub-select, which hides their
 * length from the planner: it always walks the primary key.
 */
final class PostgresSettlements implements Settlements {

    // Key share is enough: other settles of the lease go on, a take-over passes it. Deletes through the primary key.
    static final String SUCCEED = """
            with i as (
              select * from unnest((select ?::bigint[]), (select ?::bigint[]), (select ?::bigint[]), (select ?::text[]))
                as i (id, token, ran, result)),
            closing as (
              select ?::bigint[] as tokens),
            l as materialized (
              select id, runner, ids from reprise_lease where id in (select token from i) for key share),
            held as materialized (
              select l.id as token, l.runner, u.id from l cross join unnest(l.ids) as u (id)),
            d as (
              delete from reprise_job j
               using i join held h on h.token = i.token and h.id = i.id
               where j.id = i.id and j.token < i.token
              returning j.*, i.token as won, i.ran, i.result, h.runner),
            f as (
              insert into reprise_finished (
                state, finished_at, started_at, token, worker, result, last_delay_us, attempts, losses, interruptions,
                snoozes, lane, error_type, error_message, fingerprint, {both}, {spec})
              select 'SUCCEEDED', reprise_now(), reprise_now() - ran, won, runner, result, last_delay_us, attempts + 1, losses,
                     interruptions, snoozes, 1, error_type, error_message, fingerprint, {both}, {spec}
                from d),
            c as (
              insert into reprise_counter (queue, state, n)
              select queue, 'SUCCEEDED', count(*) from d group by queue),
            gone as (
              delete from reprise_lease where id in (
                select id from reprise_lease where id = any ((select tokens from closing)::bigint[]) order by id for update))
            select reprise_now(),
                   array(select i.id from i where not exists (select 1 from d where d.id = i.id)),
                   array(select j.id from reprise_job j join reprise_held h on h.id = j.id and h.token > j.token
                          where j.cancel_requested and h.token = any ((select tokens from closing)::bigint[]))
            """;

    // The jobs that do not come back, without the successes. Those that were to wait are here only if somebody asked to
    // cancel them; that cannot change between the two statements, because who asks locks the lease first.
    static final String END = """
            with i as (
              select * from unnest((select ?::bigint[]), (select ?::bigint[]), (select ?::text[]), (select ?::text[]),
                (select ?::bigint[]), (select ?::text[]), (select ?::text[]), (select ?::text[]), (select ?::text[]))
                as i (id, token, state, reason, ran, spent, error_type, error_message, fingerprint)),
            l as materialized (
              select id, runner, ids from reprise_lease where id = any ((select ?::bigint[])::bigint[]) order by id for no key update),
            held as materialized (
              select l.id as token, l.runner, u.id from l cross join unnest(l.ids) as u (id)),
            d as (
              delete from reprise_job j
               using i join held h on h.token = i.token and h.id = i.id
               where j.id = i.id and j.token < i.token and (i.state is not null or j.cancel_requested)
              returning j.*, i.token as won, i.ran, i.spent, i.reason, h.runner,
                        case when j.cancel_requested then 'CANCELLED' else i.state end as state,
                        i.error_type as new_type, i.error_message as new_message, i.fingerprint as new_fingerprint),
            f as (
              insert into reprise_finished (
                state, fail_reason, finished_at, started_at, token, worker, last_delay_us, attempts, losses, interruptions,
                snoozes, lane, error_type, error_message, fingerprint, {both}, {spec})
              select state, case when state = 'FAILED' then reason end, reprise_now(), reprise_now() - ran, won, runner,
                     last_delay_us, attempts + (spent = 'ATTEMPT')::int, losses + (spent = 'LOSS')::int,
                     interruptions + (spent = 'INTERRUPTION')::int, snoozes + (spent = 'SNOOZE')::int,
                     case when spent = 'ATTEMPT' then 1 else lane end, coalesce(new_type, error_type),
                     case when new_type is null then error_message else new_message end,
                     coalesce(new_fingerprint, fingerprint), {both}, {spec}
                from d),
            c as (
              insert into reprise_counter (queue, state, n)
              select queue, state, count(*) from d group by queue, state)
            select id, attempts + (spent = 'ATTEMPT')::int,
                   attempts + losses + interruptions + snoozes + (spent <> 'NOTHING')::int, runner, state = 'CANCELLED'
              from d
            """;

    static final String WAIT = """
            with i as (
              select * from unnest((select ?::bigint[]), (select ?::bigint[]), (select ?::text[]), (select ?::bigint[]),
                (select ?::bigint[]), (select ?::text[]), (select ?::text[]), (select ?::text[]), (select ?::text[]),
                (select ?::text[]))
                as i (id, token, reason, delay, last_delay, spent, error_type, error_message, fingerprint, parked_by)),
            l as materialized (
              select id, runner, ids from reprise_lease where id = any ((select ?::bigint[])::bigint[]) order by id for no key update),
            held as materialized (
              select l.id as token, l.runner, u.id from l cross join unnest(l.ids) as u (id))
            update reprise_job j
               set token = i.token,
                   due_at = coalesce(reprise_now() + i.delay, j.due_at),
                   wait_reason = coalesce(i.reason, j.wait_reason),
                   last_delay_us = coalesce(i.last_delay, j.last_delay_us),
                   attempts = j.attempts + (i.spent = 'ATTEMPT')::int,
                   losses = j.losses + (i.spent = 'LOSS')::int,
                   interruptions = j.interruptions + (i.spent = 'INTERRUPTION')::int,
                   snoozes = j.snoozes + (i.spent = 'SNOOZE')::int,
                   lane = case when i.spent = 'ATTEMPT' then 1
                               when i.spent = 'LOSS' and i.reason is not null and j.losses > 0 then 2
                               else j.lane end + case when i.parked_by is null then 0 else 3 end,
                   parked_by = i.parked_by,
                   error_type = coalesce(i.error_type, j.error_type),
                   error_message = case when i.error_type is null then j.error_message else i.error_message end,
                   fingerprint = coalesce(i.fingerprint, j.fingerprint)
              from i
              join held h on h.token = i.token and h.id = i.id
             where j.id = i.id and j.token < i.token and not j.cancel_requested
            returning j.id, j.attempts, j.attempts + j.losses + j.interruptions + j.snoozes, h.runner
            """;

    // A statement of its own, so that it sees the list as a settle beside it left it. A job that waits must leave the
    // list, or no claim would take it; of those that ended it does not matter.
    private static final String LEAVE = """
            update reprise_lease
               set ids = array(select u.id from unnest(ids) as u (id) where u.id not in (select unnest(?::bigint[])))
             where id = any (?)
            """;

    private final Attempts attempts;

    PostgresSettlements(Attempts attempts) {
        this.attempts = attempts;
    }

    @Override
    public boolean isOneStatement(List<Settlement> settlements) {
        return settlements.stream().allMatch(PostgresSettlements::succeeds);
    }

    private static boolean succeeds(Settlement settlement) {
        return settlement.next() instanceof Settlement.Succeed;
    }

    @Override
    public Settled settle(Session session, List<Settlement> settlements, Collection<Long> closing) throws SQLException {
        Set<JobId> stale = new HashSet<>();
        Set<JobId> cancelled = new HashSet<>();
        List<Settlement> sorted = Settlements.newest(settlements, stale).stream()
                .sorted(LOCK_ORDER)
                .toList();
        List<Settlement> successes =
                sorted.stream().filter(PostgresSettlements::succeeds).toList();
        List<Settlement> others = sorted.stream().filter(s -> !succeeds(s)).toList();
        if (!others.isEmpty()) {
            stale.addAll(settleOthers(session, others, closing, cancelled));
        }
        Instant at = succeed(session, successes, closing, stale);
        return new Settled(at, stale, cancelled);
    }

    private Set<JobId> settleOthers(
            Session session, List<Settlement> others, Collection<Long> closing, Set<JobId> cancelled)
            throws SQLException {
        Map<JobId, Settlement> open = new LinkedHashMap<>();
        others.forEach(settlement -> open.put(settlement.job(), settlement));
        long[] leases = LongStream.concat(
                        others.stream().mapToLong(Settlement::token),
                        closing.stream().mapToLong(Long::longValue))
                .distinct()
                .sorted()
                .toArray();
        List<Attempts.Ended> ended = new ArrayList<>();
        List<Settlement> waits =
                open.values().stream().filter(PostgresSettlements::waits).toList();
        if (!waits.isEmpty()) {
            List<Attempts.Ended> waiting = session.list(WAIT, row -> ended(row, open), waitArrays(waits, leases));
            leave(session, waiting, closing);
            ended.addAll(waiting);
        }
        List<Settlement> rest = List.copyOf(open.values());
        if (!rest.isEmpty()) {
            ended.addAll(session.list(
                    session.dialect().sql(END),
                    row -> {
                        Attempts.Ended end = ended(row, open);
                        Settlement settlement = end.settlement();
                        if (row.flag() && !(settlement.next() instanceof Settlement.Cancel)) {
                            cancelled.add(settlement.job());
                        }
                        return end;
                    },
                    endArrays(rest, leases)));
        }
        if (!ended.isEmpty()) {
            attempts.write(session, ended, session.now());
        }
        return open.keySet();
    }

    private static boolean waits(Settlement settlement) {
        return Waiting.of(settlement.next()) != null;
    }

    private static Attempts.Ended ended(Row row, Map<JobId, Settlement> open) throws SQLException {
        Settlement settlement = open.remove(new JobId(row.number()));
        if (settlement == null) {
            throw new SQLException("a job was settled twice in one batch");
        }
        return new Attempts.Ended(settlement, row.integer(), row.integer(), row.text());
    }

    private static void leave(Session session, List<Attempts.Ended> waiting, Collection<Long> closing)
            throws SQLException {
        long[] tokens = waiting.stream()
                .mapToLong(end -> end.settlement().token())
                .filter(token -> !closing.contains(token))
                .distinct()
                .sorted()
                .toArray();
        if (tokens.length > 0) {
            session.update(LEAVE, numbers(waiting, end -> end.settlement().job().value()), tokens);
        }
    }

    private Instant succeed(Session session, List<Settlement> successes, Collection<Long> closing, Set<JobId> stale)
            throws SQLException {
        record Answer(long at, List<Long> stale, List<Long> cancelled) {}
        Answer answer = session.one(
                session.dialect().sql(SUCCEED),
                row -> new Answer(row.number(), row.numbers(), row.numbers()),
                numbers(successes, s -> s.job().value()),
                numbers(successes, Settlement::token),
                numbers(successes, s -> Micros.of(s.ran())),
                texts(successes, s -> s.next() instanceof Settlement.Succeed success ? success.result() : null),
                closing.stream().mapToLong(Long::longValue).sorted().toArray());
        answer.stale().forEach(id -> stale.add(new JobId(id)));
        List<Long> cancelled = answer.cancelled().stream()
                .filter(id -> successes.stream().noneMatch(s -> s.job().value() == id))
                .toList();
        if (!cancelled.isEmpty()) {
            cancel(session, cancelled);
        }
        return Micros.instant(answer.at());
    }

    /** Ends what a closed lease left behind and somebody asked to cancel; in one transaction also after a lone statement. */
    private static void cancel(Session session, List<Long> ids) throws SQLException {
        boolean alone = session.connection().getAutoCommit();
        if (alone) {
            session.connection().setAutoCommit(false);
        }
        Endings.end(session, ids, JobState.CANCELLED, null);
        if (alone) {
            session.connection().commit();
        }
    }

    private static Object[] waitArrays(List<Settlement> waits, long[] leases) {
        return new Object[] {
            numbers(waits, s -> s.job().value()),
            numbers(waits, Settlement::token),
            texts(waits, s -> Waiting.require(s).reason()),
            numbers(waits, s -> Waiting.require(s).delay()),
            numbers(waits, s -> Waiting.require(s).lastDelay()),
            texts(waits, s -> s.spent().name()),
            texts(waits, s -> error(s, Failure::type)),
            texts(waits, s -> error(s, Failure::message)),
            texts(waits, s -> error(s, Failure::fingerprint)),
            texts(waits, s -> Waiting.require(s).parkedBy()),
            leases
        };
    }

    private static Object[] endArrays(List<Settlement> ends, long[] leases) {
        return new Object[] {
            numbers(ends, s -> s.job().value()),
            numbers(ends, Settlement::token),
            texts(ends, PostgresSettlements::state),
            texts(
                    ends,
                    s -> s.next() instanceof Settlement.Fail fail
                            ? fail.reason().name()
                            : null),
            numbers(ends, s -> Micros.of(s.ran())),
            texts(ends, s -> s.spent().name()),
            texts(ends, s -> error(s, Failure::type)),
            texts(ends, s -> error(s, Failure::message)),
            texts(ends, s -> error(s, Failure::fingerprint)),
            leases
        };
    }

    private static @Nullable String state(Settlement settlement) {
        if (settlement.next() instanceof Settlement.Fail) {
            return JobState.FAILED.name();
        }
        return settlement.next() instanceof Settlement.Cancel ? JobState.CANCELLED.name() : null;
    }

    private static @Nullable String error(Settlement settlement, Function<Failure, String> part) {
        Failure failure = settlement.failure();
        return failure == null ? null : part.apply(failure);
    }

    private static <T> @Nullable Long[] numbers(List<T> items, Function<T, @Nullable Long> part) {
        @Nullable Long[] all = new Long[items.size()];
        for (int i = 0; i < all.length; i++) {
            all[i] = part.apply(items.get(i));
        }
        return all;
    }

    private static <T> @Nullable String[] texts(List<T> items, Function<T, @Nullable String> part) {
        @Nullable String[] all = new String[items.size()];
        for (int i = 0; i < all.length; i++) {
            String text = part.apply(items.get(i));
            all[i] = text == null ? null : Session.storable(text);
        }
        return all;
    }
}
