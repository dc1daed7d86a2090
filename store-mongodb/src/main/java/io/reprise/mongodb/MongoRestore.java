// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import io.reprise.mongodb.docs.Mongo;
import io.reprise.mongodb.docs.MongoScope;
import java.util.List;
import org.bson.Document;

/**
 * Makes a database that was restored from a backup fit for use. It lacks everything since the backup, but others
 * remember: receivers know ids and tokens, workers hold leases. So all numbers jump far ahead, and nobody holds a job.
 *
 * <p>Each part may be repeated, so after a failure it is done again from the beginning.
 */
final class MongoRestore {

    /** More numbers than a system uses between two backups. */
    private static final int AHEAD = 1_000_000_000;

    /** Counters of ids, tokens and versions. A backup lacks those that were used only after it. */
    private static final List<String> COUNTERS = List.of("job", "token", MongoScope.CONTROLS, MongoScope.DOCUMENTS);

    private MongoRestore() {}

    static void repair(Mongo mongo) {
        mongo.run("make the database fit for use", scope -> {
            COUNTERS.forEach(counter -> scope.next(counter, AHEAD));
            MongoSettlements.giveBackAll(scope);
            scope.docs(MongoScope.WORKERS).deleteAll(new Document());
            scope.docs(MongoScope.ROLES).deleteAll(new Document());
            return true;
        });
    }
}
