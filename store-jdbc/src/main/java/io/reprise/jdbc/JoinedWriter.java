// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.jdbc.jobs.LeaseClosing;
import io.reprise.jdbc.jobs.Transitions;
import io.reprise.jdbc.rows.StepTable;
import io.reprise.jdbc.sql.Database;
import io.reprise.jdbc.sql.Session;
import io.reprise.job.DuplicateKeyException;
import io.reprise.job.Enqueued;
import io.reprise.job.JobSpec;
import io.reprise.job.KeyReusedException;
import io.reprise.job.KeyRule;
import io.reprise.job.RefusedException;
import io.reprise.retry.RetryPolicy;
import io.reprise.step.Checkpoint;
import io.reprise.store.JobWriter;
import io.reprise.store.Settled;
import io.reprise.store.Settlement;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.Collection;
import java.util.List;

/**
 * Writes in a caller's transaction. It sends no wake-up: the jobs are not visible until the caller
 * commits, and polling finds them.
 */
final class JoinedWriter implements JobWriter {

    private final Database database;
    private final JdbcTransaction transaction;
    private final Parts parts;

    JoinedWriter(Database database, JdbcTransaction transaction, Parts parts) {
        this.database = database;
        this.transaction = transaction;
        this.parts = parts;
    }

    @Override
    public List<Enqueued> insert(List<JobSpec> specs) {
        if (specs.isEmpty()) {
            return List.of();
        }
        storePolicies(specs.stream().map(JobSpec::policy).distinct().toList());
        boolean refusable = specs.stream()
                .anyMatch(spec -> spec.idempotencyProof() != null
                        || spec.batch() != null
                        || (spec.key() != null && spec.keyRule() != KeyRule.KEEP));
        return database.join(
                transaction::connection,
                "store " + specs.size() + " jobs",
                JdbcJobStore::foundAll,
                session -> refusable
                        ? insertOrNothing(session, specs)
                        : parts.inserts().insert(session, specs));
    }

    /**
     * Stores policies before the caller's transaction does. A new policy in that transaction would block other
     * transactions that store it until the end.
     */
    private void storePolicies(List<RetryPolicy> used) {
        if (database.dialect().writesBesideOthers()) {
            parts.policies().storeAhead(database, used);
        }
    }

    /** A refused batch leaves nothing behind if the caller goes on and commits. */
    private List<Enqueued> insertOrNothing(Session session, List<JobSpec> specs) throws SQLException {
        if (specs.stream()
                .anyMatch(spec -> spec.key() != null
                        && (spec.keyRule() == KeyRule.REPLACE || spec.keyRule() == KeyRule.FOLLOW))) {
            session.dialect().requireFreshReads(session.connection());
        }
        Savepoint before = session.connection().setSavepoint();
        try {
            List<Enqueued> inserted = parts.inserts().insert(session, specs);
            session.connection().releaseSavepoint(before);
            return inserted;
        } catch (DuplicateKeyException | KeyReusedException | RefusedException e) {
            session.connection().rollback(before);
            throw e;
        }
    }

    @Override
    public Settled settle(List<Settlement> settlements, Collection<Long> closing) {
        if (Transitions.hasFollowUps(settlements)) {
            storePolicies(Transitions.policies(settlements));
        }
        return database.join(
                transaction::connection,
                "settle " + settlements.size() + " jobs",
                Transitions.refusal(settlements, LeaseClosing.of(closing)),
                session -> parts.transitions().settle(session, settlements, LeaseClosing.of(closing)));
    }

    @Override
    public List<Checkpoint.Answer> checkpoint(List<Checkpoint> checkpoints) {
        return database.join(
                transaction::connection,
                "store " + checkpoints.size() + " steps",
                JdbcJobStore::isRefused,
                session -> StepTable.checkpoint(session, checkpoints));
    }
}
