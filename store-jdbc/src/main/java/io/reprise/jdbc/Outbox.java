// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.Job;
import io.reprise.JobId;
import io.reprise.JobSpec;
import io.reprise.retry.RetryPolicy;
import io.reprise.store.Cancellation;
import io.reprise.store.Note;
import io.reprise.store.Settled;
import io.reprise.store.Settlement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Ends jobs and stores their follow-up jobs in the same transaction: the entry for settle, expire and cancel. Without
 * follow-up jobs it sends no extra statement.
 */
final class Outbox {

    private final Inserts inserts;
    private final Settlements settlements;
    private final Upkeep upkeep;
    private final Cancellations cancellations;

    Outbox(Inserts inserts, Settlements settlements, Upkeep upkeep, Cancellations cancellations) {
        this.inserts = inserts;
        this.settlements = settlements;
        this.upkeep = upkeep;
        this.cancellations = cancellations;
    }

    static boolean hasSequels(List<Settlement> settlements) {
        for (Settlement settlement : settlements) {
            if (!settlement.sequels().isEmpty()) {
                return true;
            }
        }
        return false;
    }

    /** Returns the policies of all jobs that may follow. */
    static List<RetryPolicy> policies(List<Settlement> settlements) {
        return settlements.stream()
                .map(Settlement::sequels)
                .flatMap(sequels -> Stream.concat(sequels.jobs().stream(), sequels.ifCancelled().stream()))
                .map(JobSpec::policy)
                .distinct()
                .toList();
    }

    /** Whether one statement writes the batch, so that no transaction is needed around it. */
    boolean isOneStatement(List<Settlement> batch) {
        return settlements.isOneStatement(batch) && !hasSequels(batch);
    }

    Settled settle(Session session, List<Settlement> batch, Closing closing) throws SQLException {
        Set<JobId> twice = new HashSet<>();
        List<Settlement> newest = Settlements.newest(batch, twice);
        Settled settled = settlements.settle(session, newest, closing);
        SuspectGroups.keep(session, newest, settled);
        if (hasSequels(newest)) {
            store(session, sequels(newest, settled));
        }
        if (twice.isEmpty()) {
            return settled;
        }
        twice.addAll(settled.stale());
        return new Settled(settled.at(), twice, settled.cancelled());
    }

    private static List<JobSpec> sequels(List<Settlement> newest, Settled settled) {
        List<JobSpec> jobs = new ArrayList<>();
        for (Settlement settlement : newest) {
            if (!settled.stale().contains(settlement.job())) {
                Settlement.Sequels sequels = settlement.sequels();
                jobs.addAll(settled.cancelled().contains(settlement.job()) ? sequels.ifCancelled() : sequels.jobs());
            }
        }
        return jobs;
    }

    List<Job> expire(Session session, List<Upkeep.Overdue> overdue, Function<Job, List<JobSpec>> sequels)
            throws SQLException {
        List<Job> expired = upkeep.expire(session, overdue);
        store(
                session,
                expired.stream().flatMap(job -> sequels.apply(job).stream()).toList());
        return expired;
    }

    Cancellation cancel(Session session, JobId id, Note note, List<JobSpec> sequels) throws SQLException {
        Cancellation answer = cancellations.cancel(session, id, note);
        if (answer == Cancellation.DONE) {
            store(session, sequels);
        }
        return answer;
    }

    /** Cancels those of these jobs that wait. Returns them. */
    List<JobId> cancelAll(Session session, Collection<JobId> ids, Note note, Function<Job, List<JobSpec>> sequels)
            throws SQLException {
        List<Job> cancelled = cancellations.cancelPending(session, ids);
        Audit.writeAll(session, "cancel", cancelled.stream().map(Job::id).toList(), note, id -> null);
        store(
                session,
                cancelled.stream().flatMap(job -> sequels.apply(job).stream()).toList());
        return cancelled.stream().map(Job::id).toList();
    }

    private void store(Session session, List<JobSpec> jobs) throws SQLException {
        if (!jobs.isEmpty()) {
            inserts.insert(session, jobs);
        }
    }
}
