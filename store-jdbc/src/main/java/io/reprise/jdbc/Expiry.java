// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.Job;
import io.reprise.JobSpec;
import io.reprise.store.StoreException;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Fails jobs whose deadline has passed, without keeping claims away. A claim takes no job past its deadline, by the time after
 * it got its queue's lock; but one that began in time may be under way, and its lease is not seen yet. So the queue's lock is
 * taken once and let go: whatever is claimed before that is seen, and later claims come too late. Thread-safe.
 */
final class Expiry {

    private static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final int MAX_QUEUES = 10_000;

    private final Database database;
    private final Outbox outbox;
    private final Map<String, Pass> passes = new ConcurrentHashMap<>();

    /** When nobody held the lock of a queue, by the store's clock and by ours. */
    private record Pass(long at, long nanos) {}

    Expiry(Database database, Outbox outbox) {
        this.database = database;
        this.outbox = outbox;
    }

    /** Passes queues whose lock somebody holds: a caller's transaction may do so for long. */
    List<Job> expire(int limit, Function<Job, List<JobSpec>> sequels) {
        Set<String> busy = new HashSet<>();
        List<Upkeep.Overdue> overdue = find(busy, limit);
        while (!overdue.isEmpty()) {
            List<Upkeep.Overdue> sure =
                    overdue.stream().filter(job -> hasPassed(job, busy)).toList();
            if (!sure.isEmpty()) {
                return database.write("expire jobs", session -> outbox.expire(session, sure, sequels));
            }
            overdue = find(busy, limit);
        }
        return List.of();
    }

    private List<Upkeep.Overdue> find(Set<String> busy, int limit) {
        return database.write("look for overdue jobs", session -> Upkeep.overdue(session, busy, limit));
    }

    /** Whether every claim that may have taken the job can be seen. */
    private boolean hasPassed(Upkeep.Overdue job, Set<String> busy) {
        if (!database.dialect().claimsWithoutRowLocks()) {
            return true;
        }
        if (busy.contains(job.queue())) {
            return false;
        }
        Pass pass = passes.get(job.queue());
        if (pass == null || pass.at < job.deadline() || System.nanoTime() - pass.nanos > FRESH_NANOS) {
            pass = pass(job.queue());
        }
        if (pass == null) {
            busy.add(job.queue());
            return false;
        }
        return job.deadline() <= pass.at;
    }

    private @Nullable Pass pass(String queue) {
        try {
            long nanos = System.nanoTime();
            Pass pass = new Pass(database.write("let claims pass", session -> lock(session, queue)), nanos);
            if (passes.size() >= MAX_QUEUES) {
                passes.clear();
            }
            passes.put(queue, pass);
            return pass;
        } catch (StoreException e) {
            if (SqlErrors.isLockTimeout(e)) {
                return null;
            }
            throw e;
        }
    }

    private static long lock(Session session, String queue) throws SQLException {
        session.dialect().lockQueueSoon(session, queue);
        return session.one(session.dialect().sql("select {clock}"), Row::number);
    }
}
