// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.postgres;

import io.reprise.jdbc.jobs.Columns;
import io.reprise.jdbc.jobs.ReturningDialect;
import io.reprise.jdbc.sql.Params;
import io.reprise.jdbc.sql.ParkedJobs;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.ShownColumns;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.jdbc.sql.SqlTime;
import io.reprise.jdbc.sql.SqlWords;
import io.reprise.job.JobState;
import io.reprise.job.RepriseException;
import io.reprise.store.Unparking;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.postgresql.PGConnection;

/** PostgreSQL. Finished jobs move to reprise_finished; advisory locks lock queues and the schema. */
public final class PostgresDialect extends ReturningDialect {

    private static final String LIVE = "reprise_job where true";
    private static final String FINISHED = "reprise_finished where true";

    /**
     * First key of the advisory locks: QUEUES for queues, SCHEMA for the schema. The second key is a hash
     * of the queue's name, or 0.
     */
    private static final int QUEUES = 0x52455052;

    /**
     * Waits for the lock of the queue {@code :queue}, and keeps it until the transaction ends. Queues of jobs with needs have
     * the lock of the queue that the jobs name, because its limit counts them.
     */
    static final String LOCK_QUEUE =
            "pg_advisory_xact_lock(" + QUEUES + ", hashtext(split_part(:queue, '@needs:', 1)))";

    /** Takes the lock of a queue {@code q}, unless another session has it. */
    static final String TRY_LOCK =
            "pg_try_advisory_xact_lock(" + QUEUES + ", hashtext(split_part(q.name, '@needs:', 1)))";

    // A limit of the queue that jobs name counts those with needs too, which wait in queues beside it.
    private static final String ROOM = """
            (select case when exists (
                           select 1 from reprise_queue q
                            where q.name in ({queue}, split_part({queue}, '@needs:', 1)) and q.paused_at is not null) then 0
                         else greatest(0, coalesce(min(q.max_running - (
                           select count(*) from reprise_held h
                             cross join lateral (
                               select 1 from reprise_job where id = h.id and token < h.token offset 0) j
                            where q.name in (h.queue, split_part(h.queue, '@needs:', 1)))), 2147483647)) end
               from reprise_queue q
              where q.name in ({queue}, split_part({queue}, '@needs:', 1)) and q.max_running is not null)""";

    private static final int SCHEMA = QUEUES + 1;

    private static final int SOON_MILLIS = 200;

    private static final String PREFER_INDEXES = """
            select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
                   set_config('jit', 'off', true)
            """;

    // Moves live jobs to reprise_finished. The delete locks the rows in the order of the primary key.
    private static final String END = """
            with asked as (
              select cast(? as text) as state, cast(? as text) as reason),
            gone as (
              delete from reprise_job
               where id {in ?}
              returning *),
            kept as (
              insert into reprise_finished (
                state, fail_reason, finished_at, token, last_delay_us, attempts, losses, interruptions, snoozes, lane,
                error_type, error_message, fingerprint, {both}, {spec})
              select a.state, a.reason, reprise_now(), token, last_delay_us, attempts, losses, interruptions, snoozes, lane,
                     error_type, error_message, fingerprint, {both}, {spec}
                from gone, asked a)
            select id, queue, case when chain like '@%' then chain end
              from gone
            """;

    // A commit waits for the standby only if the transaction wrote to the log. A transaction id alone writes
    // nothing, but asking for one makes a standby refuse the statement, as it refuses writes. Without synchronous
    // standbys there is nothing to wait for.
    private static final String CONFIRM = """
            select txid_current(),
                   case when current_setting('synchronous_standby_names') <> ''
                        then pg_logical_emit_message(true, 'reprise', '') end
            """;

    private final SqlWords words = new SqlWords(SqlWords.Product.POSTGRESQL, Columns.WORDS);

    @Override
    public String product() {
        return "PostgreSQL";
    }

    @Override
    public String name() {
        return "postgresql";
    }

    @Override
    public SqlWords words() {
        return words;
    }

    @Override
    protected String nextToken() {
        return "nextval('reprise_token')";
    }

    @Override
    protected String idsType() {
        return "bigint[]";
    }

    @Override
    public String endSql() {
        return sql(END);
    }

    // Reads reprise_job_parked once for each name. Rows that others have locked are skipped.
    static final String EARLIEST_OF_EACH = """
            select a.n, x.id
              from unnest(?::text[], ?::bigint[]) with ordinality as a (name, jobs, n)
              cross join lateral (
                select j.id
                  from reprise_job j
                 where j.parked_by = a.name
                   and j.queue not in (select name from reprise_queue where paused_at is not null)
                   and split_part(j.queue, '@needs:', 1) not in (select name from reprise_queue where paused_at is not null)
                 order by j.due_at, j.id
                 limit a.jobs
                for update skip locked) x
            """;

    static final String LATEST_OF_EACH = """
            select a.n, x.id
              from unnest(?::text[], ?::bigint[], ?::bigint[], ?::bigint[]) with ordinality as a (name, since, looks, jobs, n)
              cross join lateral (
                select l.id
                  from (select j.id, j.lane, j.queue, j.due_at
                          from reprise_job j
                         where j.parked_by = a.name and j.due_at >= a.since
                         order by j.due_at desc, j.id desc
                         limit a.looks) l
                 where l.lane = 3
                   and l.queue not in (select name from reprise_queue where paused_at is not null)
                   and split_part(l.queue, '@needs:', 1) not in (select name from reprise_queue where paused_at is not null)
                 order by l.due_at desc, l.id desc
                 limit a.jobs) x
            """;

    /** All requests are of one kind: fresh jobs or backlog. */
    @Override
    public List<List<Long>> parked(Session session, List<Unparking> requests) throws SQLException {
        if (requests.size() == 1) {
            return List.of(ParkedJobs.find(session, requests.get(0)));
        }
        List<List<Long>> ids = new ArrayList<>();
        requests.forEach(request -> ids.add(new ArrayList<>()));
        boolean backlog = requests.get(0).since() == null;
        String[] names = requests.stream().map(Unparking::name).toArray(String[]::new);
        long[] jobs = requests.stream().mapToLong(Unparking::max).toArray();
        Object[] args = backlog
                ? new Object[] {names, jobs}
                : new Object[] {
                    names,
                    requests.stream()
                            .mapToLong(request -> SqlTime.of(Objects.requireNonNull(request.since())))
                            .toArray(),
                    requests.stream().mapToLong(Unparking::look).toArray(),
                    jobs
                };
        session.list(
                backlog ? EARLIEST_OF_EACH : LATEST_OF_EACH,
                row -> ids.get(row.integer() - 1).add(row.number()),
                args);
        return ids;
    }

    @Override
    public String idTable() {
        return "unnest(?::bigint[]) as x (id)";
    }

    @Override
    public String leaveSql() {
        return "update reprise_lease set ids = array_remove(ids, ?) where id = ?";
    }

    @Override
    public List<ShownColumns> shown(Set<JobState> states, boolean fewLive) {
        List<ShownColumns> shown = new ArrayList<>();
        boolean pending = states.isEmpty() || states.contains(JobState.PENDING);
        boolean running = states.isEmpty() || states.contains(JobState.RUNNING);
        if (pending && running) {
            shown.add(ShownColumns.of("reprise_show_live where true", LIVE));
        } else if (pending) {
            // Excludes held jobs by a hash of their ids first: asking the leases for each job is costly.
            shown.add(ShownColumns.of(
                    "reprise_show_live where state = 'PENDING' and id not in (select h.id from reprise_held h)", LIVE));
        } else if (running) {
            shown.add(ShownColumns.of("reprise_show_running where true", "reprise_held where true"));
        }
        if (states.isEmpty()) {
            shown.add(ShownColumns.of("reprise_show_finished where true", FINISHED));
        }
        // Literals, so that the planner sees that the partial indexes fit.
        if (states.contains(JobState.SUCCEEDED)) {
            shown.add(ShownColumns.of("reprise_show_finished where state = 'SUCCEEDED'", FINISHED));
        }
        if (states.contains(JobState.FAILED)) {
            shown.add(ShownColumns.dead(
                    "reprise_show_finished where state = 'FAILED'", "reprise_finished where state = 'FAILED'"));
        }
        if (states.contains(JobState.CANCELLED)) {
            shown.add(ShownColumns.of(
                    "reprise_show_finished where state = 'CANCELLED'", "reprise_finished where state = 'CANCELLED'"));
        }
        return shown;
    }

    @Override
    public void bindArray(PreparedStatement statement, int index, Object array) throws SQLException {
        String type = array instanceof String[]
                ? "text"
                : array instanceof boolean[] ? "bool" : array instanceof Double[] ? "float8" : "int8";
        // Arrays of primitives are sent in binary form.
        statement.setArray(
                index, statement.getConnection().unwrap(PGConnection.class).createArrayOf(type, array));
    }

    /**
     * The driver cancels a slow statement. If the statement is the whole transaction, the cancel can hit its
     * commit while it waits for a synchronous standby. Such a commit is acknowledged although no standby has
     * it. So the driver's timeout is set only where a commit follows. Elsewhere statement_timeout applies,
     * which does not cover the commit.
     */
    @Override
    public void limit(PreparedStatement statement, int seconds) throws SQLException {
        if (!statement.getConnection().getAutoCommit()) {
            statement.setQueryTimeout(seconds);
        }
    }

    @Override
    public long nextId(Session session) throws SQLException {
        return session.one("select nextval('reprise_job_id')", SqlRow::number);
    }

    @Override
    public long nextControlVersion(Session session) throws SQLException {
        return session.one("select nextval('reprise_control_version')", SqlRow::number);
    }

    /** Returns the words for how many more jobs of a queue may run; {@code queue} is a column with its name. */
    static String room(String queue) {
        return ROOM.replace("{queue}", queue);
    }

    @Override
    public void lockQueue(Session session, String queue) throws SQLException {
        session.list("select " + LOCK_QUEUE, row -> 1, Params.of("queue", queue));
    }

    @Override
    public void lockQueueSoon(Session session, String queue) throws SQLException {
        session.list("select set_config('lock_timeout', '" + SOON_MILLIS + "', true)", row -> 1);
        lockQueue(session, queue);
    }

    @Override
    public void preferIndexes(Session session) throws SQLException {
        session.list(PREFER_INDEXES, row -> 1);
    }

    /** A claim writes the job's id into the lease row and leaves the job's row unchanged. */
    @Override
    public boolean claimsWithoutRowLocks() {
        return true;
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

    @Override
    public boolean writesBesideOthers() {
        return true;
    }

    /**
     * Refuses CockroachDB and YugabyteDB. Their locks and sequences differ: two workers could hold one job, and a
     * later token could be smaller.
     */
    @Override
    public void requireServer(Session session) throws SQLException {
        String version = session.one("select version()", SqlRow::text);
        if (version.contains("CockroachDB") || version.contains("-YB-")) {
            throw new RepriseException("The server is " + version
                    + ", which Reprise does not support: use PostgreSQL. docs/failover.md says what differs");
        }
    }

    @Override
    public void confirm(Session session) throws SQLException {
        session.one(CONFIRM, SqlRow::number);
    }

    @Override
    public void lockSchema(Session session) throws SQLException {
        session.list("select pg_advisory_xact_lock(?, 0)", row -> 1, SCHEMA);
    }
}
