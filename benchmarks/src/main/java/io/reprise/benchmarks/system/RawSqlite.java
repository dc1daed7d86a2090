// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.system;

import io.reprise.benchmarks.measure.Payloads;
import io.reprise.benchmarks.measure.Target;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** The plain speed of SQLite with synchronous=FULL: one connection claims and deletes batches of 500. */
final class RawSqlite implements Installation {

    private static final String INSERT = "insert into raw_job (payload) values (?)";
    private static final String CLAIM = """
            update raw_job
               set state = 1
             where id in (
               select id
                 from raw_job
                where state = 0 and due_at <= unixepoch()
                order by due_at, id
                limit 500)
            returning id, payload
            """;
    private static final String DELETE = "delete from raw_job where id = ?";
    private static final String RETRY = "update raw_job set state = 0 where id = ?";

    private final Target target;
    private final Connection connection;
    private final PreparedStatement insert;
    private @Nullable Thread thread;
    private long unsettled;
    private volatile boolean stopped;

    RawSqlite(Target target) throws SQLException {
        this.target = target;
        this.connection = target.connect();
        try (Statement statement = connection.createStatement()) {
            statement.execute("pragma journal_mode = wal");
            statement.execute("pragma synchronous = full");
            statement.execute("pragma busy_timeout = 30000");
        }
        this.insert = connection.prepareStatement(INSERT);
    }

    static void install(Target target) throws SQLException {
        target.execute(
                "pragma journal_mode = wal",
                """
                create table raw_job (
                  id      integer primary key,
                  state   integer not null default 0,
                  due_at  integer not null default 0,
                  payload text    not null)
                """,
                "create index raw_ready on raw_job (due_at, id) where state = 0",
                "create table raw_finished (id integer primary key, payload text not null)");
    }

    @Override
    public synchronized void enqueue(String payload) throws SQLException {
        insert.setString(1, payload);
        insert.executeUpdate();
    }

    @Override
    public synchronized void enqueueAll(List<String> payloads) throws SQLException {
        connection.setAutoCommit(false);
        for (String payload : payloads) {
            enqueue(payload);
        }
        connection.commit();
        connection.setAutoCommit(true);
    }

    @Override
    public void fillScheduled(int jobs) throws SQLException {
        fill("insert into raw_job (due_at, payload) select unixepoch() + 86400, '" + Payloads.of(0) + "' from n", jobs);
    }

    @Override
    public void fillFinished(int succeeded, int failed) throws SQLException {
        fill("insert into raw_finished select n, '" + Payloads.of(0) + "' from n", succeeded + failed);
    }

    private synchronized void fill(String insert, int rows) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(
                    "with recursive n(n) as (select 1 union all select n + 1 from n where n < " + rows + ") " + insert);
        }
    }

    @Override
    public void start(Handler handler) {
        Thread worker = new Thread(() -> work(handler), "raw");
        thread = worker;
        worker.start();
    }

    private void work(Handler handler) {
        try (PreparedStatement claim = connection.prepareStatement(CLAIM);
                PreparedStatement delete = connection.prepareStatement(DELETE);
                PreparedStatement retry = connection.prepareStatement(RETRY)) {
            while (!stopped) {
                RawPostgres.Batch batch = claim(claim);
                if (batch.ids.isEmpty()) {
                    LockSupport.parkNanos(1_000_000);
                    continue;
                }
                batch.run(handler);
                settle(batch, delete, retry);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private synchronized RawPostgres.Batch claim(PreparedStatement claim) throws SQLException {
        RawPostgres.Batch batch = new RawPostgres.Batch();
        try (ResultSet rows = claim.executeQuery()) {
            while (rows.next()) {
                batch.ids.add(rows.getLong(1));
                batch.payloads.add(rows.getString(2));
            }
        }
        unsettled += batch.ids.size();
        return batch;
    }

    private synchronized void settle(RawPostgres.Batch batch, PreparedStatement delete, PreparedStatement retry)
            throws SQLException {
        connection.setAutoCommit(false);
        each(delete, batch.done);
        each(retry, batch.failed);
        connection.commit();
        connection.setAutoCommit(true);
        unsettled -= batch.ids.size();
    }

    private static void each(PreparedStatement statement, List<Long> ids) throws SQLException {
        for (long id : ids) {
            statement.setLong(1, id);
            statement.executeUpdate();
        }
    }

    @Override
    public synchronized boolean isSettled() {
        return unsettled == 0;
    }

    @Override
    public long left() throws SQLException {
        return target.number("select count(*) from raw_job where due_at <= unixepoch()");
    }

    @Override
    public void close() {
        stopped = true;
        try {
            if (thread != null) {
                thread.join();
            }
            connection.close();
        } catch (SQLException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
