// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.postgres;

import static io.reprise.jdbc.sql.ColumnArrays.Kind.NUMBER;
import static io.reprise.jdbc.sql.ColumnArrays.Kind.TEXT;

import io.reprise.jdbc.rows.StepTable;
import io.reprise.jdbc.sql.ColumnArrays;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlTime;
import io.reprise.job.JobId;
import io.reprise.step.Checkpoint;
import io.reprise.step.StepWrite;
import io.reprise.step.StoredStep;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Stores the new steps of many runs in one round trip, commit included. */
public final class PostgresSteps implements StepTable.Together {

    private static final List<ColumnArrays.Kind> KINDS =
            List.of(NUMBER, TEXT, TEXT, TEXT, NUMBER, NUMBER, NUMBER, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT);

    // Two statements in one text are one transaction. The first locks leases in the order in which settlements
    // lock them. They stay until the commit, because a take-over skips them. The second has a snapshot of its own.
    // So it sees what those transactions left for which the first waited. It is fenced: it selects no row unless
    // the lease holds the job. A row that is there stays. The primary keys serve it.
    private static final String INSERT = """
            select id from reprise_lease where id = any (?) order by id for share;
            with asked as (
              select * from unnest({arrays})
                as a (job_id, name, kind, state, token, delay, suspensions, type, value, fail_reason, failure_class, error_type,
                      error_message)),
            held as materialized (
              select l.id as token, u.id
                from reprise_lease l
                cross join unnest(l.ids) as u (id)
               where l.id = any ((select ?::bigint[])::bigint[]))
            insert into reprise_step (
              job_id, name, kind, state, token, at, due_at, suspensions, type, value, fail_reason, failure_class, error_type,
              error_message)
            select a.job_id, a.name, a.kind, a.state, a.token, t.now, t.now + a.delay, a.suspensions, a.type, a.value,
                   a.fail_reason, a.failure_class, a.error_type, a.error_message
              from asked a
              join held h on h.token = a.token and h.id = a.job_id
              cross join lateral (
                select 1 from reprise_job where id = a.job_id and token < a.token and due_at is not null offset 0) j
              cross join (select reprise_now() as now) t
            on conflict do nothing
            returning job_id, name
            """.replace("{arrays}", ColumnArrays.placeholders(KINDS));

    @Override
    public List<StepTable.Place> insert(Session session, List<Checkpoint> steps) throws SQLException {
        long[] leases =
                steps.stream().mapToLong(Checkpoint::token).distinct().sorted().toArray();
        Object[] args = Stream.of(
                        Stream.of((Object) leases),
                        Arrays.stream(ColumnArrays.of(KINDS, steps, PostgresSteps::values)),
                        Stream.of((Object) leases))
                .flatMap(some -> some)
                .toArray();
        return session.listOfLast(INSERT, row -> new StepTable.Place(new JobId(row.number()), row.text()), args);
    }

    private static @Nullable Object[] values(Checkpoint checkpoint) {
        StepWrite step = checkpoint.step();
        StoredStep.StepFailure failure = step.failure();
        return new @Nullable Object[] {
            checkpoint.job().value(),
            step.name(),
            step.kind(),
            step.state(),
            checkpoint.token(),
            SqlTime.ofNullable(step.delay()),
            step.suspensions(),
            step.type(),
            step.value(),
            failure == null ? null : failure.reason(),
            failure == null ? null : failure.failureClass(),
            failure == null ? null : failure.type(),
            failure == null ? null : failure.message()
        };
    }
}
