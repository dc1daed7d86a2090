// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import io.reprise.JobState;
import io.reprise.store.Note;
import io.reprise.store.QueueState;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/** Settings and counts of queues. */
final class Queues {

    static final String PAUSED = "paused";
    static final String MAX_RUNNING = "max_running";
    /** Whose claim takes from a queue with a limit. */
    static final String TURN = "turn";

    static final String TURN_UNTIL = "turn_until_us";

    private final Mongo mongo;

    Queues(Mongo mongo) {
        this.mongo = mongo;
    }

    static Document running(String queue) {
        return new Document(Fields.QUEUE, queue).append(Fields.STATUS, Fields.PROCESSING);
    }

    Set<String> live() {
        return mongo.run(
                "list queues",
                scope -> new HashSet<>(
                        scope.jobs().distinct(Fields.LIVE_QUEUE, new Document(Fields.LIVE_QUEUE, atLeast("")))));
    }

    private static Document atLeast(String text) {
        return new Document("$gte", text);
    }

    List<QueueState> all() {
        return mongo.look("list queues", scope -> {
            long now = scope.now();
            Map<String, Map<JobState, Long>> counts = counts(scope);
            Map<String, Instant> oldest = oldest(scope, now);
            Map<String, Document> settings = new HashMap<>();
            scope.docs(Scope.QUEUES).list(new Document()).stream()
                    .filter(queue -> queue.containsKey(PAUSED) || queue.containsKey(MAX_RUNNING))
                    .forEach(queue -> settings.put(queue.getString(Fields.ID), queue));
            Set<String> names = new TreeSet<>(counts.keySet());
            names.addAll(settings.keySet());
            List<QueueState> queues = new ArrayList<>();
            for (String name : names) {
                Document queue = settings.getOrDefault(name, new Document());
                queues.add(new QueueState(
                        name, pause(queue), maxRunning(queue), counts.getOrDefault(name, Map.of()), oldest.get(name)));
            }
            return queues;
        });
    }

    private static Map<String, Map<JobState, Long>> counts(Scope scope) {
        Map<String, Map<JobState, Long>> counts = new HashMap<>();
        Document all = new Document(Fields.QUEUE, atLeast(""));
        count(counts, scope.jobs(), all);
        if (scope.hasDead()) {
            count(counts, scope.dead(), DeadLetters.countedOnly(scope, all));
        }
        return counts;
    }

    /** Counts entries of an index that has just these two fields. */
    private static void count(Map<String, Map<JobState, Long>> counts, Docs docs, Document filter) {
        Document key = new Document(Fields.QUEUE, "$" + Fields.QUEUE).append(Fields.STATUS, "$" + Fields.STATUS);
        for (Document group : docs.aggregate(
                new Document("$match", filter),
                new Document("$group", new Document(Fields.ID, key).append("jobs", new Document("$sum", 1))))) {
            Document id = group.get(Fields.ID, Document.class);
            counts.computeIfAbsent(id.getString(Fields.QUEUE), name -> new EnumMap<>(JobState.class))
                    .merge(JobDocs.stateOf(id), Fields.numberOr(group, "jobs", 0), Long::sum);
        }
    }

    private static Map<String, Instant> oldest(Scope scope, long now) {
        Map<String, Instant> oldest = new HashMap<>();
        for (Document group : scope.jobs()
                .aggregate(
                        new Document("$match", Claims.ready(atLeast(""), now)),
                        new Document(
                                "$group",
                                new Document(Fields.ID, "$" + Fields.QUEUE)
                                        .append("due", new Document("$min", "$" + Fields.DUE))))) {
            oldest.put(group.getString(Fields.ID), Micros.instant(Fields.numberOr(group, "due", now)));
        }
        return oldest;
    }

    static QueueState.@Nullable Pause pause(Document queue) {
        if (!(queue.get(PAUSED) instanceof Document pause)) {
            return null;
        }
        return new QueueState.Pause(Micros.instant(Fields.numberOr(pause, "since_us", 0)), Audit.note(pause));
    }

    static @Nullable Integer maxRunning(Document queue) {
        return queue.get(MAX_RUNNING) instanceof Number number ? number.intValue() : null;
    }

    void pause(String queue, Note note) {
        mongo.atomically("pause a queue", scope -> {
            long now = scope.now();
            ensure(scope, queue);
            Document pause = Audit.note(note).append("since_us", now);
            scope.docs(Scope.QUEUES)
                    .update(
                            new Document(Fields.ID, queue).append(PAUSED, null),
                            Change.none().set(PAUSED, pause));
            Audit.subject(scope, now, "pause", queue, note, null);
            return true;
        });
    }

    void resume(String queue, Note note) {
        mongo.atomically("resume a queue", scope -> {
            scope.docs(Scope.QUEUES)
                    .update(new Document(Fields.ID, queue), Change.none().remove(PAUSED));
            Audit.subject(scope, scope.now(), "resume", queue, note, null);
            return true;
        });
    }

    void limit(String queue, @Nullable Integer maxRunning, Note note) {
        mongo.atomically("limit a queue", scope -> {
            ensure(scope, queue);
            scope.docs(Scope.QUEUES)
                    .update(new Document(Fields.ID, queue), Change.none().set(MAX_RUNNING, maxRunning));
            String detail = maxRunning == null ? "none" : maxRunning.toString();
            Audit.subject(scope, scope.now(), "limit", queue, note, detail);
            return true;
        });
    }

    private static void ensure(Scope scope, String queue) {
        scope.docs(Scope.QUEUES)
                .upsert(new Document(Fields.ID, queue), Change.none().set("name", queue));
    }

    /** Names of the queues that are paused. */
    static List<String> paused(Scope scope) {
        return scope.docs(Scope.QUEUES).list(new Document(PAUSED, new Document("$exists", true))).stream()
                .map(queue -> Objects.requireNonNull(queue.getString(Fields.ID)))
                .toList();
    }
}
