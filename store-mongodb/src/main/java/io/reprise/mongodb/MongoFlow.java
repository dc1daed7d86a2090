// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import io.reprise.fairness.FlowGate;
import io.reprise.fairness.FlowLimit;
import io.reprise.fairness.GroupRules;
import io.reprise.mongodb.docs.Change;
import io.reprise.mongodb.docs.FieldNames;
import io.reprise.mongodb.docs.MongoScope;
import io.reprise.store.Turns;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.bson.Document;

/**
 * The limits of the groups of a queue. Running jobs are counted, so nothing leaks when a worker dies. The times of rates
 * are documents of their own; only the claim that has the queue's turn writes them.
 */
final class MongoFlow implements Turns.Limits<Document, RuntimeException> {

    private static final String NEXT = "next_us";

    private final MongoScope scope;
    private final String queue;
    private final GroupRules rules;
    private final long now;

    MongoFlow(MongoScope scope, String queue, GroupRules rules, long now) {
        this.scope = scope;
        this.queue = queue;
        this.rules = rules;
        this.now = now;
    }

    @Override
    public FlowGate gate(Collection<String> groups) {
        Map<String, Integer> running = new HashMap<>();
        for (String group : groups) {
            if (!group.isEmpty() && rules.limitOf(group).running() != null) {
                running.put(group, running(group));
            }
        }
        Map<String, Long> rates = new HashMap<>();
        for (String key : FlowGate.keys(rules, groups)) {
            Document rate = scope.docs(MongoScope.RATES).first(new Document(FieldNames.ID, id(key)));
            if (rate != null) {
                rates.put(key, FieldNames.numberOr(rate, NEXT, 0));
            }
        }
        return new FlowGate(rules, now, running, rates);
    }

    private int running(String group) {
        return (int) scope.jobs().count(MongoQueues.running(queue).append(FieldNames.GROUP, group));
    }

    @Override
    public Map<Document, String> groups(List<Document> jobs) {
        Map<Document, String> groups = new HashMap<>();
        for (Document job : jobs) {
            String group = FieldNames.text(job, FieldNames.GROUP);
            if (group != null) {
                groups.put(job, group);
            }
        }
        return groups;
    }

    /** Returns those of these jobs that may start, and notes their starts before they are taken. */
    List<Document> admit(List<Document> jobs) {
        Map<Document, String> groups = groups(jobs);
        FlowGate gate = gate(groups.values().stream().distinct().toList());
        List<Document> admitted =
                jobs.stream().filter(job -> gate.admits(groups.get(job))).toList();
        gate.changed()
                .forEach((key, next) -> scope.docs(MongoScope.RATES)
                        .upsert(
                                new Document(FieldNames.ID, id(key)),
                                Change.none().raise(NEXT, next)));
        return admitted;
    }

    /** Returns whether more jobs of a group run than may. */
    boolean isExceeded(Collection<String> groups) {
        return groups.stream().distinct().anyMatch(group -> {
            FlowLimit limit = rules.limitOf(group);
            return limit.running() != null && running(group) > Objects.requireNonNull(limit.running());
        });
    }

    /** Deletes times that have passed: they limit nothing. */
    static void forget(MongoScope scope, long now) {
        scope.docs(MongoScope.RATES).deleteAll(new Document(NEXT, new Document("$lt", now)));
    }

    /** No name contains a line break. */
    private String id(String key) {
        return queue + "\n" + key;
    }
}
