// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb.docs;

import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.UpdateOptions;
import com.mongodb.client.model.WriteModel;
import io.reprise.insight.ControlEvent;
import io.reprise.insight.ControlEvent.Kind;
import io.reprise.store.InsightStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.bson.Document;

/** The changes of breakers and budgets, the newest of the fleet. */
public final class MongoControlEvents {

    private static final Duration KEPT = Duration.ofDays(31);
    private static final String SUBJECT = "subject";
    private static final String AT = "at_us";
    private static final String KIND = "kind";

    private static final UpdateOptions UPSERT = new UpdateOptions().upsert(true);

    private final Mongo mongo;

    public MongoControlEvents(Mongo mongo) {
        this.mongo = mongo;
    }

    public void add(List<ControlEvent> events) {
        List<WriteModel<Document>> models = new ArrayList<>();
        for (ControlEvent event : events) {
            Document id = new Document(SUBJECT, event.subject())
                    .append(AT, MongoTime.of(event.at()))
                    .append(KIND, event.kind().name());
            Document row = new Document(id).append("why", event.why());
            models.add(new UpdateOneModel<>(new Document(FieldNames.ID, id), new Document("$set", row), UPSERT));
        }
        mongo.run("keep changes of breakers", scope -> {
            scope.docs(MongoScope.CONTROL_EVENTS).bulk(models);
            return true;
        });
    }

    public List<ControlEvent> last(String subject, int limit) {
        return mongo.run("read changes of breakers", scope -> {
            List<ControlEvent> found = new ArrayList<>();
            for (Document row : scope.docs(MongoScope.CONTROL_EVENTS)
                    .find(new Document(SUBJECT, subject))
                    .sort(new Document(AT, -1).append(KIND, -1))
                    .limit(limit)) {
                Kind kind = FieldNames.constant(Kind.class, row.get(KIND), Kind.BREAKER_OPENED);
                found.add(new ControlEvent(
                        Objects.requireNonNullElse(kind, Kind.BREAKER_OPENED),
                        row.getString(SUBJECT),
                        MongoTime.instant(FieldNames.numberOr(row, AT, 0)),
                        Objects.requireNonNullElse(FieldNames.text(row, "why"), "")));
            }
            return found;
        });
    }

    /** Deletes what is too old, and the oldest of too many. */
    public static void maintain(MongoScope scope, long micros) {
        long before = micros - MongoTime.of(KEPT);
        Document beyond = scope.docs(MongoScope.CONTROL_EVENTS)
                .find(new Document())
                .sort(new Document(AT, -1))
                .skip(InsightStore.MAX_CONTROL_EVENTS)
                .limit(1)
                .first();
        long last = beyond == null ? before : Math.max(before, FieldNames.numberOr(beyond, AT, 0));
        scope.docs(MongoScope.CONTROL_EVENTS).deleteAll(new Document(AT, new Document("$lte", last)));
    }
}
