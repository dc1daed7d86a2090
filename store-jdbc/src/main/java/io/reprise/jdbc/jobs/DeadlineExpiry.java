// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.jobs;

import io.reprise.jdbc.sql.Database;
import io.reprise.jdbc.sql.Database.Refusal;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlErrors;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.job.Job;
import io.reprise.job.JobSpec;
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
 * Fails jobs whose deadline has passed, without blocking claims. A claim reads the time after it got its queue's lock
 * and takes no job past its deadline. But a claim that began in time may still be under way, and its lease is not
 * visible yet. So this class takes the queue's lock once and releases it: earlier claims are then visible, and later
 * claims come too late. Thread-safe.
 */
public final class DeadlineExpiry {

    private static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final int MAX_QUEUES = 10_000;

    private final Database database;
    private final Transitions transitions;
    private final Map<String, Pass> passes = new ConcurrentHashMap<>();

    /** A moment at which nobody held the lock of a queue: the store's time, and the monotonic time before it. */
    private record Pass(long at, long nanos) {}

    public DeadlineExpiry(Database database, Transitions transitions) {
        this.database = database;
        this.transitions = transitions;
    }

    /** Fails overdue jobs. It skips queues whose lock is held: a caller's transaction may hold it for long. */
    public List<Job> expire(int limit, Function<Job, List<JobSpec>> followUps) {
        Set<String> busy = new HashSet<>();
        List<JobUpkeep.Overdue> overdue = find(busy, limit);
        while (!overdue.isEmpty()) {
            List<JobUpkeep.Overdue> sure =
                    overdue.stream().filter(job -> hasPassed(job, busy)).toList();
            if (!sure.isEmpty()) {
                return database.write(
                        "expire jobs", Refusal.never(), session -> transitions.expire(session, sure, followUps));
            }
            overdue = find(busy, limit);
        }
        return List.of();
    }

    private List<JobUpkeep.Overdue> find(Set<String> busy, int limit) {
        return database.write(
                "look for overdue jobs", Refusal.never(), session -> JobUpkeep.overdue(session, busy, limit));
    }

    /** Whether every claim that may have taken the job is visible. */
    private boolean hasPassed(JobUpkeep.Overdue job, Set<String> busy) {
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
            Pass pass = new Pass(
                    database.write("let claims pass", Refusal.never(), session -> lock(session, queue)), nanos);
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
        return session.one(session.dialect().sql("select {clock}"), SqlRow::number);
    }
}
