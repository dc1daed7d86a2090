// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import com.mongodb.MongoException;
import io.reprise.JobSpec;
import io.reprise.store.Inserted;
import io.reprise.store.JobWriter;
import io.reprise.store.Settled;
import io.reprise.store.Settlement;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;

/** Writes in a caller's transaction. */
final class JoinedWriter implements JobWriter {

    private final Mongo mongo;
    private final Inserts inserts;
    private final MongoTransaction transaction;

    JoinedWriter(Mongo mongo, Inserts inserts, MongoTransaction transaction) {
        this.mongo = mongo;
        this.inserts = inserts;
        this.transaction = transaction;
    }

    @Override
    public List<Inserted> insert(List<JobSpec> specs) {
        return write("store jobs", scope -> inserts.insertWithin(scope, specs));
    }

    @Override
    public Settled settle(List<Settlement> settlements, Collection<Long> closing) {
        return write("settle jobs", scope -> Settlements.settle(scope, settlements, closing));
    }

    /** Only the caller can run its transaction again, and its driver must see why. */
    private <T> T write(String what, Function<Scope, T> work) {
        try {
            return work.apply(mongo.within(transaction.session()));
        } catch (MongoException e) {
            if (MongoErrors.isTransactionVictim(e)) {
                throw e;
            }
            throw MongoErrors.wrap(what, e);
        }
    }
}
