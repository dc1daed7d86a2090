// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.jobs;

import io.reprise.jdbc.sql.Counters;
import io.reprise.jdbc.sql.Dialect;
import io.reprise.jdbc.sql.Endings;
import io.reprise.jdbc.sql.Params;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.jdbc.sql.SqlTime;
import io.reprise.job.JobState;
import io.reprise.retry.FailReason;
import io.reprise.store.Claim;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Base of the dialects whose changing statements return rows and can skip conflicts: PostgreSQL and SQLite. */
public abstract class ReturningDialect implements Dialect {

    // The primary key serves it. Idempotent: the second time no row matches.
    private static final String DELETE = """
            delete from {finished}
             where id {in ?} and finished_at is not null and finished_at < ?
            returning id, queue, state
            """;

    // Two transactions at once take different rows. Readers see the rows or their sum, never both.
    private static final String TAKE_COUNTS = """
            delete from reprise_counter
            returning queue, state, n
            """;

    // Leases are few, so a scan finds the expired ones. It skips leases that a settle has locked. It also skips leases
    // that hold no job: they must not fill the limit.
    private static final String EXPIRED = """
            select l.id, l.runner, l.excused, l.unheard
              from reprise_lease l
             where l.expires_at <= {now}
               and %s
             order by l.expires_at, l.id
             limit ?
            {skip_locked}
            """.formatted(LeaseTable.HOLDS_SOME);

    // No job is ever added to a lease, so a lease that holds none stays empty.
    private static final String DROP_EMPTY = """
            delete from reprise_lease
             where id in (
                     select l.id
                       from reprise_lease l
                      where l.expires_at <= {now}
                        and not %s
                      limit ?
                     {skip_locked})
            """.formatted(LeaseTable.HOLDS_SOME);

    // The new lease has a greater token than the old one. No job row is written.
    private static final String TAKE = """
            insert into reprise_lease (id, queue, worker, runner, alone, claimed_at, expires_at, ids)
            select {token}, queue, :taker, runner, alone, claimed_at, {now} + :lease, {ids}
              from reprise_lease
             where id = :lost
            returning id, queue, alone, claimed_at
            """;

    /** Statement that ends live jobs. Binds state, reason and ids; returns id, queue, and chain of members of batches. */
    public abstract String endSql();

    /** The next token, in SQL; null if the database fills it in. */
    protected abstract String nextToken();

    /** The type of the list of ids in a lease. */
    protected abstract String idsType();

    @Override
    public List<Endings.Gone> end(Session session, JobState state, @Nullable FailReason reason, long[] ids)
            throws SQLException {
        return session.list(endSql(), row -> Endings.ended(row, state), state, reason, ids);
    }

    @Override
    public List<Endings.Gone> deleteFinished(Session session, long[] ids, long before) throws SQLException {
        return session.list(sql(DELETE), Endings::gone, ids, before);
    }

    @Override
    public List<Counters.Change> takeCounts(Session session, long newest) throws SQLException {
        return session.list(TAKE_COUNTS, Counters::change);
    }

    @Override
    public String expiredSql() {
        return sql(EXPIRED);
    }

    @Override
    public Claim takeLease(Session session, long lost, long[] ids, String taker, Duration lease) throws SQLException {
        String sql = TAKE.replace("{token}", nextToken()).replace("{ids}", "cast(:ids as " + idsType() + ")");
        Params params = Params.of("taker", taker)
                .and("lease", SqlTime.of(lease))
                .and("ids", ids)
                .and("lost", lost);
        Claim taken = session.one(sql(sql), LeaseTable::readClaim, params);
        dropLeases(session, lost);
        return taken;
    }

    @Override
    public void dropLeases(Session session, long... tokens) throws SQLException {
        session.update(sql("delete from reprise_lease where id {in ?}"), (Object) tokens);
    }

    @Override
    public int dropEmptyLeases(Session session, int max) throws SQLException {
        return session.update(sql(DROP_EMPTY), max);
    }

    @Override
    public List<String> names(Session session, String all, String next) throws SQLException {
        return session.list(all, SqlRow::text);
    }

    @Override
    public int insertUnlessThere(Session session, String sql, @Nullable Object... args) throws SQLException {
        return session.update(sql + "on conflict do nothing", args);
    }
}
