// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.WriteModel;
import io.reprise.insight.Activity;
import io.reprise.insight.ActivityPeriod;
import io.reprise.mongodb.docs.Docs;
import io.reprise.mongodb.docs.FieldNames;
import io.reprise.mongodb.docs.MongoScope;
import io.reprise.mongodb.docs.MongoTime;
import io.reprise.store.ActivityQuery;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.bson.Document;

/** Counts of attempts by minute and by hour, of each type, queue, resource and error. */
final class MongoSeries {

    private static final String LANE = "lane";
    private static final String AT = "at_us";
    private static final String NAME = "name";

    /** One period of one subject at a time. */
    private record Lane(Activity.Step step, Activity.Subject subject, long at) {

        /** The periods of a subject are found by this text and their time. */
        static String text(Activity.Step step, Activity.Subject subject) {
            return step.name() + " " + subject.name();
        }

        Document filter() {
            return new Document(LANE, text(step, subject)).append(AT, at);
        }

        Document id(Activity row) {
            return filter().append(NAME, row.name());
        }
    }

    private MongoSeries() {}

    static void add(MongoScope scope, List<Activity> activity, Instant now) {
        Map<Activity.Subject, List<Activity>> bySubject = new TreeMap<>();
        activity.forEach(row -> bySubject
                .computeIfAbsent(row.subject(), subject -> new ArrayList<>())
                .add(row));
        List<WriteModel<Document>> models = new ArrayList<>();
        Docs docs = scope.docs(MongoScope.ACTIVITY);
        for (Activity.Step step : Activity.Step.values()) {
            long at = MongoTime.of(begin(step, now));
            bySubject.forEach((subject, rows) -> add(docs, new Lane(step, subject, at), rows, models));
        }
        if (!models.isEmpty()) {
            docs.bulk(models);
        }
    }

    private static void add(Docs docs, Lane lane, List<Activity> rows, List<WriteModel<Document>> models) {
        Map<Document, Activity> wanted = new LinkedHashMap<>();
        rows.forEach(row -> wanted.merge(lane.id(row), row, Activity::plus));
        MongoInsights.Known known = new MongoInsights.Known(docs, wanted.keySet(), lane.filter(), lane.step.names());
        Map<Document, Activity> sums = new LinkedHashMap<>();
        wanted.forEach((id, row) -> {
            Activity added = known.admits(id) ? row : row.of(Activity.REST);
            sums.merge(lane.id(added), added, Activity::plus);
        });
        sums.forEach((id, row) -> models.add(new UpdateOneModel<>(
                new Document(FieldNames.ID, id),
                new Document("$setOnInsert", lane.filter().append(NAME, row.name()))
                        .append("$inc", numbers(row.counts())),
                MongoInsights.UPSERT)));
    }

    private static Document numbers(Activity.Counts counts) {
        return new Document("jobs", counts.jobs())
                .append("succeeded", counts.succeeded())
                .append("failed", counts.failed())
                .append("retried", counts.retried())
                .append("retries", counts.retries())
                .append("dead", counts.dead())
                .append("backoff_us", MongoTime.of(counts.backoff()))
                .append("ran_us", MongoTime.of(counts.ran()));
    }

    private static Activity.Counts counts(Document row) {
        return new Activity.Counts(
                FieldNames.numberOr(row, "jobs", 0),
                FieldNames.numberOr(row, "succeeded", 0),
                FieldNames.numberOr(row, "failed", 0),
                FieldNames.numberOr(row, "retried", 0),
                FieldNames.numberOr(row, "retries", 0),
                FieldNames.numberOr(row, "dead", 0),
                MongoTime.duration(FieldNames.numberOr(row, "backoff_us", 0)),
                MongoTime.duration(FieldNames.numberOr(row, "ran_us", 0)));
    }

    static List<Activity> activity(MongoScope scope, Duration ago, int minutes) {
        Activity.Step step = Activity.Step.MINUTE;
        Activity.Subject subject = Activity.Subject.TYPE;
        Instant last = begin(step, MongoTime.instant(scope.now()).minus(ago));
        Map<String, Activity> sums = new TreeMap<>();
        for (Document row : scope.docs(MongoScope.ACTIVITY).find(between(step, subject, last, minutes))) {
            Activity each = new Activity(subject, row.getString(NAME), counts(row));
            sums.merge(each.name(), each, Activity::plus);
        }
        return List.copyOf(sums.values());
    }

    static List<ActivityPeriod> activity(MongoScope scope, ActivityQuery query) {
        Instant last = begin(query.step(), MongoTime.instant(scope.now()));
        Document filter = between(query.step(), query.subject(), last, query.periods());
        if (query.name() != null) {
            filter.append(NAME, query.name());
        }
        TreeMap<Long, TreeMap<String, Activity.Counts>> sums = new TreeMap<>();
        for (Document row : scope.docs(MongoScope.ACTIVITY).find(filter)) {
            String name = query.each() || query.name() != null ? row.getString(NAME) : "";
            sums.computeIfAbsent(FieldNames.numberOr(row, AT, 0), at -> new TreeMap<>())
                    .merge(name, counts(row), Activity.Counts::plus);
        }
        List<ActivityPeriod> found = new ArrayList<>();
        sums.forEach((at, names) ->
                names.forEach((name, counts) -> found.add(new ActivityPeriod(MongoTime.instant(at), name, counts))));
        return found;
    }

    private static Document between(Activity.Step step, Activity.Subject subject, Instant last, int periods) {
        Instant after = last.minus(step.length().multipliedBy(periods));
        return new Document(LANE, Lane.text(step, subject))
                .append(AT, new Document("$gt", MongoTime.of(after)).append("$lte", MongoTime.of(last)));
    }

    static void maintain(MongoScope scope, Instant now) {
        for (Activity.Step step : Activity.Step.values()) {
            long first = MongoTime.of(begin(step, now.minus(step.kept())));
            for (Activity.Subject subject : Activity.Subject.values()) {
                scope.docs(MongoScope.ACTIVITY)
                        .deleteAll(new Document(LANE, Lane.text(step, subject)).append(AT, new Document("$lt", first)));
            }
        }
    }

    private static Instant begin(Activity.Step step, Instant instant) {
        return instant.truncatedTo(step == Activity.Step.MINUTE ? ChronoUnit.MINUTES : ChronoUnit.HOURS);
    }
}
