// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import io.reprise.job.AuditNote;
import io.reprise.job.Enqueued;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.StoredSchedule;
import io.reprise.mongodb.docs.Change;
import io.reprise.mongodb.docs.Docs;
import io.reprise.mongodb.docs.FieldNames;
import io.reprise.mongodb.docs.Mongo;
import io.reprise.mongodb.docs.MongoAudit;
import io.reprise.mongodb.docs.MongoScope;
import io.reprise.mongodb.docs.MongoTime;
import io.reprise.mongodb.docs.SpecDocs;
import io.reprise.store.Firing;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import org.bson.Document;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads, writes and fires schedules in the collection {@code schedules}. */
final class MongoSchedules {

    private static final Logger log = LoggerFactory.getLogger(MongoSchedules.class);
    private static final String RULE = "rule";
    private static final String JOB = "job";
    private static final String PAUSED = "paused";
    private static final String NEXT = "next_us";
    private static final String LAST_JOB = "last_job";

    private final Mongo mongo;
    private final MongoInserts inserts;
    private final SpecDocs specs;

    MongoSchedules(Mongo mongo, MongoInserts inserts, SpecDocs specs) {
        this.mongo = mongo;
        this.inserts = inserts;
        this.specs = specs;
    }

    private static Document byName(String name) {
        return new Document(FieldNames.ID, name);
    }

    List<StoredSchedule> all() {
        return mongo.run("list schedules", scope -> {
            List<StoredSchedule> schedules = new ArrayList<>();
            scope.docs(MongoScope.SCHEDULES)
                    .find(new Document())
                    .sort(new Document(FieldNames.ID, 1))
                    .forEach(row -> schedules.add(read(row)));
            return schedules;
        });
    }

    private StoredSchedule read(Document row) {
        Long last = FieldNames.number(row, LAST_JOB);
        String name = row.getString(FieldNames.ID);
        boolean paused = FieldNames.flag(row, PAUSED);
        SpecDocs.Read job = specs.read(Objects.requireNonNullElse(row.get(JOB, Document.class), new Document()));
        if (job.damage() != null && !paused) {
            log.error("Schedule {} does not fire, because its job is damaged: {}", name, job.damage());
        }
        return new StoredSchedule(
                name,
                Objects.requireNonNullElse(FieldNames.text(row, RULE), ""),
                job.spec(),
                // A damaged schedule is shown, so that a person can repair it, but it does not fire.
                paused || job.damage() != null,
                MongoTime.instant(FieldNames.numberOr(row, NEXT, 0)),
                last == null ? null : new JobId(last));
    }

    /** Stores a schedule in up to two updates; the second is only for a new rule. Both may be repeated. */
    void put(String name, String rule, JobSpec job, Instant nextAt, @Nullable AuditNote note) {
        Document spec = SpecDocs.write(job);
        spec.values().removeIf(Objects::isNull);
        Function<MongoScope, Boolean> put = scope -> {
            Docs schedules = scope.docs(MongoScope.SCHEDULES);
            if (!schedules.update(byName(name).append(RULE, rule), Change.none().set(JOB, spec))) {
                Document row = schedules.first(byName(name));
                schedules.upsert(
                        byName(name),
                        Change.none()
                                .set(RULE, rule)
                                .set(JOB, spec)
                                .set(NEXT, MongoTime.of(nextAt))
                                .set(PAUSED, row != null && FieldNames.flag(row, PAUSED)));
            }
            if (note != null) {
                MongoAudit.subject(scope, scope.now(), "put-schedule", name, note, note.detail());
            }
            return true;
        };
        boolean unused = note == null ? mongo.run("put a schedule", put) : mongo.atomically("put a schedule", put);
    }

    boolean remove(String name, @Nullable AuditNote note) {
        return mongo.atomically("remove a schedule", scope -> {
            boolean found = scope.docs(MongoScope.SCHEDULES).delete(byName(name));
            if (found && note != null) {
                MongoAudit.subject(scope, scope.now(), "delete-schedule", name, note, note.detail());
            }
            return found;
        });
    }

    boolean pause(String name, boolean paused, AuditNote note) {
        return mongo.atomically("pause a schedule", scope -> {
            boolean found = scope.docs(MongoScope.SCHEDULES)
                    .update(byName(name), Change.none().set(PAUSED, paused));
            if (found) {
                String action = paused ? "pause-schedule" : "resume-schedule";
                MongoAudit.subject(scope, scope.now(), action, name, note, null);
            }
            return found;
        });
    }

    Optional<StoredSchedule> find(String name) {
        return mongo.run("read a schedule", scope -> {
            Document row = scope.docs(MongoScope.SCHEDULES).first(byName(name));
            return row == null ? Optional.empty() : Optional.of(read(row));
        });
    }

    List<StoredSchedule> due(int limit, @Nullable StoredSchedule after) {
        return mongo.run("read due schedules", scope -> {
            Document due = new Document(PAUSED, false).append(NEXT, FieldNames.upTo(scope.now()));
            if (after != null) {
                long from = MongoTime.of(after.nextAt());
                due.append(
                        "$or",
                        List.of(
                                new Document(NEXT, new Document("$gt", from)),
                                new Document(NEXT, from).append(FieldNames.ID, new Document("$gt", after.name()))));
            }
            List<StoredSchedule> schedules = new ArrayList<>();
            scope.docs(MongoScope.SCHEDULES)
                    .find(due)
                    .sort(new Document(NEXT, 1).append(FieldNames.ID, 1))
                    .limit(limit)
                    .forEach(row -> schedules.add(read(row)));
            return schedules;
        });
    }

    Optional<Instant> nextFiring() {
        return mongo.run("look for the next firing", scope -> {
            Document row = scope.docs(MongoScope.SCHEDULES)
                    .find(new Document(PAUSED, false).append(NEXT, new Document("$gt", scope.now())))
                    .sort(new Document(NEXT, 1))
                    .limit(1)
                    .first();
            return row == null
                    ? Optional.<Instant>empty()
                    : Optional.of(MongoTime.instant(FieldNames.numberOr(row, NEXT, 0)));
        });
    }

    /**
     * Enqueues the job of a schedule with its audit entry. Without transactions a crash between the two leaves a job
     * without an entry.
     */
    Enqueued trigger(String name, JobSpec job, AuditNote note) {
        return MongoInserts.untilNotOvertaken(() -> mongo.atomically("trigger a schedule", scope -> {
            Enqueued made = inserts.insert(scope, List.of(job)).get(0);
            MongoAudit.subject(scope, scope.now(), "trigger-schedule", name, note, "as job " + made.id());
            return made;
        }));
    }

    List<Optional<List<Enqueued>>> fireAll(List<Firing> firings) {
        return MongoInserts.untilNotOvertaken(() -> mongo.atomically("fire schedules", scope -> fire(scope, firings)));
    }

    /**
     * Fires schedules. Without a transaction the schedules move first, so that nothing is enqueued twice. They move
     * back if the insert is refused.
     */
    private List<Optional<List<Enqueued>>> fire(MongoScope scope, List<Firing> firings) {
        Docs schedules = scope.docs(MongoScope.SCHEDULES);
        List<Firing> moved = new ArrayList<>();
        for (Firing firing : firings) {
            Document due = byName(firing.schedule()).append(PAUSED, false).append(NEXT, MongoTime.of(firing.dueAt()));
            if (schedules.update(due, Change.none().set(NEXT, MongoTime.of(firing.nextAt())))) {
                moved.add(firing);
            }
        }
        List<JobSpec> jobs =
                moved.stream().flatMap(firing -> firing.jobs().stream()).toList();
        Iterator<Enqueued> inserted;
        try {
            inserted = (jobs.isEmpty() ? List.<Enqueued>of() : inserts.insert(scope, jobs)).iterator();
        } catch (RuntimeException e) {
            if (!scope.isTransaction()) {
                moved.forEach(firing -> schedules.update(
                        byName(firing.schedule()).append(NEXT, MongoTime.of(firing.nextAt())),
                        Change.none().set(NEXT, MongoTime.of(firing.dueAt()))));
            }
            throw e;
        }
        List<Optional<List<Enqueued>>> answers = new ArrayList<>();
        for (Firing firing : firings) {
            if (!moved.contains(firing)) {
                answers.add(Optional.empty());
                continue;
            }
            List<Enqueued> own =
                    firing.jobs().stream().map(job -> inserted.next()).toList();
            if (!own.isEmpty()) {
                long last = own.get(own.size() - 1).id().value();
                schedules.update(byName(firing.schedule()), Change.none().set(LAST_JOB, last));
            }
            answers.add(Optional.of(own));
        }
        return answers;
    }
}
