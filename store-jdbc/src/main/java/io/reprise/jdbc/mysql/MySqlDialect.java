// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.mysql;

import io.reprise.jdbc.jobs.Columns;
import io.reprise.jdbc.jobs.LeaseTable;
import io.reprise.jdbc.sql.Counters;
import io.reprise.jdbc.sql.Database;
import io.reprise.jdbc.sql.Dialect;
import io.reprise.jdbc.sql.Endings;
import io.reprise.jdbc.sql.ParkedJobs;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.ShownColumns;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.jdbc.sql.SqlTime;
import io.reprise.jdbc.sql.SqlWords;
import io.reprise.job.JobSpec.Needs;
import io.reprise.job.JobState;
import io.reprise.retry.FailReason;
import io.reprise.store.Claim;
import io.reprise.store.Unparking;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * MySQL and MariaDB, in the SQL that both understand. Updates and deletes return no rows, so the rows are locked and
 * read first. Statements with a list of ids name the index. Otherwise, if the table has few rows, the server scans it,
 * locks each row, and waits for rows of other transactions.
 */
final class MySqlDialect implements Dialect {

    private static final String LIVE_JOBS = "reprise_job where true";
    private static final String FINISHED_JOBS = "reprise_finished where true";

    private static final String LIVE = """
            select id, queue, case when chain like '@%' then chain end
              from reprise_job force index (primary)
             where id {in ?}
             order by id
            for update
            """;

    private static final String KEEP = """
            insert into reprise_finished (
              state, fail_reason, finished_at, token, last_delay_us, attempts, losses, interruptions, snoozes, lane,
              error_type, error_message, fingerprint, {both}, {spec})
            select ?, ?, {now}, token, last_delay_us, attempts, losses, interruptions, snoozes, lane,
                   error_type, error_message, fingerprint, {both}, {spec}
              from reprise_job force index (primary)
             where id {in ?}
            """;

    static final String REMOVE = """
            delete j
              from reprise_job j force index (primary)
             where j.id {in ?}
            """;

    private static final String FINISHED = """
            select id, queue, state
              from reprise_finished force index (primary)
             where id {in ?} and finished_at < ?
             order by id
            for update
            """;

    private static final String DELETE = """
            delete f
              from reprise_finished f force index (primary)
             where f.id {in ?}
            """;

    // Two transactions at once take different rows. Readers see the rows or their sum, never both.
    private static final String COUNTS = """
            select queue, state, n, id
              from reprise_counter
             where id <= ?
             order by id
             limit 1000
            for update skip locked
            """;

    private static final String FORGET_COUNTS = """
            delete c
              from reprise_counter c force index (primary)
             where c.id {in ?}
            """;

    // Leases are few, so a scan finds the expired ones. It skips leases that a settle or a renewal has locked. It also
    // skips leases that hold no job: they must not fill the limit.
    private static final String EXPIRED = """
            select l.id, l.runner, e.excused, e.unheard
              from reprise_expiry e
              straight_join reprise_lease l on l.id = e.id
             where e.expires_at <= {now}
               and %s
             order by e.expires_at, e.id
             limit ?
            for update skip locked
            """.formatted(LeaseTable.HOLDS_SOME);

    // No job is ever added to a lease, so a lease that holds none stays empty.
    private static final String EMPTY = """
            select l.id
              from reprise_expiry e
              straight_join reprise_lease l on l.id = e.id
             where e.expires_at <= {now}
               and not %s
             limit ?
            for update skip locked
            """.formatted(LeaseTable.HOLDS_SOME);

    private static final String TAKE = """
            insert into reprise_lease (queue, worker, runner, alone, claimed_at)
            select queue, ?, runner, alone, claimed_at
              from reprise_lease
             where id = ?
            """;

    static final String EXPIRE = """
            insert into reprise_expiry (id, worker, expires_at, unheard)
            select id, worker, {now} + ?, ?
              from reprise_lease
             where id = ?
            """;

    private static final String MOVE_HOLDS = """
            insert into reprise_hold (token, job_id)
            select ?, id
              from reprise_job force index (primary)
             where id {in ?}
            """;

    /** With more ids in one list the optimizer becomes slow. */
    static final int PIECE = 500;

    /** Names whose parked jobs one statement finds. The next statement follows at once. */
    private static final int PARKED_AT_ONCE = 50;

    /** Error number for a duplicate key. */
    static final int DUPLICATE = 1062;

    private static final int LOCK_SECONDS = 30;

    private final Supplier<MySqlSide> side;
    private final SqlWords words = new SqlWords(SqlWords.Product.MYSQL, Columns.WORDS);
    private volatile @Nullable MySqlServer server;

    MySqlDialect(Supplier<MySqlSide> side) {
        this.side = side;
    }

    @Override
    public String product() {
        return "MySQL or MariaDB";
    }

    @Override
    public boolean isOf(String product) {
        return product.equals("MySQL") || product.equals("MariaDB");
    }

    @Override
    public String name() {
        return "mysql";
    }

    MySqlServer server(Session session) throws SQLException {
        MySqlServer known = server;
        if (known == null) {
            known = MySqlServer.of(session);
            server = known;
        }
        return known;
    }

    @Override
    public String definition(Session session, String statement) throws SQLException {
        return server(session).definition(statement);
    }

    @Override
    public SqlWords words() {
        return words;
    }

    @Override
    public List<Endings.Gone> end(Session session, JobState state, @Nullable FailReason reason, long[] ids)
            throws SQLException {
        List<Endings.Gone> live = session.list(sql(LIVE), row -> Endings.ended(row, state), (Object) ids);
        if (!live.isEmpty()) {
            long[] found = live.stream().mapToLong(Endings.Gone::id).toArray();
            session.update(sql(KEEP), state, reason, found);
            session.update(sql(REMOVE), (Object) found);
        }
        return live;
    }

    @Override
    public List<Endings.Gone> deleteFinished(Session session, long[] ids, long before) throws SQLException {
        List<Endings.Gone> old = session.list(sql(FINISHED), Endings::gone, ids, before);
        if (!old.isEmpty()) {
            session.update(sql(DELETE), (Object)
                    old.stream().mapToLong(Endings.Gone::id).toArray());
        }
        return old;
    }

    @Override
    public int countsPerFold() {
        return 1_000;
    }

    @Override
    public long newestCount(Session session) throws SQLException {
        return session.one("select coalesce(max(id), 0) from reprise_counter", SqlRow::number);
    }

    @Override
    public List<Counters.Change> takeCounts(Session session, long newest) throws SQLException {
        List<Long> ids = new ArrayList<>();
        List<Counters.Change> changes = session.list(
                COUNTS,
                row -> {
                    Counters.Change change = Counters.change(row);
                    ids.add(row.number());
                    return change;
                },
                newest);
        if (!ids.isEmpty()) {
            session.update(sql(FORGET_COUNTS), (Object)
                    ids.stream().mapToLong(Long::longValue).toArray());
        }
        return changes;
    }

    @Override
    public String expiredSql() {
        return sql(EXPIRED);
    }

    @Override
    public Claim takeLease(Session session, long lost, long[] ids, String taker, Duration lease) throws SQLException {
        session.update(TAKE, taker, lost);
        Claim taken = session.one(
                "select id, queue, alone, claimed_at from reprise_lease where id = last_insert_id()",
                LeaseTable::readClaim);
        session.update(sql(EXPIRE), SqlTime.of(lease), 0, taken.token());
        session.update(sql(MOVE_HOLDS), taken.token(), ids);
        dropLeases(session, lost);
        return taken;
    }

    @Override
    public void dropLeases(Session session, long... tokens) throws SQLException {
        session.update(sql("{delete reprise_hold by primary} where token {in ?}"), (Object) tokens);
        session.update(sql("{delete reprise_expiry by primary} where id {in ?}"), (Object) tokens);
        session.update(sql("{delete reprise_lease by primary} where id {in ?}"), (Object) tokens);
    }

    @Override
    public int dropEmptyLeases(Session session, int max) throws SQLException {
        List<Long> empty = session.list(sql(EMPTY), SqlRow::number, max);
        if (!empty.isEmpty()) {
            dropLeases(session, empty.stream().mapToLong(Long::longValue).toArray());
        }
        return empty.size();
    }

    @Override
    public String leaveSql() {
        return "delete from reprise_hold where job_id = ? and token = ?";
    }

    /** MySQL does not use the index for a bound that comes from another row, so each name gets its own sub-select. */
    @Override
    public List<List<Long>> parked(Session session, List<Unparking> requests) throws SQLException {
        List<List<Long>> ids = new ArrayList<>();
        for (int from = 0; from < requests.size(); from += PARKED_AT_ONCE) {
            ids.addAll(someParked(session, requests.subList(from, Math.min(requests.size(), from + PARKED_AT_ONCE))));
        }
        return ids;
    }

    /** Finds the parked jobs of some names in one statement. Its text has few different lengths and is cached. */
    private List<List<Long>> someParked(Session session, List<Unparking> requests) throws SQLException {
        List<List<Long>> ids = new ArrayList<>();
        List<String> parts = new ArrayList<>();
        List<@Nullable Object> args = new ArrayList<>();
        for (Unparking request : requests) {
            String part = request.since() == null ? ParkedJobs.EARLIEST : ParkedJobs.LATEST;
            args.add(ids.size());
            args.addAll(List.of(ParkedJobs.args(request)));
            parts.add("(select cast(? as signed) as n, x.id from (\n" + part.replace("{skip_locked}", "") + ") x)");
            ids.add(new ArrayList<>());
        }
        session.list(
                sql(String.join("union all\n", parts)),
                row -> ids.get(row.integer()).add(row.number()),
                args.toArray());
        return ids;
    }

    @Override
    public List<String> names(Session session, String all, String next) throws SQLException {
        List<String> names = new ArrayList<>();
        Optional<String> name = next(session, next, "");
        while (name.isPresent()) {
            names.add(name.get());
            name = next(session, next, name.get());
        }
        return names;
    }

    private static Optional<String> next(Session session, String next, String last) throws SQLException {
        return session.one(next, row -> Optional.ofNullable(row.textOrNull()), last);
    }

    /** A statement that fails is undone alone; the transaction goes on. */
    @Override
    public int insertUnlessThere(Session session, String sql, @Nullable Object... args) throws SQLException {
        try {
            return session.update(sql, args);
        } catch (SQLException e) {
            if (e.getErrorCode() == DUPLICATE) {
                return 0;
            }
            throw e;
        }
    }

    /**
     * In REPEATABLE READ a plain read sees the rows of the transaction's start. Only a locking
     * read sees the present rows.
     */
    @Override
    public String latest(Session session) throws SQLException {
        return session.isJoined()
                        && session.connection().getTransactionIsolation() > Connection.TRANSACTION_READ_COMMITTED
                ? "lock in share mode"
                : "";
    }

    @Override
    public <T> T committed(Session session, Database.Work<T> reading) throws SQLException {
        return latest(session).isEmpty() ? reading.on(session) : side.get().read(reading);
    }

    @Override
    public List<long[]> pieces(long[] ids) {
        List<long[]> pieces = new ArrayList<>();
        for (int from = 0; from < ids.length; from += PIECE) {
            pieces.add(Arrays.copyOfRange(ids, from, Math.min(ids.length, from + PIECE)));
        }
        return pieces;
    }

    @Override
    public boolean spreadsArrays() {
        return true;
    }

    @Override
    public String hasTable() {
        return "select count(*) from information_schema.tables where table_name = ? and table_schema = database()";
    }

    @Override
    public List<ShownColumns> shown(Set<JobState> states, boolean fewLive) {
        List<ShownColumns> shown = new ArrayList<>();
        boolean pending = states.isEmpty() || states.contains(JobState.PENDING);
        boolean running = states.isEmpty() || states.contains(JobState.RUNNING);
        if (pending) {
            shown.add(ShownColumns.of(
                    running ? "reprise_show_live where true" : "reprise_show_live where holder is null", LIVE_JOBS));
        } else if (running) {
            shown.add(ShownColumns.of("reprise_show_running where true", "reprise_held where true"));
        }
        if (states.isEmpty()) {
            shown.add(ShownColumns.of("reprise_show_finished where true", FINISHED_JOBS));
        }
        if (states.contains(JobState.SUCCEEDED)) {
            shown.add(ShownColumns.of("reprise_show_finished where state = 'SUCCEEDED'", FINISHED_JOBS));
        }
        if (states.contains(JobState.FAILED)) {
            shown.add(ShownColumns.dead(
                    "reprise_show_finished where ended = 'FAILED'", "reprise_finished where ended = 'FAILED'"));
        }
        if (states.contains(JobState.CANCELLED)) {
            shown.add(ShownColumns.of(
                    "reprise_show_finished where ended = 'CANCELLED'", "reprise_finished where ended = 'CANCELLED'"));
        }
        return shown;
    }

    /** Binds lists that are stored, as JSON. */
    @Override
    public void bindArray(PreparedStatement statement, int index, Object array) throws SQLException {
        statement.setString(index, Arrays.toString((long[]) array));
    }

    @Override
    public void limit(PreparedStatement statement, int seconds) throws SQLException {
        try {
            statement.setQueryTimeout(seconds);
        } catch (SQLFeatureNotSupportedException ignored) {
            // The driver has no statement timeout; the network timeout limits the statement.
        }
    }

    @Override
    public boolean writesBesideOthers() {
        return true;
    }

    @Override
    public long nextControlVersion(Session session) {
        return side.get().controlVersion();
    }

    @Override
    public long nextId(Session session) {
        return side.get().ids(1);
    }

    long nextIds(int count) {
        return side.get().ids(count);
    }

    void makeLockable(String queue) {
        side.get().makeLockable(queue);
    }

    @Override
    public void lockQueue(Session session, String queue) throws SQLException {
        String named = Needs.base(queue);
        makeLockable(named);
        session.list("select name from reprise_queue_lock where name = ? for update", SqlRow::text, named);
    }

    @Override
    public void requireFreshReads(Connection connection) throws SQLException {
        if (connection.getTransactionIsolation() > Connection.TRANSACTION_READ_COMMITTED) {
            throw new IllegalArgumentException(
                    "A job cannot be replaced in a transaction above READ COMMITTED, which does not see whether the job was"
                            + " claimed since it began: call setTransactionIsolation(TRANSACTION_READ_COMMITTED) before the"
                            + " transaction begins, or enqueue under another KeyRule");
        }
    }

    /**
     * The connection holds this lock, because each DDL statement ends the transaction. The lock is server-wide, so its
     * name contains the database.
     */
    @Override
    public void lockSchema(Session session) throws SQLException {
        boolean locked = session.one(
                "select get_lock(concat('reprise ', md5(database())), ?) = 1",
                SqlRow::flag,
                Math.max(1, Math.min(LOCK_SECONDS, session.timeoutSeconds() - 1)));
        if (!locked) {
            throw new SQLException("another process has been preparing the schema all the time", "HY000", 1205);
        }
    }

    /** Commits first; otherwise the next process would not see the new schema. */
    @Override
    public void unlockSchema(Session session) throws SQLException {
        session.connection().commit();
        session.list("select release_lock(concat('reprise ', md5(database())))", row -> 1);
    }
}
