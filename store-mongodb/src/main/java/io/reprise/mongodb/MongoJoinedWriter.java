// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import com.mongodb.MongoException;
import io.reprise.job.Enqueued;
import io.reprise.job.JobSpec;
import io.reprise.mongodb.docs.Mongo;
import io.reprise.mongodb.docs.MongoErrors;
import io.reprise.mongodb.docs.MongoScope;
import io.reprise.step.Checkpoint;
import io.reprise.store.JobWriter;
import io.reprise.store.Settled;
import io.reprise.store.Settlement;
import io.reprise.store.StoreException;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;

/** Writes in a caller's transaction. */
final class MongoJoinedWriter implements JobWriter {

    private final Mongo mongo;
    private final MongoInserts inserts;
    private final MongoSettlements settlements;
    private final MongoTransaction transaction;

    MongoJoinedWriter(Mongo mongo, MongoInserts inserts, MongoSettlements settlements, MongoTransaction transaction) {
        this.mongo = mongo;
        this.inserts = inserts;
        this.settlements = settlements;
        this.transaction = transaction;
    }

    @Override
    public List<Enqueued> insert(List<JobSpec> specs) {
        return write("store jobs", scope -> specs.isEmpty() ? List.of() : inserts.insert(scope, specs));
    }

    @Override
    public Settled settle(List<Settlement> outcomes, Collection<Long> closing) {
        return write("settle jobs", scope -> settlements.settle(scope, outcomes, closing));
    }

    @Override
    public List<Checkpoint.Answer> checkpoint(List<Checkpoint> checkpoints) {
        return write("store steps", scope -> MongoSteps.checkpoint(scope, checkpoints));
    }

    /**
     * Rethrows errors that need a new transaction: only the caller can run its transaction again, and its
     * driver must see the label.
     */
    private <T> T write(String what, Function<MongoScope, T> work) {
        try {
            return work.apply(mongo.within(transaction.session()));
        } catch (MongoException e) {
            if (MongoErrors.isTransactionVictim(e)) {
                throw e;
            }
            throw MongoErrors.wrap(what, e);
        } catch (MongoInserts.Overtaken e) {
            throw new StoreException(
                    "MongoDB could not " + what + ": " + e.getMessage() + ". Run the transaction again", e);
        }
    }
}
