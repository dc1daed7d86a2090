// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.workload;

import io.reprise.benchmarks.measure.Payloads;
import io.reprise.benchmarks.measure.RunChecks;
import io.reprise.benchmarks.measure.StoreKind;
import io.reprise.benchmarks.measure.Target;
import io.reprise.benchmarks.report.Figure;
import io.reprise.benchmarks.system.Handler;
import io.reprise.benchmarks.system.Installation;
import io.reprise.benchmarks.system.Ledger;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * W7: jobs come and go for ten minutes, one in twenty failing once, while a transaction stays open, so that the
 * database cannot clean up deleted rows.
 */
public final class Sustained implements Workload {

    private static final Duration LENGTH = Duration.ofMinutes(10);
    private static final int WINDOWS = 10;
    private static final int CHUNK = 1_000;
    private static final int WAITING = 5_000;
    private static final int FAILS = 20;

    @Override
    public String name() {
        return "W7";
    }

    @Override
    public String title() {
        return "ten minutes of mixed load beside an open transaction: rate at the end ÷ rate at the start";
    }

    @Override
    public boolean byDefault() {
        return false;
    }

    @Override
    public boolean alsoCold() {
        return false;
    }

    @Override
    public List<Figure> measure(Trial trial) throws Exception {
        trial.warmUp(0);
        Target target = trial.install();
        try (Connection holder = target.connect();
                Installation installation = trial.system().open(target)) {
            hold(holder, target);
            Mix mix = new Mix();
            installation.start(mix);
            long window = trial.sizes().lasting(LENGTH).toNanos() / WINDOWS;
            double first = 0;
            double last = 0;
            for (int i = 0; i < WINDOWS; i++) {
                last = feed(installation, mix, window);
                first = i == 0 ? last : first;
            }
            mix.await();
            Trial.awaitSettled(installation);
            Trial.checkEmpty(installation);
            return List.of(Figure.of(name(), "endToStart", last / first), Figure.of("W7-end", Figure.RATE, last));
        }
    }

    /** Keeps some jobs waiting during a window. Returns how many succeeded per second. */
    private static double feed(Installation installation, Mix mix, long window) throws Exception {
        long start = System.nanoTime();
        long before = mix.succeeded.get();
        while (System.nanoTime() - start < window) {
            if (mix.open() > WAITING) {
                LockSupport.parkNanos(200_000);
            } else {
                int next = mix.enqueued;
                installation.enqueueAll(Payloads.range(next, next + CHUNK));
                mix.enqueued = next + CHUNK;
            }
        }
        return (mix.succeeded.get() - before) * 1e9 / (System.nanoTime() - start);
    }

    private static void hold(Connection holder, Target target) throws SQLException {
        holder.setAutoCommit(false);
        if (target.store() != StoreKind.SQLITE) {
            holder.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
        }
        String anything = switch (target.store()) {
            case POSTGRESQL -> "select count(*) from pg_class";
            case MARIADB -> "select count(*) from mysql.innodb_table_stats";
            case SQLITE -> "select count(*) from sqlite_schema";
        };
        try (Statement statement = holder.createStatement();
                ResultSet row = statement.executeQuery(anything)) {
            row.next();
        }
    }

    /** Fails one in {@code FAILS} jobs the first time. */
    private static final class Mix implements Handler {

        private final Set<Integer> failed = ConcurrentHashMap.newKeySet();
        private final AtomicLong succeeded = new AtomicLong();
        private volatile int enqueued;

        @Override
        public void run(String payload) throws Ledger.Failed {
            int number = Payloads.number(payload);
            if (number % FAILS == 0 && failed.add(number)) {
                throw new Ledger.Failed(number);
            }
            succeeded.incrementAndGet();
        }

        long open() {
            return enqueued - succeeded.get();
        }

        void await() {
            long end = System.nanoTime() + Trial.LIMIT.toNanos();
            while (open() > 0) {
                if (System.nanoTime() > end) {
                    throw new IllegalStateException(open() + " jobs did not run");
                }
                LockSupport.parkNanos(1_000_000);
            }
            RunChecks.equal("jobs that succeeded", enqueued, succeeded.get());
        }
    }
}
