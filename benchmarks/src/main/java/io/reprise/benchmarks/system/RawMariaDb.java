// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.system;

import io.reprise.benchmarks.measure.Payloads;
import io.reprise.benchmarks.measure.Target;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

/**
 * The plain speed of MariaDB: two threads claim batches of 500 with SKIP LOCKED and delete the jobs that ran. Nothing
 * is fenced, recorded or recovered.
 */
final class RawMariaDb implements Installation {

    private static final int THREADS = 2;
    private static final int ROWS = 1_000;
    private static final long IDLE_NANOS = 20_000_000;

    private static final String INSERT = "insert into raw_job (payload) values (?)";
    private static final String CLAIM = """
            select id, payload
              from raw_job force index (raw_ready)
             where state = 0 and due_at <= current_timestamp(6)
             order by due_at, id
             limit 500
            for update skip locked
            """;

    private final Target target;
    private final Queue<Connection> opened = new ConcurrentLinkedQueue<>();
    private final ThreadLocal<PreparedStatement> insert = ThreadLocal.withInitial(this::prepareInsert);
    private final List<Thread> threads = new ArrayList<>();
    private final AtomicLong unsettled = new AtomicLong();
    private volatile boolean stopped;

    RawMariaDb(Target target) {
        this.target = target;
    }

    static void install(Target target) throws SQLException {
        target.execute("""
                create table raw_job (
                  id      bigint       not null auto_increment primary key,
                  state   smallint     not null default 0,
                  due_at  timestamp(6) not null default current_timestamp(6),
                  payload text         not null,
                  index raw_ready (state, due_at))
                """, "create table raw_finished (id bigint not null primary key, payload text not null)");
    }

    @Override
    public void enqueue(String payload) throws SQLException {
        PreparedStatement statement = insert.get();
        statement.setString(1, payload);
        statement.executeUpdate();
    }

    @Override
    public void enqueueAll(List<String> payloads) throws SQLException {
        try (Connection connection = target.connect()) {
            connection.setAutoCommit(false);
            for (int from = 0; from < payloads.size(); from += ROWS) {
                insert(connection, payloads.subList(from, Math.min(payloads.size(), from + ROWS)));
            }
            connection.commit();
        }
    }

    private static void insert(Connection connection, List<String> payloads) throws SQLException {
        String rows = String.join(", ", Collections.nCopies(payloads.size(), "(?)"));
        try (PreparedStatement statement =
                connection.prepareStatement("insert into raw_job (payload) values " + rows)) {
            for (int i = 0; i < payloads.size(); i++) {
                statement.setString(i + 1, payloads.get(i));
            }
            statement.executeUpdate();
        }
    }

    @Override
    public void fillScheduled(int jobs) throws SQLException {
        target.execute("insert into raw_job (due_at, payload) select current_timestamp(6) + interval 1 day, '"
                + Payloads.of(0) + "' from seq_1_to_" + jobs);
    }

    @Override
    public void fillFinished(int succeeded, int failed) throws SQLException {
        target.execute(
                "insert into raw_finished select seq, '" + Payloads.of(0) + "' from seq_1_to_" + (succeeded + failed));
    }

    @Override
    public void start(Handler handler) {
        for (int i = 0; i < THREADS; i++) {
            Thread thread = new Thread(() -> work(handler), "raw-" + i);
            threads.add(thread);
            thread.start();
        }
    }

    private void work(Handler handler) {
        try (Connection connection = target.connect();
                Statement change = connection.createStatement();
                PreparedStatement claim = connection.prepareStatement(CLAIM)) {
            connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
            connection.setAutoCommit(false);
            while (!stopped) {
                RawPostgres.Batch batch = claim(claim, change);
                connection.commit();
                if (batch.ids.isEmpty()) {
                    LockSupport.parkNanos(IDLE_NANOS);
                    continue;
                }
                batch.run(handler);
                each(change, "delete from raw_job where id in (", batch.done);
                each(change, "update raw_job set state = 0, due_at = current_timestamp(6) where id in (", batch.failed);
                connection.commit();
                unsettled.addAndGet(-batch.ids.size());
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private RawPostgres.Batch claim(PreparedStatement claim, Statement change) throws SQLException {
        RawPostgres.Batch batch = new RawPostgres.Batch();
        try (ResultSet rows = claim.executeQuery()) {
            while (rows.next()) {
                batch.ids.add(rows.getLong(1));
                batch.payloads.add(rows.getString(2));
            }
        }
        each(change, "update raw_job set state = 1 where id in (", batch.ids);
        unsettled.addAndGet(batch.ids.size());
        return batch;
    }

    private static void each(Statement statement, String sql, List<Long> ids) throws SQLException {
        if (!ids.isEmpty()) {
            statement.executeUpdate(
                    ids.stream().map(id -> Long.toString(id)).collect(Collectors.joining(", ", sql, ")")));
        }
    }

    @Override
    public boolean isSettled() {
        return unsettled.get() == 0;
    }

    @Override
    public long left() throws SQLException {
        return target.number("select count(*) from raw_job where due_at <= current_timestamp(6)");
    }

    @Override
    public void close() {
        stopped = true;
        try {
            for (Thread thread : threads) {
                thread.join();
            }
            for (Connection connection : opened) {
                connection.close();
            }
        } catch (SQLException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private PreparedStatement prepareInsert() {
        try {
            Connection connection = target.connect();
            opened.add(connection);
            return connection.prepareStatement(INSERT);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
