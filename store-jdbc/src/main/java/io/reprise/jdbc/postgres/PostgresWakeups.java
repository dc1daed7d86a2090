// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.postgres;

import io.reprise.jdbc.sql.Database;
import io.reprise.jdbc.sql.Database.Refusal;
import io.reprise.jdbc.sql.StoreWakeups;
import io.reprise.store.StoreException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * LISTEN on a connection of its own and NOTIFY from the pool, each on a daemon thread. Announcements during a send are
 * sent as one. A failure here costs time until the next poll, never a job.
 */
public final class PostgresWakeups implements StoreWakeups {

    static final String CHANNEL = "reprise";

    private static final Logger log = LoggerFactory.getLogger(PostgresWakeups.class);
    private static final int PAUSE_MILLIS = 5;
    private static final int LISTEN_MILLIS = 1_000;
    private static final int MIN_BACKOFF_MILLIS = 100;
    private static final int MAX_BACKOFF_MILLIS = 30_000;
    private static final int ANSWER_MILLIS = 10_000;

    /** How often the loop waits for notifications before it checks that the server is still there. */
    private static final int LISTENS_PER_CHECK = 30;

    private final DataSource source;
    private final Database database;
    private final StoreWakeups local = new Local();
    private final Semaphore announced = new Semaphore(0);
    private final Semaphore stopping = new Semaphore(0);
    private final Thread notifier = daemon("reprise-notify", this::notifyOthers);
    private final Thread waiter = daemon("reprise-listen", this::listenAlways);

    /** When a statement that stored jobs last notified other processes. */
    private final AtomicLong toldNanos = new AtomicLong(System.nanoTime() - 1_000_000_000L);

    private boolean started;
    private volatile boolean stopped;
    private volatile @Nullable Connection listening;

    /** Used only by the listening thread. */
    private int backoff = MIN_BACKOFF_MILLIS;

    /** Needs a source of plain connections, because one connection is kept for good. */
    public PostgresWakeups(DataSource source, Database database) {
        this.source = source;
        this.database = database;
    }

    private static Thread daemon(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        return thread;
    }

    @Override
    public synchronized void add(Runnable listener) {
        local.add(listener);
        if (!stopped && waiter.getState() == Thread.State.NEW) {
            waiter.start();
        }
    }

    @Override
    public void remove(Runnable listener) {
        local.remove(listener);
    }

    @Override
    public void announce() {
        local.announce();
        start();
        announced.release();
    }

    @Override
    public boolean notifiesWithInsert() {
        long now = System.nanoTime();
        long last = toldNanos.get();
        return now - last > PAUSE_MILLIS * 1_000_000L && toldNanos.compareAndSet(last, now);
    }

    @Override
    public void announced() {
        local.announce();
    }

    private synchronized void start() {
        if (!started && !stopped) {
            started = true;
            notifier.start();
        }
    }

    private void notifyOthers() {
        try {
            while (!stopped) {
                announced.acquire();
                announced.drainPermits();
                if (!stopped) {
                    send();
                    pause(PAUSE_MILLIS);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void send() {
        try {
            database.send(
                    "notify other workers",
                    Refusal.never(),
                    session -> session.list("select pg_notify(?, '')", row -> 1, CHANNEL));
        } catch (StoreException | IllegalStateException e) {
            log.debug("Other workers were not notified and will find the work by polling: {}", e.getMessage());
        }
    }

    private void listenAlways() {
        try {
            while (!stopped) {
                try {
                    listen();
                } catch (SQLException | RuntimeException e) {
                    if (!stopped) {
                        log.info("Not listening for work; polling until the connection is back: {}", e.getMessage());
                        pause(backoff);
                        backoff = Math.min(MAX_BACKOFF_MILLIS, backoff * 2);
                    }
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void listen() throws SQLException {
        try (Connection connection = source.getConnection()) {
            listening = connection;
            connection.setNetworkTimeout(Runnable::run, ANSWER_MILLIS);
            connection.setAutoCommit(true);
            try (Statement statement = connection.createStatement()) {
                statement.execute("listen " + CHANNEL);
            }
            backoff = MIN_BACKOFF_MILLIS;
            // Announcements from before the LISTEN are lost, so every listener looks once.
            local.announce();
            PGConnection notifications = connection.unwrap(PGConnection.class);
            try {
                listen(connection, notifications);
            } finally {
                abort(connection);
            }
        } finally {
            listening = null;
        }
    }

    private void listen(Connection connection, PGConnection notifications) throws SQLException {
        for (int listens = 1; !stopped; listens++) {
            Object[] some = notifications.getNotifications(LISTEN_MILLIS);
            if (some != null && some.length > 0) {
                local.announce();
            }
            if (listens % LISTENS_PER_CHECK == 0) {
                check(connection);
            }
        }
    }

    /** A pool must not hand the connection on: it would collect notifications that nobody reads. */
    private static void abort(Connection connection) {
        try {
            connection.abort(Runnable::run);
        } catch (SQLException e) {
            log.debug("The listening connection did not close: {}", e.getMessage());
        }
    }

    /**
     * A connection that only listens does not notice that the server is gone. This query runs into the network timeout.
     */
    private static void check(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("select 1");
        }
    }

    /** Ends early when the store is closed. */
    private void pause(long millis) throws InterruptedException {
        if (stopping.tryAcquire(millis, TimeUnit.MILLISECONDS)) {
            stopping.release();
        }
    }

    @Override
    public synchronized void close() {
        stopped = true;
        stopping.release();
        announced.release();
        Connection connection = listening;
        if (connection != null) {
            abort(connection);
        }
        join(notifier);
        join(waiter);
    }

    private static void join(Thread thread) {
        try {
            thread.join(2_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
