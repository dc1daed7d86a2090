// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import com.mongodb.client.model.DeleteOneModel;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.UpdateOptions;
import com.mongodb.client.model.WriteModel;
import io.reprise.insight.Activity;
import io.reprise.insight.ActivityPeriod;
import io.reprise.insight.CostEntry;
import io.reprise.insight.ErrorKey;
import io.reprise.insight.Evidence;
import io.reprise.mongodb.docs.Docs;
import io.reprise.mongodb.docs.FieldNames;
import io.reprise.mongodb.docs.Mongo;
import io.reprise.mongodb.docs.MongoScope;
import io.reprise.mongodb.docs.MongoTime;
import io.reprise.store.ActivityQuery;
import io.reprise.store.InsightStore;
import io.reprise.store.WorkerCounts;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * Adds up evidence and spending on the server; {@link MongoSeries} adds up activity. Evidence decays: a later addition is multiplied by a weight
 * that grows with the age of the row, and a read divides by the present weight. So adding needs no read of the sum.
 */
final class MongoInsights {

    private static final Duration KEEP_SPENDING = Duration.ofDays(31);
    /**
     * Weights double with every half-life. After this time a row is rebased, so that numbers do not grow without limit.
     */
    private static final Duration REBORN_AFTER = Duration.ofDays(100);

    static final UpdateOptions UPSERT = new UpdateOptions().upsert(true);

    private static final String BORN = "born_us";
    private static final String ERROR_TYPE = "error_type";
    private static final String PERIOD = "period_us";

    private final Mongo mongo;

    MongoInsights(Mongo mongo) {
        this.mongo = mongo;
    }

    void addCounts(WorkerCounts workerCounts) {
        mongo.run("tally findings", scope -> {
            Instant now = MongoTime.instant(scope.now());
            addEvidence(scope, workerCounts.evidence(), now);
            long day = MongoTime.of(now.truncatedTo(ChronoUnit.DAYS));
            addCosts(scope, workerCounts.spending(), day);
            MongoSeries.add(scope, workerCounts.activity(), now);
            return true;
        });
    }

    private static Document cause(ErrorKey cause) {
        return new Document("type", cause.type())
                .append("resource", cause.resource())
                .append("error", cause.error());
    }

    private static ErrorKey cause(Document id, Document row) {
        return new ErrorKey(
                id.getString("type"),
                id.getString("resource"),
                id.getString("error"),
                Objects.requireNonNullElse(FieldNames.text(row, ERROR_TYPE), ""));
    }

    /** The existing rows, and the room for new ones. */
    static final class Known {

        private final Map<Document, Document> rows = new HashMap<>();
        private final Set<Document> added = new HashSet<>();
        private long room;

        Known(Docs docs, Set<Document> wanted, Document all, int most) {
            docs.find(new Document(FieldNames.ID, FieldNames.in(wanted)))
                    .forEach(row -> rows.put(row.get(FieldNames.ID, Document.class), row));
            room = rows.size() == wanted.size() ? 0 : most - docs.count(all, most);
        }

        boolean admits(Document id) {
            if (rows.containsKey(id) || added.contains(id)) {
                return true;
            }
            if (room < 1) {
                return false;
            }
            room--;
            return added.add(id);
        }

        @Nullable
        Document row(Document id) {
            return rows.get(id);
        }
    }

    private static void addEvidence(MongoScope scope, List<Evidence> evidence, Instant now) {
        if (evidence.isEmpty()) {
            return;
        }
        Map<Document, Evidence> wanted = new LinkedHashMap<>();
        evidence.forEach(each -> wanted.merge(id(each.cause(), each.attempt()), each, Evidence::plus));
        Docs docs = scope.docs(MongoScope.EVIDENCE);
        Document rest = id(ErrorKey.REST, Evidence.LAST_ATTEMPT);
        Set<Document> scanned = new HashSet<>(wanted.keySet());
        scanned.add(rest);
        Known known = new Known(docs, scanned, new Document(), InsightStore.MAX_EVIDENCE);
        Map<Document, Evidence> sums = new LinkedHashMap<>();
        wanted.forEach((id, each) -> {
            boolean admitted = known.admits(id);
            Evidence added = admitted
                    ? each
                    : new Evidence(ErrorKey.REST, Evidence.LAST_ATTEMPT, each.tries(), each.successes());
            sums.merge(admitted ? id : rest, added, Evidence::plus);
        });
        List<WriteModel<Document>> models = new ArrayList<>();
        sums.forEach((id, each) -> {
            Document row = known.row(id);
            long born = row == null ? MongoTime.of(now) : FieldNames.numberOr(row, BORN, MongoTime.of(now));
            double weight = 1 / faded(born, now);
            Document update = new Document(
                            "$setOnInsert",
                            new Document(BORN, born)
                                    .append(ERROR_TYPE, each.cause().errorType()))
                    .append(
                            "$inc",
                            new Document("tries", each.tries() * weight)
                                    .append("successes", each.successes() * weight));
            models.add(new UpdateOneModel<>(new Document(FieldNames.ID, id), update, UPSERT));
        });
        docs.bulk(models);
    }

    private static Document id(ErrorKey cause, int attempt) {
        return cause(cause).append("attempt", attempt);
    }

    /** Returns the part of one try that is left after this time. */
    private static double faded(long born, Instant now) {
        return new Evidence(ErrorKey.REST, 1, 1, 0)
                .aged(Duration.between(MongoTime.instant(born), now))
                .tries();
    }

    List<Evidence> evidence() {
        return mongo.run("read evidence", scope -> {
            Instant now = MongoTime.instant(scope.now());
            List<Evidence> evidence = new ArrayList<>();
            scope.docs(MongoScope.EVIDENCE).find(new Document()).forEach(row -> evidence.add(evidence(row, now)));
            return evidence;
        });
    }

    private static Evidence evidence(Document row, Instant now) {
        Document id = row.get(FieldNames.ID, Document.class);
        double left = faded(FieldNames.numberOr(row, BORN, MongoTime.of(now)), now);
        return new Evidence(
                cause(id, row),
                FieldNames.integer(id, "attempt"),
                FieldNames.real(row, "tries") * left,
                FieldNames.real(row, "successes") * left);
    }

    private static void addCosts(MongoScope scope, List<CostEntry> spending, long day) {
        if (spending.isEmpty()) {
            return;
        }
        Map<Document, CostEntry> wanted = new LinkedHashMap<>();
        spending.forEach(each -> wanted.merge(id(each, day), each, CostEntry::plus));
        Docs docs = scope.docs(MongoScope.SPENDING);
        Known known = new Known(docs, wanted.keySet(), new Document(PERIOD, day), InsightStore.MAX_SPENDING);
        Map<Document, CostEntry> sums = new LinkedHashMap<>();
        wanted.forEach((id, each) -> {
            CostEntry added = known.admits(id) ? each : each.of(ErrorKey.REST);
            sums.merge(id(added, day), added, CostEntry::plus);
        });
        List<WriteModel<Document>> models = new ArrayList<>();
        sums.forEach((id, each) -> models.add(new UpdateOneModel<>(
                new Document(FieldNames.ID, id),
                new Document(
                                "$setOnInsert",
                                new Document(PERIOD, day)
                                        .append(ERROR_TYPE, each.cause().errorType()))
                        .append(
                                "$inc",
                                new Document("runs", each.runs())
                                        .append("successes", each.successes())
                                        .append("amount", each.amount())
                                        .append("wasted", each.wasted())),
                UPSERT)));
        docs.bulk(models);
    }

    private static Document id(CostEntry spending, long day) {
        return new Document("day", day).append("unit", spending.unit()).append("cause", cause(spending.cause()));
    }

    List<CostEntry> spending(Duration age) {
        return mongo.run("read spending", scope -> {
            Instant first = MongoTime.instant(scope.now()).minus(age).truncatedTo(ChronoUnit.DAYS);
            Map<Document, CostEntry> sums = new LinkedHashMap<>();
            for (Document row : scope.docs(MongoScope.SPENDING)
                    .find(new Document(PERIOD, new Document("$gte", MongoTime.of(first))))) {
                Document id = row.get(FieldNames.ID, Document.class);
                CostEntry each = new CostEntry(
                        cause(id.get("cause", Document.class), row),
                        id.getString("unit"),
                        FieldNames.numberOr(row, "runs", 0),
                        FieldNames.numberOr(row, "successes", 0),
                        FieldNames.real(row, "amount"),
                        FieldNames.real(row, "wasted"));
                sums.merge(id(each, 0), each, CostEntry::plus);
            }
            return List.copyOf(sums.values());
        });
    }

    List<Activity> activity(Duration ago, int minutes) {
        return mongo.run("read activity", scope -> MongoSeries.activity(scope, ago, minutes));
    }

    List<ActivityPeriod> activity(ActivityQuery query) {
        return mongo.run("read activity", scope -> MongoSeries.activity(scope, query));
    }

    void maintain(MongoScope scope, long micros) {
        Instant now = MongoTime.instant(micros);
        Instant firstDay = now.minus(KEEP_SPENDING).truncatedTo(ChronoUnit.DAYS);
        scope.docs(MongoScope.SPENDING).deleteAll(before(firstDay));
        MongoSeries.maintain(scope, now);
        fade(scope.docs(MongoScope.EVIDENCE), now);
    }

    private static Document before(Instant first) {
        return new Document(PERIOD, new Document("$lt", MongoTime.of(first)));
    }

    /**
     * Deletes rows with too little evidence, and rebases old rows. If a worker adds to a row in between,
     * the row stays unchanged.
     */
    private static void fade(Docs docs, Instant now) {
        List<WriteModel<Document>> models = new ArrayList<>();
        for (Document row : docs.find(new Document())) {
            Document same = new Document(FieldNames.ID, row.get(FieldNames.ID)).append("tries", row.get("tries"));
            Evidence left = evidence(row, now);
            Duration age = Duration.between(MongoTime.instant(FieldNames.numberOr(row, BORN, 0)), now);
            if (left.tries() < 0.5) {
                models.add(new DeleteOneModel<>(same));
            } else if (age.compareTo(REBORN_AFTER) > 0) {
                Document reborn = new Document(BORN, MongoTime.of(now))
                        .append("tries", left.tries())
                        .append("successes", left.successes());
                models.add(new UpdateOneModel<>(same, new Document("$set", reborn)));
            }
        }
        if (!models.isEmpty()) {
            docs.bulk(models);
        }
    }
}
