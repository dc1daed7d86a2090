// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import io.reprise.JobId;
import io.reprise.JobSpec;
import io.reprise.store.Inserted;
import io.reprise.store.Note;
import io.reprise.store.StoredSchedule;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/** Schedules by name. */
final class Schedules {

    private static final String RULE = "rule";
    private static final String JOB = "job";
    private static final String PAUSED = "paused";
    private static final String NEXT = "next_us";
    private static final String LAST_JOB = "last_job";

    private final Mongo mongo;
    private final Inserts inserts;
    private final SpecDocs specs;

    Schedules(Mongo mongo, Inserts inserts, SpecDocs specs) {
        this.mongo = mongo;
        this.inserts = inserts;
        this.specs = specs;
    }

    private static Document byName(String name) {
        return new Document(Fields.ID, name);
    }

    List<StoredSchedule> all() {
        return mongo.run("list schedules", scope -> {
            List<StoredSchedule> schedules = new ArrayList<>();
            scope.docs(Scope.SCHEDULES)
                    .find(new Document())
                    .sort(new Document(Fields.ID, 1))
                    .forEach(row -> schedules.add(read(row)));
            return schedules;
        });
    }

    private StoredSchedule read(Document row) {
        Long last = Fields.number(row, LAST_JOB);
        return new StoredSchedule(
                row.getString(Fields.ID),
                Objects.requireNonNullElse(Fields.text(row, RULE), ""),
                specs.read(Objects.requireNonNullElse(row.get(JOB, Document.class), new Document()))
                        .spec(),
                Fields.flag(row, PAUSED),
                Micros.instant(Fields.numberOr(row, NEXT, 0)),
                last == null ? null : new JobId(last));
    }

    /** Two updates, the second only for a rule that is new: each is harmless to repeat. */
    void put(String name, String rule, JobSpec job, Instant nextAt) {
        Document spec = SpecDocs.write(job);
        spec.values().removeIf(Objects::isNull);
        mongo.run("put a schedule", scope -> {
            Docs schedules = scope.docs(Scope.SCHEDULES);
            if (!schedules.update(byName(name).append(RULE, rule), Change.none().set(JOB, spec))) {
                Document row = schedules.first(byName(name));
                schedules.upsert(
                        byName(name),
                        Change.none()
                                .set(RULE, rule)
                                .set(JOB, spec)
                                .set(NEXT, Micros.of(nextAt))
                                .set(PAUSED, row != null && Fields.flag(row, PAUSED)));
            }
            return true;
        });
    }

    boolean remove(String name) {
        return mongo.run(
                "remove a schedule", scope -> scope.docs(Scope.SCHEDULES).delete(byName(name)));
    }

    boolean pause(String name, boolean paused, Note note) {
        return mongo.atomically("pause a schedule", scope -> {
            boolean found = scope.docs(Scope.SCHEDULES)
                    .update(byName(name), Change.none().set(PAUSED, paused));
            if (found) {
                String action = paused ? "pause-schedule" : "resume-schedule";
                Audit.subject(scope, scope.now(), action, name, note, null);
            }
            return found;
        });
    }

    Optional<List<Inserted>> fire(String name, Instant dueAt, Instant nextAt, List<JobSpec> jobs) {
        return Optional.ofNullable(Inserts.untilNotOvertaken(
                () -> mongo.atomically("fire a schedule", scope -> fire(scope, name, dueAt, nextAt, jobs))));
    }

    /** Without a transaction the schedule moves first, so that nothing is enqueued twice, and back if it was refused. */
    private @Nullable List<Inserted> fire(Scope scope, String name, Instant dueAt, Instant nextAt, List<JobSpec> jobs) {
        Docs schedules = scope.docs(Scope.SCHEDULES);
        Document due = byName(name).append(PAUSED, false).append(NEXT, Micros.of(dueAt));
        if (!schedules.update(due, Change.none().set(NEXT, Micros.of(nextAt)))) {
            return null;
        }
        List<Inserted> inserted;
        try {
            inserted = jobs.isEmpty() ? List.of() : inserts.insert(scope, jobs);
        } catch (RuntimeException e) {
            if (!scope.isTransaction()) {
                schedules.update(
                        byName(name).append(NEXT, Micros.of(nextAt)),
                        Change.none().set(NEXT, Micros.of(dueAt)));
            }
            throw e;
        }
        if (!inserted.isEmpty()) {
            long last = inserted.get(inserted.size() - 1).id().value();
            schedules.update(byName(name), Change.none().set(LAST_JOB, last));
        }
        return inserted;
    }
}
