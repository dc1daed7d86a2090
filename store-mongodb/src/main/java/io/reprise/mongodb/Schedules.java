// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import io.reprise.JobId;
import io.reprise.JobSpec;
import io.reprise.store.Firing;
import io.reprise.store.Inserted;
import io.reprise.store.Note;
import io.reprise.store.StoredSchedule;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.bson.Document;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads, writes and fires schedules in the collection {@code schedules}. */
final class Schedules {

    private static final Logger log = LoggerFactory.getLogger(Schedules.class);
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
        String name = row.getString(Fields.ID);
        boolean paused = Fields.flag(row, PAUSED);
        SpecDocs.Read job = specs.read(Objects.requireNonNullElse(row.get(JOB, Document.class), new Document()));
        if (job.damage() != null && !paused) {
            log.error("Schedule {} does not fire, because its job is damaged: {}", name, job.damage());
        }
        return new StoredSchedule(
                name,
                Objects.requireNonNullElse(Fields.text(row, RULE), ""),
                job.spec(),
                // A damaged schedule is shown, so that a person can repair it, but it does not fire.
                paused || job.damage() != null,
                Micros.instant(Fields.numberOr(row, NEXT, 0)),
                last == null ? null : new JobId(last));
    }

    /** Stores a schedule in up to two updates; the second is only for a new rule. Both may be repeated. */
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

    Optional<StoredSchedule> find(String name) {
        return mongo.run("read a schedule", scope -> {
            Document row = scope.docs(Scope.SCHEDULES).first(byName(name));
            return row == null ? Optional.empty() : Optional.of(read(row));
        });
    }

    List<StoredSchedule> due(int limit, @Nullable StoredSchedule after) {
        return mongo.run("read due schedules", scope -> {
            Document due = new Document(PAUSED, false).append(NEXT, Fields.upTo(scope.now()));
            if (after != null) {
                long from = Micros.of(after.nextAt());
                due.append(
                        "$or",
                        List.of(
                                new Document(NEXT, new Document("$gt", from)),
                                new Document(NEXT, from).append(Fields.ID, new Document("$gt", after.name()))));
            }
            List<StoredSchedule> schedules = new ArrayList<>();
            scope.docs(Scope.SCHEDULES)
                    .find(due)
                    .sort(new Document(NEXT, 1).append(Fields.ID, 1))
                    .limit(limit)
                    .forEach(row -> schedules.add(read(row)));
            return schedules;
        });
    }

    Optional<Instant> nextFiring() {
        return mongo.run("look for the next firing", scope -> {
            Document row = scope.docs(Scope.SCHEDULES)
                    .find(new Document(PAUSED, false).append(NEXT, new Document("$gt", scope.now())))
                    .sort(new Document(NEXT, 1))
                    .limit(1)
                    .first();
            return row == null ? Optional.<Instant>empty() : Optional.of(Micros.instant(Fields.numberOr(row, NEXT, 0)));
        });
    }

    List<Optional<List<Inserted>>> fireAll(List<Firing> firings) {
        return Inserts.untilNotOvertaken(() -> mongo.atomically("fire schedules", scope -> fire(scope, firings)));
    }

    /**
     * Fires schedules. Without a transaction the schedules move first, so that nothing is enqueued twice. They move
     * back if the insert is refused.
     */
    private List<Optional<List<Inserted>>> fire(Scope scope, List<Firing> firings) {
        Docs schedules = scope.docs(Scope.SCHEDULES);
        List<Firing> moved = new ArrayList<>();
        for (Firing firing : firings) {
            Document due = byName(firing.schedule()).append(PAUSED, false).append(NEXT, Micros.of(firing.dueAt()));
            if (schedules.update(due, Change.none().set(NEXT, Micros.of(firing.nextAt())))) {
                moved.add(firing);
            }
        }
        List<JobSpec> jobs =
                moved.stream().flatMap(firing -> firing.jobs().stream()).toList();
        Iterator<Inserted> inserted;
        try {
            inserted = (jobs.isEmpty() ? List.<Inserted>of() : inserts.insert(scope, jobs)).iterator();
        } catch (RuntimeException e) {
            if (!scope.isTransaction()) {
                moved.forEach(firing -> schedules.update(
                        byName(firing.schedule()).append(NEXT, Micros.of(firing.nextAt())),
                        Change.none().set(NEXT, Micros.of(firing.dueAt()))));
            }
            throw e;
        }
        List<Optional<List<Inserted>>> answers = new ArrayList<>();
        for (Firing firing : firings) {
            if (!moved.contains(firing)) {
                answers.add(Optional.empty());
                continue;
            }
            List<Inserted> own =
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
