// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import com.mongodb.client.FindIterable;
import io.reprise.batch.Membership;
import io.reprise.insight.QueuePosition;
import io.reprise.job.Attempt;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSpec.Needs;
import io.reprise.job.JobState;
import io.reprise.job.Page;
import io.reprise.mongodb.docs.AttemptDocs;
import io.reprise.mongodb.docs.Docs;
import io.reprise.mongodb.docs.FieldNames;
import io.reprise.mongodb.docs.JobDocs;
import io.reprise.mongodb.docs.Mongo;
import io.reprise.mongodb.docs.MongoScope;
import io.reprise.mongodb.docs.MongoTime;
import io.reprise.mongodb.docs.SpecDocs;
import io.reprise.store.DueQueues;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/** Finds jobs, and where they stand in their queues. */
final class MongoQueries {

    private static final String CURSOR = "before-";
    private static final Document NEWEST_FIRST = new Document(FieldNames.ID, -1);
    private static final Set<JobState> LIVE = Set.of(JobState.PENDING, JobState.RUNNING);
    private static final Document ANY_LIVE = new Document(FieldNames.LIVE_QUEUE, new Document("$gte", ""));

    private final Mongo mongo;
    private final JobDocs jobDocs;
    private final int keepAttempts;

    MongoQueries(Mongo mongo, JobDocs jobDocs, int keepAttempts) {
        this.mongo = mongo;
        this.jobDocs = jobDocs;
        this.keepAttempts = keepAttempts;
    }

    static List<Long> ids(FindIterable<Document> found) {
        List<Long> ids = new ArrayList<>();
        found.projection(JobDocs.ID_ONLY).forEach(job -> ids.add(JobDocs.idOf(job)));
        return ids;
    }

    Optional<Job> find(JobId id) {
        return mongo.run(
                "find a job", scope -> Optional.ofNullable(document(scope, id)).map(jobDocs::read));
    }

    private static @Nullable Document document(MongoScope scope, JobId id) {
        return DeadLetters.find(scope, id, JobDocs.WITHOUT_HISTORY);
    }

    Page<Job> find(JobQuery query) {
        Document filter = filter(query);
        int most = query.limit() + 1;
        return mongo.list("find jobs", scope -> {
            List<Docs> places = places(scope, query);
            long floor = floor(scope, query, places);
            Document bounded = from(filter, floor);
            List<Document> found = newest(scope.jobs(), bounded, most, query.isBrief());
            long complete = found.size() < most ? floor : JobDocs.idOf(found.get(most - 1));
            if (places.size() > 1) {
                List<Document> letters = newest(scope.dead(), bounded, most, query.isBrief());
                complete = Math.max(complete, letters.size() < most ? 0 : JobDocs.idOf(letters.get(most - 1)));
                found.addAll(DeadLetters.counted(scope, letters));
                found.sort(Comparator.comparingLong(JobDocs::idOf).reversed());
            }
            return page(found, complete, query.limit());
        });
    }

    /** Returns the collections that can hold such jobs. */
    static List<Docs> places(MongoScope scope, JobQuery query) {
        return scope.hasDead() && mayBeDead(query) ? List.of(scope.jobs(), scope.dead()) : List.of(scope.jobs());
    }

    /** Limits the filter to ids from this one up. */
    static Document from(Document filter, long floor) {
        return floor == 0
                ? filter
                : new Document("$and", List.of(filter, new Document(FieldNames.ID, new Document("$gte", floor))));
    }

    /**
     * Returns the id down to which a page reads. Below it some collection has more jobs than {@link JobQuery#looks}
     * allows. Returns 0 if the page may read all jobs.
     */
    static long floor(MongoScope scope, JobQuery query, List<Docs> places) {
        Document scanned = scanned(query);
        if (isLive(query) && scope.jobs().count(ANY_LIVE, query.looks() + 1) <= query.looks()) {
            return 0;
        }
        long floor = 0;
        for (Docs place : places) {
            Document last = place.find(scanned)
                    .projection(JobDocs.ID_ONLY)
                    .sort(NEWEST_FIRST)
                    .skip(query.looks() / places.size() - 1)
                    .limit(1)
                    .first();
            floor = last == null ? floor : Math.max(floor, JobDocs.idOf(last));
        }
        return floor;
    }

    /** Returns the filter for the documents to read: all that an index cannot tell from matching ones. */
    private static Document scanned(JobQuery query) {
        Document scanned = new Document();
        append(scanned, FieldNames.ID, before(query.cursor()));
        append(scanned, FieldNames.ERROR + ".fingerprint", query.fingerprint());
        if (query.states().equals(Set.of(JobState.FAILED))) {
            scanned.append(FieldNames.STATUS, FieldNames.FAILED);
            append(scanned, FieldNames.QUEUE, query.fingerprint() == null ? query.queue() : null);
        }
        return scanned;
    }

    private static boolean isLive(JobQuery query) {
        return !query.states().isEmpty() && LIVE.containsAll(query.states());
    }

    private static @Nullable Document before(@Nullable String cursor) {
        return cursor == null ? null : new Document("$lt", position(cursor).value());
    }

    private static boolean mayBeDead(JobQuery query) {
        return query.states().isEmpty() || query.states().contains(JobState.FAILED);
    }

    private static List<Document> newest(Docs docs, Document filter, int most, boolean brief) {
        List<Document> found = docs.find(filter)
                .projection(brief ? JobDocs.BRIEF : JobDocs.WITHOUT_HISTORY)
                .sort(NEWEST_FIRST)
                .limit(most)
                .into(new ArrayList<>());
        if (brief) {
            found.forEach(SpecDocs::withoutPayload);
        }
        return found;
    }

    /**
     * Builds a page.
     *
     * @param complete the id down to which {@code found} is complete; 0 if nothing is missing
     */
    private Page<Job> page(List<Document> found, long complete, int limit) {
        List<Job> jobs = jobDocs.read(
                found.stream().filter(job -> JobDocs.idOf(job) >= complete).toList());
        if (jobs.size() > limit) {
            List<Job> page = jobs.subList(0, limit);
            return new Page<>(page, CURSOR + page.get(limit - 1).id());
        }
        return new Page<>(jobs, cursor(complete));
    }

    static Document filter(JobQuery query) {
        Document filter = new Document();
        append(filter, FieldNames.ID, before(query.cursor()));
        if (isLive(query)) {
            filter.putAll(ANY_LIVE);
        }
        if (!query.states().isEmpty()) {
            filter.append(
                    FieldNames.STATUS,
                    FieldNames.in(
                            query.states().stream().map(FieldNames::status).toList()));
        }
        Document queue = new Document();
        append(queue, "$eq", query.queue());
        String prefix = query.queuePrefix();
        if (prefix != null) {
            queue.append("$gte", prefix).append("$lt", prefix + DueQueues.END);
        }
        if (!queue.isEmpty()) {
            filter.append(FieldNames.QUEUE, queue);
        }
        append(filter, FieldNames.TYPE, query.type());
        append(filter, "resource", query.resource());
        append(filter, "tags", query.tag());
        append(filter, "schedule", query.schedule());
        append(filter, FieldNames.BATCH, query.batch() == null ? null : members(query.batch()));
        append(filter, FieldNames.ERROR + ".fingerprint", query.fingerprint());
        Document created = new Document();
        append(created, "$gte", MongoTime.ofNullable(query.createdFrom()));
        append(created, "$lt", MongoTime.ofNullable(query.createdBefore()));
        if (!created.isEmpty()) {
            filter.append(FieldNames.CREATED, created);
        }
        return filter;
    }

    /** Returns the condition for the members of a batch; children of a join have their places behind its name. */
    private static Object members(String batch) {
        String beginning = batch + "#";
        return Membership.isJoin(batch) ? new Document("$gte", beginning).append("$lt", batch + "$") : batch;
    }

    private static void append(Document filter, String field, @Nullable Object value) {
        if (value != null) {
            filter.append(field, value);
        }
    }

    /** Returns a cursor for the jobs below this id; null if there are none. */
    static @Nullable String cursor(long floor) {
        return floor == 0 ? null : CURSOR + floor;
    }

    private static JobId position(String cursor) {
        if (!cursor.startsWith(CURSOR)) {
            throw new IllegalArgumentException("A cursor of this store begins with " + CURSOR + ": pass Page.next()");
        }
        return JobId.parse(cursor.substring(CURSOR.length()));
    }

    List<Attempt> attempts(JobId id) {
        return mongo.run("read history", scope -> {
            Document job = DeadLetters.find(scope, id, new Document());
            return job == null ? List.of() : AttemptDocs.read(job, keepAttempts);
        });
    }

    Map<JobId, List<Instant>> failures(Collection<JobId> jobs) {
        if (jobs.isEmpty()) {
            return Map.of();
        }
        return mongo.look("read failures", scope -> {
            Map<JobId, List<Instant>> failures = new HashMap<>();
            List<Long> ids = jobs.stream().map(JobId::value).toList();
            Document when = new Document(FieldNames.HISTORY + ".ending", 1).append(FieldNames.HISTORY + ".ended_us", 1);
            for (Document job : DeadLetters.findAll(scope, ids, when)) {
                failures.put(
                        new JobId(JobDocs.idOf(job)),
                        job.getList(FieldNames.HISTORY, Document.class, List.of()).stream()
                                .filter(attempt -> Attempt.Ending.FAILED.name().equals(attempt.get("ending")))
                                .map(attempt -> MongoTime.instant(FieldNames.numberOr(attempt, "ended_us", 0)))
                                .toList());
            }
            return failures;
        });
    }

    Optional<QueuePosition> queuePosition(JobId id, int most) {
        return mongo.list("say how a job stands", scope -> {
            Document job = document(scope, id);
            return job == null ? Optional.empty() : Optional.of(queuePosition(scope, job, most));
        });
    }

    private QueuePosition queuePosition(MongoScope scope, Document job, int most) {
        long now = scope.now();
        String name = Objects.requireNonNullElse(FieldNames.text(job, FieldNames.QUEUE), "");
        Document queue = settings(scope, name);
        String base = Needs.base(name);
        Document named = base.equals(name) ? queue : settings(scope, base);
        MongoQueues.Room room = MongoQueues.room(scope, name, queue, named);
        JobState state = JobDocs.stateOf(job);
        boolean pending = state == JobState.PENDING;
        String parkedBy = pending ? FieldNames.text(job, FieldNames.PARKED_BY) : null;
        long due = FieldNames.numberOr(job, FieldNames.DUE, 0);
        boolean waits = pending && parkedBy == null && due <= now;
        return new QueuePosition(
                jobDocs.read(job),
                MongoTime.instant(now),
                state == JobState.RUNNING ? MongoTime.instant(FieldNames.numberOr(job, FieldNames.UNTIL, now)) : null,
                parkedBy,
                MongoQueues.pause(queue, named),
                room.limit(),
                room.limit() == null ? MongoQueues.running(scope, name) : room.running(),
                waits ? (int) scope.jobs().count(higher(job, now), most) : 0,
                waits ? earlier(scope, job, due, most) : 0);
    }

    private static Document settings(MongoScope scope, String queue) {
        return Objects.requireNonNullElse(
                scope.docs(MongoScope.QUEUES).first(new Document(FieldNames.ID, queue)), new Document());
    }

    private static Document peers(Document job, long now) {
        return MongoClaims.ready(job.getString(FieldNames.QUEUE), now)
                .append(FieldNames.LANE, job.get(FieldNames.LANE));
    }

    private static Document higher(Document job, long now) {
        return peers(job, now)
                .append(FieldNames.PRIORITY, FieldNames.after(FieldNames.integer(job, FieldNames.PRIORITY)));
    }

    private static int earlier(MongoScope scope, Document job, long due, int most) {
        Document level = peers(job, due)
                .append(FieldNames.PRIORITY, job.get(FieldNames.PRIORITY))
                .append(FieldNames.TURN, job.get(FieldNames.TURN));
        Document before = new Document(level).append(FieldNames.DUE, new Document("$lt", due));
        Document beside = new Document(level)
                .append(FieldNames.DUE, due)
                .append(FieldNames.ID, new Document("$lt", JobDocs.idOf(job)));
        return (int)
                Math.min(most, scope.jobs().count(before, most) + scope.jobs().count(beside, most));
    }
}
