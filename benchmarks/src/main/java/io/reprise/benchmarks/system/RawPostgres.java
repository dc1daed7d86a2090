// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.system;

import io.reprise.benchmarks.measure.Payloads;
import io.reprise.benchmarks.measure.Target;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.postgresql.PGConnection;

/**
 * The plain speed of PostgreSQL: two threads claim batches of 500 with SKIP LOCKED and delete the jobs that ran.
 * Nothing is fenced, recorded or recovered.
 */
final class RawPostgres implements Installation {

    private static final int BATCH = 500;
    private static final int THREADS = 2;
    private static final int IDLE_MILLIS = 20;

    private static final String INSERT = "insert into raw_job (payload) values (?)";
    private static final String COPY = "copy raw_job (payload) from stdin";
    private static final String CLAIM = """
            with c as materialized (
              select id
                from raw_job
               where state = 0 and due_at <= now()
               order by due_at, id
               limit 500
                 for update skip locked)
            update raw_job j
               set state = 1
              from c
             where j.id = c.id
            returning j.id, j.payload
            """;
    private static final String DELETE = "delete from raw_job where id = any (?)";
    private static final String RETRY = "update raw_job set state = 0, due_at = now() where id = any (?)";

    private final Target target;
    private final Queue<Connection> opened = new ConcurrentLinkedQueue<>();
    private final ThreadLocal<PreparedStatement> insert = ThreadLocal.withInitial(() -> prepare(INSERT));
    private final List<Thread> threads = new ArrayList<>();
    private final AtomicLong unsettled = new AtomicLong();
    private volatile boolean stopped;

    RawPostgres(Target target) {
        this.target = target;
    }

    static void install(Target target) throws SQLException {
        target.execute(
                """
                create table raw_job (
                  id      bigint generated always as identity primary key,
                  state   smallint    not null default 0,
                  due_at  timestamptz not null default now(),
                  payload text        not null)
                """,
                "create index raw_ready on raw_job (due_at, id) where state = 0",
                "create table raw_finished (id bigint primary key, payload text not null)");
    }

    @Override
    public void enqueue(String payload) throws SQLException {
        PreparedStatement statement = insert.get();
        statement.setString(1, payload);
        statement.executeUpdate();
    }

    @Override
    public void enqueueUrgent(String payload) throws SQLException {
        PreparedStatement statement = insert.get();
        Connection connection = statement.getConnection();
        connection.setAutoCommit(false);
        enqueue(payload);
        try (Statement notify = connection.createStatement()) {
            notify.execute("notify raw");
        }
        connection.commit();
        connection.setAutoCommit(true);
    }

    @Override
    public void enqueueAll(List<String> payloads) throws SQLException, IOException {
        ByteArrayOutputStream lines = new ByteArrayOutputStream(128 * payloads.size());
        for (String payload : payloads) {
            lines.writeBytes(payload.getBytes(StandardCharsets.UTF_8));
            lines.write('\n');
        }
        insert.get()
                .getConnection()
                .unwrap(PGConnection.class)
                .getCopyAPI()
                .copyIn(COPY, new ByteArrayInputStream(lines.toByteArray()));
    }

    @Override
    public void fillScheduled(int jobs) throws SQLException {
        target.execute("insert into raw_job (due_at, payload) select now() + interval '1 day', '" + Payloads.of(0)
                + "' from generate_series(1, " + jobs + ")");
    }

    @Override
    public void fillFinished(int succeeded, int failed) throws SQLException {
        target.execute("insert into raw_finished select n, '" + Payloads.of(0) + "' from generate_series(1, "
                + (succeeded + failed) + ") n");
    }

    @Override
    public void start(Handler handler) {
        for (int i = 0; i < THREADS; i++) {
            boolean listens = i == 0;
            Thread thread = new Thread(() -> work(handler, listens), "raw-" + i);
            threads.add(thread);
            thread.start();
        }
    }

    private void work(Handler handler, boolean listens) {
        try (Connection connection = target.connect();
                PreparedStatement claim = connection.prepareStatement(CLAIM);
                PreparedStatement delete = connection.prepareStatement(DELETE);
                PreparedStatement retry = connection.prepareStatement(RETRY);
                Statement listen = connection.createStatement()) {
            if (listens) {
                listen.execute("listen raw");
            }
            while (!stopped) {
                Batch batch = claim(claim);
                if (batch.ids.isEmpty()) {
                    rest(connection, listens);
                    continue;
                }
                batch.run(handler);
                settle(connection, delete, batch.done);
                settle(connection, retry, batch.failed);
                unsettled.addAndGet(-batch.ids.size());
            }
        } catch (SQLException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private Batch claim(PreparedStatement claim) throws SQLException {
        Batch batch = new Batch();
        try (ResultSet rows = claim.executeQuery()) {
            while (rows.next()) {
                batch.ids.add(rows.getLong(1));
                batch.payloads.add(rows.getString(2));
            }
        }
        unsettled.addAndGet(batch.ids.size());
        return batch;
    }

    private static void rest(Connection connection, boolean listens) throws SQLException, InterruptedException {
        if (listens) {
            connection.unwrap(PGConnection.class).getNotifications(IDLE_MILLIS);
        } else {
            Thread.sleep(IDLE_MILLIS);
        }
    }

    private static void settle(Connection connection, PreparedStatement statement, List<Long> ids) throws SQLException {
        if (!ids.isEmpty()) {
            Array array = connection.createArrayOf("bigint", ids.toArray());
            statement.setArray(1, array);
            statement.executeUpdate();
        }
    }

    @Override
    public boolean isSettled() {
        return unsettled.get() == 0;
    }

    @Override
    public long left() throws SQLException {
        return target.number("select count(*) from raw_job where due_at <= now()");
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

    private PreparedStatement prepare(String sql) {
        try {
            Connection connection = target.connect();
            opened.add(connection);
            return connection.prepareStatement(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Jobs claimed together. */
    static final class Batch {
        final List<Long> ids = new ArrayList<>(BATCH);
        final List<String> payloads = new ArrayList<>(BATCH);
        final List<Long> done = new ArrayList<>(BATCH);
        final List<Long> failed = new ArrayList<>();

        void run(Handler handler) {
            for (int i = 0; i < ids.size(); i++) {
                try {
                    handler.run(payloads.get(i));
                    done.add(ids.get(i));
                } catch (Exception e) {
                    failed.add(ids.get(i));
                }
            }
        }
    }
}
