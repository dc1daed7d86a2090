// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import io.reprise.fairness.FlowGate;
import io.reprise.fairness.FlowKey;
import io.reprise.fairness.GroupRules;
import io.reprise.mongodb.docs.Change;
import io.reprise.mongodb.docs.FieldNames;
import io.reprise.mongodb.docs.JobDocs;
import io.reprise.mongodb.docs.MongoScope;
import io.reprise.store.Turns;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * The limits of the groups of a queue. Running jobs are counted, so nothing leaks when a worker dies. The times of rates
 * are documents of their own; only the claim that has the queue's turn writes them.
 */
final class MongoFlow implements Turns.Limits<Document, RuntimeException> {

    private static final String NEXT = "next_us";

    /** The job that started last in a group that keeps its order. */
    private static final String HEAD = "head";

    private final MongoScope scope;
    private final String queue;
    private final GroupRules rules;
    private final long now;
    /** The groups of jobs that were noted as started last. */
    private final Map<Long, String> noted = new HashMap<>();

    MongoFlow(MongoScope scope, String queue, GroupRules rules, long now) {
        this.scope = scope;
        this.queue = queue;
        this.rules = rules;
        this.now = now;
    }

    @Override
    public FlowGate gate(Collection<String> groups) {
        return gate(groups, rates(groups));
    }

    private FlowGate gate(Collection<String> groups, Map<String, Long> rates) {
        Map<String, Integer> running = new HashMap<>();
        for (String group : groups) {
            if (!group.isEmpty() && rules.limitOf(group).running() != null) {
                running.put(group, running(group));
            }
        }
        rules.types().forEach((type, limit) -> {
            if (limit.running() != null) {
                running.put(FlowGate.ofType(type), runningType(type));
            }
        });
        return new FlowGate(rules, now, running, rates, heads(groups));
    }

    private Map<String, Long> heads(Collection<String> groups) {
        Map<String, Long> heads = new HashMap<>();
        Set<String> ordered = FlowGate.ordered(rules, groups);
        if (ordered.isEmpty()) {
            return heads;
        }
        Map<Long, String> stored = new HashMap<>();
        scope.docs(MongoScope.RATES)
                .find(new Document(
                        FieldNames.ID,
                        FieldNames.in(ordered.stream().map(this::headId).toList())))
                .forEach(head -> stored.put(
                        FieldNames.numberOr(head, HEAD, 0),
                        head.getString(FieldNames.ID).substring(headId("").length())));
        live(scope, stored.keySet(), queue).forEach(id -> heads.put(Objects.requireNonNull(stored.get(id)), id));
        return heads;
    }

    /** Returns those of these jobs that have not ended. */
    private static Set<Long> live(MongoScope scope, Collection<Long> ids, @Nullable String queue) {
        Set<Long> live = new HashSet<>();
        if (!ids.isEmpty()) {
            Document filter = JobDocs.byIds(List.copyOf(ids))
                    .append(FieldNames.STATUS, FieldNames.in(List.of(FieldNames.PENDING, FieldNames.PROCESSING)));
            if (queue != null) {
                filter.append(FieldNames.QUEUE, queue);
            }
            scope.jobs().find(filter).projection(JobDocs.ID_ONLY).forEach(job -> live.add(JobDocs.idOf(job)));
        }
        return live;
    }

    private Map<String, Long> rates(Collection<String> groups) {
        Map<String, Long> rates = new HashMap<>();
        for (String key : FlowGate.keys(rules, groups)) {
            Document rate = scope.docs(MongoScope.RATES).first(new Document(FieldNames.ID, id(key)));
            if (rate != null) {
                rates.put(key, FieldNames.numberOr(rate, NEXT, 0));
            }
        }
        return rates;
    }

    private int running(String group) {
        return (int) scope.jobs().count(MongoQueues.running(queue).append(FieldNames.GROUP, group));
    }

    private int runningType(String type) {
        return (int) scope.jobs().count(MongoQueues.running(queue).append(FieldNames.TYPE, type));
    }

    @Override
    public Map<Document, FlowKey> keys(List<Document> jobs) {
        Map<Document, FlowKey> keys = new HashMap<>();
        for (Document job : jobs) {
            keys.put(
                    job,
                    new FlowKey(
                            FieldNames.text(job, FieldNames.GROUP),
                            String.valueOf(FieldNames.text(job, FieldNames.TYPE)),
                            JobDocs.idOf(job),
                            FieldNames.numberOr(job, FieldNames.DUE, 0)));
        }
        return keys;
    }

    /** Returns those of these jobs that may start, and notes their starts before they are taken. */
    List<Document> admit(List<Document> jobs) {
        Map<Document, FlowKey> keys = keys(jobs);
        Set<String> groups = new HashSet<>();
        keys.values().stream().map(FlowKey::group).filter(Objects::nonNull).forEach(groups::add);
        Map<String, Long> rates = rates(groups);
        FlowGate gate = gate(groups, rates);
        List<Document> admitted = jobs.stream()
                .filter(job -> gate.admits(Objects.requireNonNull(keys.get(job))))
                .toList();
        gate.changed().forEach((key, next) -> {
            // Lower than what is stored only if the stored time is not believed.
            boolean lower = next < rates.getOrDefault(key, 0L);
            Change change =
                    lower ? Change.none().set(NEXT, next) : Change.none().raise(NEXT, next);
            scope.docs(MongoScope.RATES).upsert(new Document(FieldNames.ID, id(key)), change);
        });
        gate.started().forEach((group, job) -> {
            noted.put(job, group);
            scope.docs(MongoScope.RATES)
                    .upsert(
                            new Document(FieldNames.ID, headId(group)),
                            Change.none().set(HEAD, job));
        });
        return admitted;
    }

    /** Returns whether jobs were noted as started that are not among these. */
    boolean notedOthers(Collection<Long> taken) {
        return !taken.containsAll(noted.keySet());
    }

    /** Forgets those: they were not taken and keep no group back. */
    void forgetOthers(Collection<Long> taken) {
        noted.forEach((job, group) -> {
            if (!taken.contains(job)) {
                scope.docs(MongoScope.RATES).deleteAll(new Document(FieldNames.ID, headId(group)).append(HEAD, job));
            }
        });
    }

    /** Returns whether more jobs of a group or type run than may. */
    boolean isExceeded(Collection<FlowKey> jobs) {
        return jobs.stream().distinct().anyMatch(job -> {
            String group = job.group();
            Integer ofGroup = group == null ? null : rules.limitOf(group).running();
            Integer ofType = rules.limitOfType(job.type()).running();
            return (ofGroup != null && running(Objects.requireNonNull(group)) > ofGroup)
                    || (ofType != null && runningType(job.type()) > ofType);
        });
    }

    /** Deletes times that have passed: they limit nothing. */
    static void forget(MongoScope scope, long now) {
        scope.docs(MongoScope.RATES).deleteAll(new Document(NEXT, new Document("$lt", now)));
        forgetHeads(scope);
    }

    /** Deletes those whose jobs have ended: their groups wait for nothing. */
    private static void forgetHeads(MongoScope scope) {
        String after = "";
        List<Document> some;
        do {
            some = scope.docs(MongoScope.RATES)
                    .find(new Document(FieldNames.ID, new Document("$gt", after))
                            .append(HEAD, new Document("$exists", true)))
                    .sort(new Document(FieldNames.ID, 1))
                    .limit(1_000)
                    .into(new ArrayList<>());
            Set<Long> live = live(
                    scope,
                    some.stream()
                            .map(head -> FieldNames.numberOr(head, HEAD, 0))
                            .toList(),
                    null);
            Map<Long, String> gone = new HashMap<>();
            for (Document head : some) {
                after = head.getString(FieldNames.ID);
                long job = FieldNames.numberOr(head, HEAD, 0);
                if (!live.contains(job)) {
                    // Another job of the group may have started meanwhile.
                    scope.docs(MongoScope.RATES).deleteAll(new Document(FieldNames.ID, after).append(HEAD, job));
                    gone.put(job, after);
                }
            }
            // So may a dead letter that was put back meanwhile.
            live(scope, gone.keySet(), null)
                    .forEach(job -> scope.docs(MongoScope.RATES)
                            .upsert(
                                    new Document(FieldNames.ID, gone.get(job)),
                                    Change.none().setOnInsert(HEAD, job)));
        } while (!some.isEmpty());
    }

    private String headId(String group) {
        return id("\n" + group);
    }

    /** No name contains a line break. */
    private String id(String key) {
        return queue + "\n" + key;
    }
}
