// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.mysql;

import io.reprise.jdbc.sql.Database;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.jdbc.sql.StoreWakeups;
import io.reprise.store.StoreException;
import java.time.Duration;
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notices jobs that other processes store, although MySQL cannot notify. A thread reads the newest ids, which costs one short
 * look at the end of the primary key. It looks every few milliseconds while jobs come, and less and less often afterwards.
 * While this process claims jobs it does not look, since claims find the new ones too. A failure here costs time until the
 * next poll, never a job.
 */
public final class MySqlWakeups implements StoreWakeups {

    private static final Logger log = LoggerFactory.getLogger(MySqlWakeups.class);
    private static final Duration SHORTEST = Duration.ofMillis(3);
    private static final Duration LONGEST = Duration.ofMillis(250);
    private static final Duration AFTER_FAILURE = Duration.ofSeconds(5);

    /** A rest is this part of the time since a job last came. */
    private static final int PART = 8;

    // Processes take ids in blocks, so a new job need not have the greatest id.
    private static final String NEWEST = """
            select id
              from reprise_job
             order by id desc
             limit 50
            """;

    private final Database database;
    private final StoreWakeups local = new Local();
    private final Semaphore stopping = new Semaphore(0);
    private final Thread watcher = new Thread(this::watch, "reprise-watch");
    private NavigableSet<Long> known = new TreeSet<>();
    private boolean stopped;
    private volatile long claimedNanos = System.nanoTime();

    public MySqlWakeups(Database database) {
        this.database = database;
        watcher.setDaemon(true);
    }

    @Override
    public synchronized void add(Runnable listener) {
        local.add(listener);
        if (!stopped && watcher.getState() == Thread.State.NEW) {
            watcher.start();
        }
    }

    @Override
    public void remove(Runnable listener) {
        local.remove(listener);
    }

    @Override
    public void announce() {
        local.announce();
    }

    @Override
    public void claimed() {
        claimedNanos = System.nanoTime();
    }

    private void watch() {
        long cameNanos = System.nanoTime();
        long restNanos = SHORTEST.toNanos();
        try {
            while (!stopping.tryAcquire(restNanos, TimeUnit.NANOSECONDS)) {
                boolean claims = System.nanoTime() - claimedNanos < restNanos;
                if (claims || look()) {
                    cameNanos = System.nanoTime();
                }
                restNanos = rest(System.nanoTime() - cameNanos);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static long rest(long quietNanos) {
        return Math.max(SHORTEST.toNanos(), Math.min(LONGEST.toNanos(), quietNanos / PART));
    }

    /** Returns whether jobs have come. */
    private boolean look() throws InterruptedException {
        try {
            List<Long> newest = database.read("watch for jobs", session -> session.list(NEWEST, SqlRow::number));
            boolean came = newest.stream().anyMatch(this::isNew);
            known = new TreeSet<>(newest);
            if (came) {
                local.announce();
            }
            return came;
        } catch (StoreException | IllegalStateException e) {
            log.debug("Cannot watch for jobs of other processes; polling finds them: {}", e.getMessage());
            if (stopping.tryAcquire(AFTER_FAILURE.toMillis(), TimeUnit.MILLISECONDS)) {
                stopping.release();
            }
            return false;
        }
    }

    /** A job that only moved up because newer ones are gone is none that came. */
    private boolean isNew(long id) {
        return !known.contains(id) && (known.isEmpty() || id > known.first());
    }

    @Override
    public synchronized void close() {
        stopped = true;
        stopping.release();
        try {
            watcher.join(LONGEST.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
