// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import com.mongodb.client.model.UpdateOneModel;
import io.reprise.mongodb.docs.Change;
import io.reprise.mongodb.docs.FieldNames;
import io.reprise.mongodb.docs.JobDocs;
import io.reprise.mongodb.docs.Mongo;
import io.reprise.mongodb.docs.MongoTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.bson.Document;

/** Gives delayed jobs and retries of groups their turns. The index {@code late} finds them. */
final class MongoTurns {

    private static final Document READ = new Document(FieldNames.GROUP, 1).append(FieldNames.LATE, 1);

    private final Mongo mongo;

    MongoTurns(Mongo mongo) {
        this.mongo = mongo;
    }

    int give(Duration waited, int limit) {
        return mongo.run("give jobs their turns", scope -> {
            Document late = new Document(FieldNames.PARKED, false)
                    .append(FieldNames.LATE, FieldNames.upTo(scope.now() - MongoTime.of(waited)))
                    .append(FieldNames.STATUS, FieldNames.PENDING);
            List<UpdateOneModel<Document>> changes = new ArrayList<>();
            for (Document job : scope.jobs()
                    .find(late)
                    .sort(new Document(FieldNames.LATE, 1))
                    .limit(limit)
                    .projection(READ)) {
                // A job that was claimed or has failed since has another time or status.
                Document same = new Document(FieldNames.ID, JobDocs.idOf(job))
                        .append(FieldNames.STATUS, FieldNames.PENDING)
                        .append(FieldNames.PARKED, false)
                        .append(FieldNames.LATE, job.get(FieldNames.LATE));
                Change change = Change.none()
                        .set(FieldNames.TURN, job.get(FieldNames.GROUP))
                        .set(FieldNames.LATE, null);
                changes.add(new UpdateOneModel<>(same, change.build()));
            }
            return changes.isEmpty() ? 0 : scope.jobs().bulk(changes).getModifiedCount();
        });
    }
}
