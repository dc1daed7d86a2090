// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.jobs;

import io.reprise.batch.BatchTally;
import io.reprise.batch.Membership;
import io.reprise.jdbc.rows.AuditTable;
import io.reprise.jdbc.rows.StepTable;
import io.reprise.jdbc.sql.Batches;
import io.reprise.jdbc.sql.Database;
import io.reprise.jdbc.sql.Session;
import io.reprise.job.AuditNote;
import io.reprise.job.Cancellation;
import io.reprise.job.Enqueued;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.RefusedException;
import io.reprise.retry.RetryPolicy;
import io.reprise.step.StepWrite;
import io.reprise.step.StoredStep;
import io.reprise.store.Settled;
import io.reprise.store.Settlement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Ends jobs and stores their follow-up jobs in the same transaction: the entry for settle, expire and cancel. Without
 * follow-up jobs it sends no extra statement.
 */
public final class Transitions {

    private final JobInserts inserts;
    private final JobSettlements settlements;
    private final JobUpkeep upkeep;
    private final Cancellations cancellations;

    public Transitions(JobInserts inserts, JobSettlements settlements, JobUpkeep upkeep, Cancellations cancellations) {
        this.inserts = inserts;
        this.settlements = settlements;
        this.upkeep = upkeep;
        this.cancellations = cancellations;
    }

    public static boolean hasFollowUps(List<Settlement> settlements) {
        for (Settlement settlement : settlements) {
            if (!settlement.followUps().isEmpty()) {
                return true;
            }
        }
        return false;
    }

    /** Returns the policies of all jobs that may follow. */
    public static List<RetryPolicy> policies(List<Settlement> settlements) {
        return settlements.stream()
                .map(Settlement::followUps)
                .flatMap(followUps -> Stream.concat(followUps.jobs().stream(), followUps.ifCancelled().stream()))
                .map(JobSpec::policy)
                .distinct()
                .toList();
    }

    /** Whether one statement writes the batch, so that no transaction is needed around it. */
    public boolean isOneStatement(List<Settlement> batch) {
        return settlements.isOneStatement(batch) && !hasFollowUps(batch);
    }

    /**
     * Says which answers of a settle are refusals: a stale settlement. If only leases were to be closed, the answer does
     * not say whether a lease was deleted.
     */
    public static Database.Refusal<Settled> refusal(List<Settlement> batch, LeaseClosing closing) {
        boolean onlyCloses = batch.isEmpty() && !closing.named().isEmpty();
        return settled -> onlyCloses || !settled.stale().isEmpty();
    }

    public Settled settle(Session session, List<Settlement> batch, LeaseClosing closing) throws SQLException {
        Set<JobId> twice = new HashSet<>();
        List<Settlement> newest = Settlement.newest(batch, twice);
        Settled settled = settlements.settle(session, newest, closing);
        SuspectGroups.keep(session, newest, settled);
        StepTable.settled(session, newest, settled);
        if (hasFollowUps(newest)) {
            store(session, followUps(newest, settled));
            Batches.count(session, tally(newest, settled));
        }
        joins(session, newest, settled);
        if (twice.isEmpty()) {
            return settled;
        }
        twice.addAll(settled.stale());
        return new Settled(settled.at(), twice, settled.cancelled());
    }

    /** Adds up the outcomes of members of batches. */
    private static BatchTally tally(List<Settlement> newest, Settled settled) {
        BatchTally tally = new BatchTally();
        for (Settlement settlement : newest) {
            Membership member = settlement.followUps().member();
            if (member != null && !settled.stale().contains(settlement.job())) {
                Settlement.Next next = settlement.next();
                JobId job = settlement.job();
                if (settled.cancelled().contains(job) || next instanceof Settlement.Cancel) {
                    tally.ended(member, job, JobState.CANCELLED, null);
                } else if (next instanceof Settlement.Succeed success) {
                    tally.ended(member, job, JobState.SUCCEEDED, success.result());
                } else if (next instanceof Settlement.Fail) {
                    tally.ended(member, job, JobState.FAILED, null);
                }
            }
        }
        return tally;
    }

    /** Creates the batches of joins that begin. A parent that waits again is due if its children have ended. */
    private static void joins(Session session, List<Settlement> newest, Settled settled) throws SQLException {
        for (Settlement settlement : newest) {
            StepWrite step = settlement.step();
            JobId job = settlement.job();
            if (step == null
                    || step.kind() != StoredStep.Kind.JOIN
                    || settled.stale().contains(job)
                    || settled.cancelled().contains(job)) {
                continue;
            }
            List<JobSpec> children = settlement.followUps().jobs();
            Membership first = children.isEmpty() ? null : Membership.in(children.get(0));
            if (first == null) {
                Batches.wakeIfJoined(session, job, step.name());
            } else {
                Batches.join(session, job, step.name(), first.batch(), children.size());
            }
        }
    }

    /** Creates a batch with the jobs that wait for it. Returns false if there is one of this name. */
    public boolean createBatch(Session session, String name, @Nullable JobSpec onSuccess, @Nullable JobSpec onEnd)
            throws SQLException {
        if (!Batches.create(session, name)) {
            return false;
        }
        List<JobSpec> specs =
                Stream.of(onSuccess, onEnd).filter(Objects::nonNull).toList();
        if (specs.isEmpty()) {
            return true;
        }
        List<Enqueued> stored = inserts.insert(session, specs);
        for (Enqueued job : stored) {
            if (!job.created()) {
                throw RefusedException.followerThere(job.id());
            }
        }
        JobId success = onSuccess == null ? null : stored.get(0).id();
        JobId end = onEnd == null ? null : stored.get(stored.size() - 1).id();
        Batches.follow(session, name, success, end);
        return true;
    }

    private static List<JobSpec> followUps(List<Settlement> newest, Settled settled) {
        List<JobSpec> jobs = new ArrayList<>();
        for (Settlement settlement : newest) {
            if (!settled.stale().contains(settlement.job())) {
                Settlement.FollowUps followUps = settlement.followUps();
                jobs.addAll(
                        settled.cancelled().contains(settlement.job()) ? followUps.ifCancelled() : followUps.jobs());
            }
        }
        return jobs;
    }

    List<Job> expire(Session session, List<JobUpkeep.Overdue> overdue, Function<Job, List<JobSpec>> followUps)
            throws SQLException {
        List<Job> expired = upkeep.expire(session, overdue);
        store(
                session,
                expired.stream().flatMap(job -> followUps.apply(job).stream()).toList());
        return expired;
    }

    public Cancellation cancel(Session session, JobId id, AuditNote note, List<JobSpec> followUps) throws SQLException {
        Cancellation answer = cancellations.cancel(session, id, note);
        if (answer == Cancellation.DONE) {
            store(session, followUps);
        }
        return answer;
    }

    /** Cancels those of these jobs that wait. Returns them. */
    public List<JobId> cancelAll(
            Session session, Collection<JobId> ids, AuditNote note, Function<Job, List<JobSpec>> followUps)
            throws SQLException {
        List<Job> cancelled = cancellations.cancelPending(session, ids);
        AuditTable.writeAll(session, "cancel", cancelled.stream().map(Job::id).toList(), note, id -> null);
        store(
                session,
                cancelled.stream().flatMap(job -> followUps.apply(job).stream()).toList());
        return cancelled.stream().map(Job::id).toList();
    }

    private void store(Session session, List<JobSpec> jobs) throws SQLException {
        if (!jobs.isEmpty()) {
            inserts.insert(session, jobs);
        }
    }
}
