// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import com.mongodb.MongoException;
import io.reprise.JobSpec;
import io.reprise.store.Inserted;
import io.reprise.store.JobWriter;
import io.reprise.store.Settled;
import io.reprise.store.Settlement;
import io.reprise.store.StoreException;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;

/** Writes in a caller's transaction. */
final class JoinedWriter implements JobWriter {

    private final Mongo mongo;
    private final Inserts inserts;
    private final Settlements settlements;
    private final MongoTransaction transaction;

    JoinedWriter(Mongo mongo, Inserts inserts, Settlements settlements, MongoTransaction transaction) {
        this.mongo = mongo;
        this.inserts = inserts;
        this.settlements = settlements;
        this.transaction = transaction;
    }

    @Override
    public List<Inserted> insert(List<JobSpec> specs) {
        return write("store jobs", scope -> specs.isEmpty() ? List.of() : inserts.insert(scope, specs));
    }

    @Override
    public Settled settle(List<Settlement> outcomes, Collection<Long> closing) {
        return write("settle jobs", scope -> settlements.settle(scope, outcomes, closing));
    }

    /**
     * Rethrows errors that need a new transaction: only the caller can run its transaction again, and its
     * driver must see the label.
     */
    private <T> T write(String what, Function<Scope, T> work) {
        try {
            return work.apply(mongo.within(transaction.session()));
        } catch (MongoException e) {
            if (MongoErrors.isTransactionVictim(e)) {
                throw e;
            }
            throw MongoErrors.wrap(what, e);
        } catch (Inserts.Overtaken e) {
            throw new StoreException(
                    "MongoDB could not " + what + ": " + e.getMessage() + ". Run the transaction again", e);
        }
    }
}
