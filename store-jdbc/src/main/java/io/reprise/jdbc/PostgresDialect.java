// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.JobState;
import io.reprise.RepriseException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.postgresql.PGConnection;

final class PostgresDialect extends ReturningDialect {

    /** First half of our advisory locks, of queues and of the schema; the second is a hash of what is locked. */
    private static final int QUEUES = 0x52455052;

    private static final int SCHEMA = QUEUES + 1;

    // Moves live jobs to the finished ones; the delete locks them, in the order of the primary key.
    private static final String END = """
            with asked as (
              select cast(? as text) as state, cast(? as text) as reason),
            gone as (
              delete from reprise_job
               where id {in}
              returning *),
            kept as (
              insert into reprise_finished (
                state, fail_reason, finished_at, token, last_delay_us, attempts, losses, interruptions, snoozes, lane,
                error_type, error_message, fingerprint, {both}, {spec})
              select a.state, a.reason, reprise_now(), token, last_delay_us, attempts, losses, interruptions, snoozes, lane,
                     error_type, error_message, fingerprint, {both}, {spec}
                from gone, asked a)
            select id, queue
              from gone
            """;

    // A commit waits for the standby only if the transaction left something in the log: that it has a number is not
    // enough, which but lets a standby refuse this as it refuses writes. Without synchronous standbys it need not wait.
    private static final String CONFIRM = """
            select txid_current(),
                   case when current_setting('synchronous_standby_names') <> ''
                        then pg_logical_emit_message(true, 'reprise', '') end
            """;

    private final Map<String, String> cache = new ConcurrentHashMap<>();

    @Override
    public String product() {
        return "PostgreSQL";
    }

    @Override
    public String name() {
        return "postgresql";
    }

    @Override
    public String sql(String template) {
        return cache.computeIfAbsent(
                template,
                text -> Columns.inCommonWords(text)
                        .replace("{now}", "reprise_now()")
                        .replace("{clock}", "reprise_clock()")
                        .replace("{for_no_key_update}", "for no key update")
                        .replace("{next_id}", "nextval('reprise_job_id')")
                        .replace("{next_token}", "nextval('reprise_token')")
                        .replace("{in}", "= any (?)")
                        .replace("{true}", "true")
                        .replace("{skip_locked}", "for update skip locked")
                        .replace("{ids}", "cast(? as bigint[])")
                        .replace("{for_update}", "for update")
                        .replace("{false}", "false")
                        .replace("{finished}", "reprise_finished")
                        .replace("{ended}", "state")
                        .replace("{expiry}", "reprise_lease")
                        .replace("{bigint}", "bigint")
                        .replace("{text}", "text")
                        .replace("{key}", "key")
                        .replace("{position}", "strpos")
                        // Where a row lies, for the statement that just found it.
                        .replace("{place}", "ctid")
                        .replace("{lock_queue}", "pg_advisory_xact_lock(" + QUEUES + ", hashtext(?))"));
    }

    @Override
    String endSql() {
        return sql(END);
    }

    @Override
    public String leaveSql() {
        return "update reprise_lease set ids = array_remove(ids, ?) where id = ?";
    }

    @Override
    public List<String> shown(Set<JobState> states) {
        if (states.isEmpty()) {
            return List.of("reprise_show_live where true", "reprise_show_finished where true");
        }
        boolean pending = states.contains(JobState.PENDING);
        boolean running = states.contains(JobState.RUNNING);
        List<String> shown = new ArrayList<>();
        if (pending && running) {
            shown.add("reprise_show_live where true");
        } else if (pending) {
            // Without those held first, by a hash of their ids: to ask the leases about each job is dear.
            shown.add("reprise_show_live where state = 'PENDING' and id not in (select h.id from reprise_held h)");
        } else if (running) {
            shown.add("reprise_show_running where true");
        }
        // Literals, so that the partial index on dead letters is seen to fit.
        String ended = states.stream()
                .filter(JobState::isTerminal)
                .map(state -> "'" + state + "'")
                .sorted()
                .collect(Collectors.joining(", "));
        if (!ended.isEmpty()) {
            shown.add("reprise_show_finished where state in (" + ended + ")");
        }
        return shown;
    }

    @Override
    public void bindArray(PreparedStatement statement, int index, Object array) throws SQLException {
        String type = array instanceof String[]
                ? "text"
                : array instanceof boolean[] ? "bool" : array instanceof Double[] ? "float8" : "int8";
        // Arrays of primitives go over the wire as they are.
        statement.setArray(
                index, statement.getConnection().unwrap(PGConnection.class).createArrayOf(type, array));
    }

    /**
     * The driver asks the server to cancel what takes too long. Where the statement is the whole transaction that can hit
     * the wait for a synchronous standby, and a commit whose wait is cancelled is acknowledged although no standby has
     * it. So it is asked only where a commit follows; elsewhere the server itself limits the statement without its commit.
     */
    @Override
    public void limit(PreparedStatement statement, int seconds) throws SQLException {
        if (!statement.getConnection().getAutoCommit()) {
            statement.setQueryTimeout(seconds);
        }
    }

    @Override
    public long nextId(Session session) throws SQLException {
        return session.one("select nextval('reprise_job_id')", Row::number);
    }

    @Override
    public long nextControlVersion(Session session) throws SQLException {
        return session.one("select nextval('reprise_control_version')", Row::number);
    }

    @Override
    public void lockQueue(Session session, String queue) throws SQLException {
        session.list(sql("select {lock_queue}"), row -> 1, queue);
    }

    @Override
    public boolean tryLockQueue(Session session, String queue) throws SQLException {
        return session.one("select pg_try_advisory_xact_lock(?, hashtext(?))", Row::flag, QUEUES, queue);
    }

    @Override
    public void requireFreshReads(Connection connection) throws SQLException {
        if (connection.getTransactionIsolation() > Connection.TRANSACTION_READ_COMMITTED) {
            throw new IllegalArgumentException(
                    "A job cannot be replaced in a transaction above READ COMMITTED, which does not see whether the job was"
                            + " claimed meanwhile: call setTransactionIsolation(TRANSACTION_READ_COMMITTED) before the"
                            + " transaction begins, or enqueue under another KeyRule");
        }
    }

    @Override
    public boolean writesBesideOthers() {
        return true;
    }

    /** There locks and sequences are different: two workers could hold one job, and a later token could be smaller. */
    @Override
    public void requireServer(Session session) throws SQLException {
        String version = session.one("select version()", Row::text);
        if (version.contains("CockroachDB") || version.contains("-YB-")) {
            throw new RepriseException("The server is " + version
                    + ", which Reprise does not support: use PostgreSQL. docs/failover.md says what differs");
        }
    }

    @Override
    public void confirm(Session session) throws SQLException {
        session.one(CONFIRM, Row::number);
    }

    @Override
    public void lockSchema(Session session) throws SQLException {
        session.list("select pg_advisory_xact_lock(?, 0)", row -> 1, SCHEMA);
    }
}
