// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import com.mongodb.client.FindIterable;
import io.reprise.Attempt;
import io.reprise.Job;
import io.reprise.JobId;
import io.reprise.JobState;
import io.reprise.store.DueQueues;
import io.reprise.store.JobQuery;
import io.reprise.store.Page;
import io.reprise.store.Standing;
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
final class Queries {

    private static final String CURSOR = "before-";
    private static final Document NEWEST_FIRST = new Document(Fields.ID, -1);
    private static final Set<JobState> LIVE = Set.of(JobState.PENDING, JobState.RUNNING);
    private static final Document ANY_LIVE = new Document(Fields.LIVE_QUEUE, new Document("$gte", ""));

    private final Mongo mongo;
    private final JobDocs jobDocs;
    private final int keepAttempts;

    Queries(Mongo mongo, JobDocs jobDocs, int keepAttempts) {
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

    private static @Nullable Document document(Scope scope, JobId id) {
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
    static List<Docs> places(Scope scope, JobQuery query) {
        return scope.hasDead() && mayBeDead(query) ? List.of(scope.jobs(), scope.dead()) : List.of(scope.jobs());
    }

    /** Limits the filter to ids from this one up. */
    static Document from(Document filter, long floor) {
        return floor == 0
                ? filter
                : new Document("$and", List.of(filter, new Document(Fields.ID, new Document("$gte", floor))));
    }

    /**
     * Returns the id down to which a page reads. Below it some collection has more jobs than {@link JobQuery#looks}
     * allows. Returns 0 if the page may read all jobs.
     */
    static long floor(Scope scope, JobQuery query, List<Docs> places) {
        Document looked = looked(query);
        if (isLive(query) && scope.jobs().count(ANY_LIVE, query.looks() + 1) <= query.looks()) {
            return 0;
        }
        long floor = 0;
        for (Docs place : places) {
            Document last = place.find(looked)
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
    private static Document looked(JobQuery query) {
        Document looked = new Document();
        append(looked, Fields.ID, before(query.cursor()));
        append(looked, Fields.ERROR + ".fingerprint", query.fingerprint());
        if (query.states().equals(Set.of(JobState.FAILED))) {
            looked.append(Fields.STATUS, Fields.FAILED);
            append(looked, Fields.QUEUE, query.fingerprint() == null ? query.queue() : null);
        }
        return looked;
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
        append(filter, Fields.ID, before(query.cursor()));
        if (isLive(query)) {
            filter.putAll(ANY_LIVE);
        }
        if (!query.states().isEmpty()) {
            filter.append(
                    Fields.STATUS,
                    Fields.in(query.states().stream().map(Fields::status).toList()));
        }
        Document queue = new Document();
        append(queue, "$eq", query.queue());
        String prefix = query.queuePrefix();
        if (prefix != null) {
            queue.append("$gte", prefix).append("$lt", prefix + DueQueues.END);
        }
        if (!queue.isEmpty()) {
            filter.append(Fields.QUEUE, queue);
        }
        append(filter, Fields.TYPE, query.type());
        append(filter, "resource", query.resource());
        append(filter, "tags", query.tag());
        append(filter, "schedule", query.schedule());
        append(filter, Fields.ERROR + ".fingerprint", query.fingerprint());
        Document created = new Document();
        append(created, "$gte", Micros.ofNullable(query.createdFrom()));
        append(created, "$lt", Micros.ofNullable(query.createdBefore()));
        if (!created.isEmpty()) {
            filter.append(Fields.CREATED, created);
        }
        return filter;
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
            Document when = new Document(Fields.HISTORY + ".ending", 1).append(Fields.HISTORY + ".ended_us", 1);
            for (Document job : DeadLetters.findAll(scope, ids, when)) {
                failures.put(
                        new JobId(JobDocs.idOf(job)),
                        job.getList(Fields.HISTORY, Document.class, List.of()).stream()
                                .filter(attempt -> Attempt.Ending.FAILED.name().equals(attempt.get("ending")))
                                .map(attempt -> Micros.instant(Fields.numberOr(attempt, "ended_us", 0)))
                                .toList());
            }
            return failures;
        });
    }

    Optional<Standing> standing(JobId id, int most) {
        return mongo.list("say how a job stands", scope -> {
            Document job = document(scope, id);
            return job == null ? Optional.empty() : Optional.of(standing(scope, job, most));
        });
    }

    private Standing standing(Scope scope, Document job, int most) {
        long now = scope.now();
        String name = Objects.requireNonNullElse(Fields.text(job, Fields.QUEUE), "");
        Document queue = Objects.requireNonNullElse(
                scope.docs(Scope.QUEUES).first(new Document(Fields.ID, name)), new Document());
        JobState state = JobDocs.stateOf(job);
        boolean pending = state == JobState.PENDING;
        String parkedBy = pending ? Fields.text(job, Fields.PARKED_BY) : null;
        long due = Fields.numberOr(job, Fields.DUE, 0);
        boolean waits = pending && parkedBy == null && due <= now;
        return new Standing(
                jobDocs.read(job),
                Micros.instant(now),
                state == JobState.RUNNING ? Micros.instant(Fields.numberOr(job, Fields.UNTIL, now)) : null,
                parkedBy,
                Queues.pause(queue),
                Queues.maxRunning(queue),
                (int) scope.jobs().count(Queues.running(name)),
                waits ? (int) scope.jobs().count(higher(job, now), most) : 0,
                waits ? earlier(scope, job, due, most) : 0);
    }

    private static Document peers(Document job, long now) {
        return Claims.ready(job.getString(Fields.QUEUE), now).append(Fields.LANE, job.get(Fields.LANE));
    }

    private static Document higher(Document job, long now) {
        return peers(job, now).append(Fields.PRIORITY, Fields.after(Fields.integer(job, Fields.PRIORITY)));
    }

    private static int earlier(Scope scope, Document job, long due, int most) {
        Document level = peers(job, due).append(Fields.PRIORITY, job.get(Fields.PRIORITY));
        Document before = new Document(level).append(Fields.DUE, new Document("$lt", due));
        Document beside =
                new Document(level).append(Fields.DUE, due).append(Fields.ID, new Document("$lt", JobDocs.idOf(job)));
        return (int)
                Math.min(most, scope.jobs().count(before, most) + scope.jobs().count(beside, most));
    }
}
