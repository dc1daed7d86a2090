// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import io.reprise.JobState;
import io.reprise.store.Behind;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.bson.Document;

/** Measures how far each piece of upkeep is behind. Each count stops at a limit. */
final class Lateness {

    private Lateness() {}

    static List<Behind> of(Scope scope, Map<JobState, Duration> keep) {
        long now = scope.now();
        Document overdue = new Document(Fields.STATUS, Fields.PENDING).append(Fields.DEADLINE, Fields.upTo(now));
        Document expired = new Document(Fields.STATUS, Fields.PROCESSING).append(Fields.UNTIL, Fields.upTo(now));
        Document due = new Document("paused", false).append("next_us", Fields.upTo(now));
        return List.of(
                behind("deadlines", now, scope.jobs(), overdue, Fields.DEADLINE),
                behind("leases", now, scope.jobs(), expired, Fields.UNTIL),
                retention(scope, now, keep),
                behind("schedules", now, scope.docs(Scope.SCHEDULES), due, "next_us"));
    }

    private static Behind retention(Scope scope, long now, Map<JobState, Duration> keep) {
        long rows = 0;
        Duration by = Duration.ZERO;
        for (Map.Entry<JobState, Duration> state : keep.entrySet()) {
            long horizon = now - Micros.of(state.getValue());
            Document old = new Document(Fields.STATUS, Fields.status(state.getKey()))
                    .append(Fields.FINISHED, new Document("$lt", horizon));
            boolean moved = scope.hasDead() && state.getKey() == JobState.FAILED;
            for (Docs docs : moved ? List.of(scope.jobs(), scope.dead()) : List.of(scope.jobs())) {
                Behind one = behind("retention", horizon, docs, old, Fields.FINISHED);
                rows += one.rows();
                by = one.by().compareTo(by) > 0 ? one.by() : by;
            }
        }
        return new Behind("retention", Math.min(rows, Behind.MOST), by);
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
        long micros = Math.max(0, now - Fields.numberOr(first, since, now));
        return new Behind(piece, docs.count(waiting, Behind.MOST), Duration.ofNanos(micros * 1_000));
    }
}
