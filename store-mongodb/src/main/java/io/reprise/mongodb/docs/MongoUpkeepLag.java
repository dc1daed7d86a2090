// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb.docs;

import io.reprise.insight.Behind;
import io.reprise.job.JobState;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.bson.Document;

/** Measures how far each piece of upkeep is behind. Each count stops at a limit. */
public final class MongoUpkeepLag {

    private MongoUpkeepLag() {}

    public static List<Behind> of(MongoScope scope, Map<JobState, Duration> keep) {
        long now = scope.now();
        Document overdue =
                new Document(FieldNames.STATUS, FieldNames.PENDING).append(FieldNames.DEADLINE, FieldNames.upTo(now));
        Document expired =
                new Document(FieldNames.STATUS, FieldNames.PROCESSING).append(FieldNames.UNTIL, FieldNames.upTo(now));
        Document due = new Document("paused", false).append("next_us", FieldNames.upTo(now));
        return List.of(
                behind("deadlines", now, scope.jobs(), overdue, FieldNames.DEADLINE),
                behind("leases", now, scope.jobs(), expired, FieldNames.UNTIL),
                retention(scope, now, keep),
                behind("schedules", now, scope.docs(MongoScope.SCHEDULES), due, "next_us"));
    }

    private static Behind retention(MongoScope scope, long now, Map<JobState, Duration> keep) {
        long rows = 0;
        Duration by = Duration.ZERO;
        for (Map.Entry<JobState, Duration> state : keep.entrySet()) {
            long horizon = now - MongoTime.of(state.getValue());
            Document old = new Document(FieldNames.STATUS, FieldNames.status(state.getKey()))
                    .append(FieldNames.FINISHED, new Document("$lt", horizon));
            boolean moved = scope.hasDead() && state.getKey() == JobState.FAILED;
            for (Docs docs : moved ? List.of(scope.jobs(), scope.dead()) : List.of(scope.jobs())) {
                Behind one = behind("retention", horizon, docs, old, FieldNames.FINISHED);
                rows += one.rows();
                by = one.by().compareTo(by) > 0 ? one.by() : by;
            }
        }
        return new Behind("retention", Math.min(rows, Behind.MAX_ROWS), by);
    }

    private static Behind behind(String piece, long now, Docs docs, Document waiting, String since) {
        Document first = docs.find(waiting)
                .projection(new Document(since, 1))
                .sort(new Document(since, 1))
                .limit(1)
                .first();
        if (first == null) {
            return new Behind(piece, 0, Duration.ZERO);
        }
        long micros = Math.max(0, now - FieldNames.numberOr(first, since, now));
        return new Behind(piece, docs.count(waiting, Behind.MAX_ROWS), Duration.ofNanos(micros * 1_000));
    }
}
