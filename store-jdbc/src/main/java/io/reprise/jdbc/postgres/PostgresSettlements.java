// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.postgres;

import static io.reprise.jdbc.sql.ColumnArrays.Kind.NUMBER;
import static io.reprise.jdbc.sql.ColumnArrays.Kind.TEXT;

import io.reprise.jdbc.jobs.Attempts;
import io.reprise.jdbc.jobs.JobInserts;
import io.reprise.jdbc.jobs.JobSettlements;
import io.reprise.jdbc.jobs.LeaseClosing;
import io.reprise.jdbc.jobs.SpecColumns;
import io.reprise.jdbc.jobs.WaitColumns;
import io.reprise.jdbc.sql.ColumnArrays;
import io.reprise.jdbc.sql.Endings;
import io.reprise.jdbc.sql.Params;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.jdbc.sql.SqlTime;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.store.Settled;
import io.reprise.store.Settlement;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Settles a batch with a few statements. All of them fence in the same way. They lock the lease row first, so that no
 * take-over deletes it. The lease's list must name the job, and the job's token must be less. The first statement that
 * locks leases against renewal locks all leases of the batch, in the order of their ids, as a renewal does. Arrays pass
 * through a sub-select, which hides their length from the planner, so that it always uses the primary key.
 */
public final class PostgresSettlements implements JobSettlements {

    // "for key share" is enough: other settles of the lease go on, and a take-over skips it. Deletes jobs
    // through the primary key.
    private static final String SUCCEED_TEMPLATE = """
            with i as (
              select * from unnest((select :ids::bigint[]), (select :tokens::bigint[]), (select :ran::bigint[]), (select :results::text[]))
                as i (id, token, ran, result)),
            l as materialized (
              select id, runner, ids from reprise_lease where id = any ((select :leases::bigint[])::bigint[]) {lock}),
            {held}
               where j.id = i.id and j.token < i.token
              returning j.*, i.token as won, i.ran, i.result, h.runner),
            f as (
              insert into reprise_finished (
                state, finished_at, started_at, token, worker, result, last_delay_us, attempts, losses, interruptions,
                snoozes, lane, error_type, error_message, fingerprint, {both}, {spec})
              select 'SUCCEEDED', (select reprise_now()), (select reprise_now()) - ran, won, runner, result, last_delay_us, attempts + 1, losses,
                     interruptions, snoozes, 1, error_type, error_message, fingerprint, {both}, {spec}
                from d),
            sums as materialized (
              select queue, count(*) as n from d group by queue),
            c as (
              insert into reprise_counter (queue, state, n)
              select queue, 'SUCCEEDED', n from sums),
            done as (
              insert into reprise_done (finished_at, jobs, ids)
              select (select reprise_now()), count(*), array_agg(id) from d having count(*) > 0),
            {gone}
            select reprise_now(),
                   case when (select sum(n) from sums) = (select count(*) from i) then '{}'::bigint[]
                        else array(select i.id from i where not exists (select 1 from d where d.id = i.id)) end,
                   {cancelled}
            """;

    static final String SUCCEED = SUCCEED_TEMPLATE
            .replace("{lock}", "for key share")
            .replace("{held}", """
            held as materialized (
              select l.id as token, l.runner, u.id from l cross join unnest(l.ids) as u (id)),
            d as (
              delete from reprise_job j
               using i join held h on h.token = i.token and h.id = i.id""")
            .replace("{gone}", """
            gone as (
              delete from reprise_lease where id in (
                select id from reprise_lease where id = any ((select :closing::bigint[])::bigint[]) order by id for update))""")
            .replace("{cancelled}", """
            array(select j.id from reprise_job j join reprise_held h on h.id = j.id and h.token > j.token
                   where j.cancel_requested and h.token = any ((select :closing::bigint[])::bigint[]))""");

    // With "for update" the statement sees ids as the previous settle left it, even if its snapshot is older. The list
    // then says which jobs remain, so every settled job leaves it. Most batches have one job of each of many
    // leases: it is cheaper to search a list for one job than to join all lists with the batch.
    private static final String SUCCEED_AND_LEAVE = SUCCEED_TEMPLATE
            .replace("{lock}", "order by id for update")
            .replace("{held}", """
            d as (
              delete from reprise_job j
               using i join l h on h.id = i.token and i.id = any (h.ids)""")
            .replace("{gone}", """
            won as materialized (
              select won as token, array_agg(id) as ids from d group by won),
            rest as materialized (
              select l.id,
                     case when cardinality(w.ids) = 1 then array_remove(l.ids, w.ids[1])
                          else array(select u.id from unnest(l.ids) as u (id) where not exists (select 1 from d where d.id = u.id))
                     end as ids
                from l join won w on w.token = l.id),
            gone as (
              delete from reprise_lease e using rest r
               where e.id = any ((select :leases::bigint[])::bigint[]) and e.id = r.id and r.ids = '{}'),
            less as (
              update reprise_lease e set ids = r.ids from rest r
               where e.id = any ((select :leases::bigint[])::bigint[]) and e.id = r.id and r.ids <> '{}')""")
            .replace("{cancelled}", "'{}'::bigint[]");

    private static final String LOCK_ALONE = """
            select id
              from reprise_lease
             where id = any (?)
             order by id
            for update
            """;

    private static final String DROP_EMPTY = """
            delete from reprise_lease
             where id = any (?) and ids = '{}'
            """;

    /** Writes the history in the statement that settles. */
    private static final String WRITE_ATTEMPTS = """
            insert into reprise_attempt (job_id, token, number, started_at, ended_at, worker, {details})
            select id, won, case when spent = 'ATTEMPT' then counted else counted + 1 end, (select reprise_now()) - ran,
                   (select reprise_now()), runner, ending, failure_class, failure_type, failure_code, failure_status,
                   failure_message, failure_trace, fingerprint, retry_after_us, decision, decision_class, decision_rule,
                   decision_reason, decision_delay_us, decision_raw_us, decision_counts <> 0, predicted_successes,
                   predicted_tries, predicted_basis
              from settled
             where spent <> 'NOTHING'""".replace("{details}", Attempts.DETAILS);

    private static final List<ColumnArrays.Kind> END_KINDS = kinds(NUMBER, NUMBER, TEXT, TEXT, NUMBER, TEXT, TEXT);
    private static final List<ColumnArrays.Kind> WAIT_KINDS =
            kinds(NUMBER, NUMBER, TEXT, NUMBER, NUMBER, NUMBER, TEXT, TEXT, TEXT);

    // Jobs that end without success. Waiting jobs are here only if a cancellation was requested. That cannot change
    // between the two statements, because a cancellation locks the lease first.
    private static final String END = complete("""
            with i as (
              select * from unnest({arrays}) as i (id, token, state, reason, ran, spent, tags, {details})),
            l as materialized (
              select id, runner, ids from reprise_lease where id = any ((select ?::bigint[])::bigint[]) order by id for no key update),
            held as materialized (
              select l.id as token, l.runner, u.id from l cross join unnest(l.ids) as u (id)),
            d as (
              delete from reprise_job j
               using i join held h on h.token = i.token and h.id = i.id
               where j.id = i.id and j.token < i.token and (i.state is not null or j.cancel_requested)
              returning j.*, h.runner, case when j.cancel_requested then 'CANCELLED' else i.state end as state),
            f as (
              insert into reprise_finished (
                state, fail_reason, finished_at, started_at, token, worker, last_delay_us, attempts, losses, interruptions,
                snoozes, lane, error_type, error_message, fingerprint, {both}, {spec})
              select d.state, case when d.state = 'FAILED' then i.reason end, (select reprise_now()),
                     (select reprise_now()) - i.ran, i.token, d.runner, d.last_delay_us,
                     d.attempts + (i.spent = 'ATTEMPT')::int, d.losses + (i.spent = 'LOSS')::int,
                     d.interruptions + (i.spent = 'INTERRUPTION')::int, d.snoozes + (i.spent = 'SNOOZE')::int,
                     case when i.spent = 'ATTEMPT' then 1 else d.lane end, coalesce(i.failure_type, d.error_type),
                     case when i.failure_type is null then d.error_message else i.failure_message end,
                     coalesce(i.fingerprint, d.fingerprint), {d_both}, {settled_spec}
                from d join i using (id)),
            c as (
              insert into reprise_counter (queue, state, n)
              select queue, state, count(*) from d group by queue, state),
            settled as (
              select i.*, i.token as won, d.runner, d.attempts + (i.spent = 'ATTEMPT')::int as counted
                from d join i using (id)),
            a as (
              {attempts})
            select id, d.attempts + d.losses + d.interruptions + d.snoozes + (i.spent <> 'NOTHING')::int, d.state = 'CANCELLED'
              from d join i using (id)
            """, END_KINDS);

    private static final String WAIT = complete("""
            with i as (
              select * from unnest({arrays}) as i (id, token, wait, delay, last_delay, ran, spent, parked_by, tags, {details})),
            l as materialized (
              select id, runner, ids from reprise_lease where id = any ((select ?::bigint[])::bigint[]) order by id for no key update),
            held as materialized (
              select l.id as token, l.runner, u.id from l cross join unnest(l.ids) as u (id)),
            u as (
              update reprise_job j
                 set token = i.token,
                     due_at = coalesce((select reprise_now()) + i.delay, j.due_at),
                     wait_reason = coalesce(i.wait, j.wait_reason),
                     last_delay_us = coalesce(i.last_delay, j.last_delay_us),
                     attempts = j.attempts + (i.spent = 'ATTEMPT')::int,
                     losses = j.losses + (i.spent = 'LOSS')::int,
                     interruptions = j.interruptions + (i.spent = 'INTERRUPTION')::int,
                     snoozes = j.snoozes + (i.spent = 'SNOOZE')::int,
                     lane = case when i.spent = 'ATTEMPT' then 1
                                 when i.spent = 'LOSS' and i.wait is not null and i.parked_by is null and j.losses > 0 then 2
                                 else j.lane end + case when i.parked_by is null then 0 else 3 end,
                     parked_by = i.parked_by,
                     error_type = coalesce(i.failure_type, j.error_type),
                     error_message = case when i.failure_type is null then j.error_message else i.failure_message end,
                     fingerprint = coalesce(i.fingerprint, j.fingerprint),
                     tags = coalesce(i.tags, j.tags)
                from i
                join held h on h.token = i.token and h.id = i.id
               where j.id = i.id and j.token < i.token and not j.cancel_requested
              returning j.id, j.attempts, j.attempts + j.losses + j.interruptions + j.snoozes as claims, h.runner),
            settled as (
              select i.*, i.token as won, u.runner, u.attempts as counted from u join i using (id)),
            a as (
              {attempts})
            select id, claims from u
            """, WAIT_KINDS);

    // A statement of its own, so that it sees the list as a concurrent settle left it. A waiting job must leave the
    // list, or no claim would take it. An ended job may stay on the list.
    private static final String LEAVE = """
            update reprise_lease
               set ids = array(select u.id from unnest(ids) as u (id) where u.id not in (select unnest(?::bigint[])))
             where id = any (?)
            """;

    private final Attempts attempts;

    public PostgresSettlements(Attempts attempts) {
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
    public Settled settle(Session session, List<Settlement> settlements, LeaseClosing closing) throws SQLException {
        Set<JobId> stale = new HashSet<>();
        Set<JobId> cancelled = new HashSet<>();
        List<Settlement> sorted = settlements.stream().sorted(LOCK_ORDER).toList();
        List<Settlement> successes =
                sorted.stream().filter(PostgresSettlements::succeeds).toList();
        List<Settlement> others = sorted.stream().filter(s -> !succeeds(s)).toList();
        if (!others.isEmpty()) {
            if (closing.empty()) {
                session.list(LOCK_ALONE, SqlRow::number, (Object) tokens(sorted));
            }
            stale.addAll(settleOthers(session, others, closing, cancelled));
        }
        Instant at = succeed(session, successes, closing, stale);
        if (closing.empty() && !others.isEmpty()) {
            session.update(DROP_EMPTY, (Object) tokens(others));
        }
        return new Settled(at, stale, cancelled);
    }

    /** Returns the jobs that were not settled. */
    private Set<JobId> settleOthers(
            Session session, List<Settlement> others, LeaseClosing closing, Set<JobId> cancelled) throws SQLException {
        Map<JobId, Settlement> open = new LinkedHashMap<>();
        others.forEach(settlement -> open.put(settlement.job(), settlement));
        long[] leases = LongStream.concat(
                        others.stream().mapToLong(Settlement::token),
                        closing.named().stream().mapToLong(Long::longValue))
                .distinct()
                .sorted()
                .toArray();
        List<Long> full = new ArrayList<>();
        List<Settlement> waits =
                open.values().stream().filter(PostgresSettlements::waits).toList();
        if (!waits.isEmpty()) {
            List<Settlement> waiting = session.list(
                    session.dialect().sql(WAIT), row -> settled(row, open, full), waitArrays(waits, leases));
            leave(session, waiting, closing.named());
        }
        List<Settlement> rest = List.copyOf(open.values());
        if (!rest.isEmpty()) {
            List<Settlement> ended = session.list(
                    session.dialect().sql(END),
                    row -> {
                        Settlement settlement = settled(row, open, full);
                        if (row.flag() && !(settlement.next() instanceof Settlement.Cancel)) {
                            cancelled.add(settlement.job());
                        }
                        return settlement;
                    },
                    endArrays(rest, leases));
            if (closing.empty()) {
                leave(session, ended, List.of());
            }
        }
        attempts.trim(session, full);
        return open.keySet();
    }

    private static String complete(String template, List<ColumnArrays.Kind> kinds) {
        return template.replace("{attempts}", WRITE_ATTEMPTS)
                .replace("{details}", Attempts.DETAILS)
                .replace("{arrays}", ColumnArrays.placeholders(kinds));
    }

    private static List<ColumnArrays.Kind> kinds(ColumnArrays.Kind... first) {
        return Stream.concat(Arrays.stream(first), Attempts.DETAIL_KINDS.stream())
                .toList();
    }

    private static boolean waits(Settlement settlement) {
        return WaitColumns.of(settlement.next()) != null;
    }

    /**
     * Returns the settlement of the row's job and removes it from {@code open}. Adds the job to {@code full} if
     * its history may be full.
     */
    private Settlement settled(SqlRow row, Map<JobId, Settlement> open, List<Long> full) throws SQLException {
        Settlement settlement = open.remove(new JobId(row.number()));
        if (settlement == null) {
            throw new SQLException("a job was settled twice in one batch");
        }
        if (attempts.mayBeTooMany(row.integer())) {
            full.add(settlement.job().value());
        }
        return settlement;
    }

    private static void leave(Session session, List<Settlement> waiting, Collection<Long> closing) throws SQLException {
        List<Settlement> staying =
                waiting.stream().filter(s -> !closing.contains(s.token())).toList();
        if (!staying.isEmpty()) {
            session.update(
                    LEAVE, staying.stream().mapToLong(s -> s.job().value()).toArray(), tokens(staying));
        }
    }

    private static long[] tokens(List<Settlement> settlements) {
        return settlements.stream()
                .mapToLong(Settlement::token)
                .distinct()
                .sorted()
                .toArray();
    }

    private Instant succeed(Session session, List<Settlement> successes, LeaseClosing closing, Set<JobId> stale)
            throws SQLException {
        record Answer(long at, List<Long> stale, List<Long> cancelled) {}
        Answer answer = session.one(
                session.dialect().sql(closing.empty() ? SUCCEED_AND_LEAVE : SUCCEED),
                row -> new Answer(row.number(), row.numbers(), row.numbers()),
                Params.of(
                                "ids",
                                successes.stream()
                                        .mapToLong(s -> s.job().value())
                                        .toArray())
                        .and(
                                "tokens",
                                successes.stream().mapToLong(Settlement::token).toArray())
                        .and(
                                "ran",
                                successes.stream()
                                        .mapToLong(s -> SqlTime.of(s.ran()))
                                        .toArray())
                        .and(
                                "results",
                                ColumnArrays.of(List.of(TEXT), successes, s -> new @Nullable Object[] {result(s)})[0])
                        .and(
                                "closing",
                                closing.named().stream()
                                        .mapToLong(Long::longValue)
                                        .sorted()
                                        .toArray())
                        .and("leases", tokens(successes)));
        answer.stale().forEach(id -> stale.add(new JobId(id)));
        List<Long> cancelled = answer.cancelled().stream()
                .filter(id -> successes.stream().noneMatch(s -> s.job().value() == id))
                .toList();
        if (!cancelled.isEmpty()) {
            cancel(session, cancelled);
        }
        return SqlTime.instant(answer.at());
    }

    /**
     * Ends jobs that a closed lease left behind and that have cancel_requested. Opens a transaction if there is none.
     */
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
        return with(leases, ColumnArrays.of(WAIT_KINDS, waits, s -> {
            WaitColumns waiting = WaitColumns.require(s);
            return JobInserts.concat(
                    new @Nullable Object[] {
                        s.job().value(),
                        s.token(),
                        waiting.reason(),
                        waiting.delay(),
                        waiting.lastDelay(),
                        SqlTime.of(s.ran()),
                        s.spent(),
                        waiting.parkedBy(),
                        SpecColumns.tags(s.tags())
                    },
                    Attempts.details(s));
        }));
    }

    private static Object[] endArrays(List<Settlement> ends, long[] leases) {
        return with(
                leases,
                ColumnArrays.of(
                        END_KINDS,
                        ends,
                        s -> JobInserts.concat(
                                new @Nullable Object[] {
                                    s.job().value(),
                                    s.token(),
                                    state(s),
                                    s.next() instanceof Settlement.Fail fail ? fail.reason() : null,
                                    SqlTime.of(s.ran()),
                                    s.spent(),
                                    SpecColumns.tags(s.tags())
                                },
                                Attempts.details(s))));
    }

    private static Object[] with(long[] leases, Object[] arrays) {
        Object[] all = Arrays.copyOf(arrays, arrays.length + 1, Object[].class);
        all[arrays.length] = leases;
        return all;
    }

    private static @Nullable String state(Settlement settlement) {
        if (settlement.next() instanceof Settlement.Fail) {
            return JobState.FAILED.name();
        }
        return settlement.next() instanceof Settlement.Cancel ? JobState.CANCELLED.name() : null;
    }

    private static @Nullable String result(Settlement settlement) {
        return settlement.next() instanceof Settlement.Succeed success ? success.result() : null;
    }
}
